//! The record of a run, from which it can be resumed.
//!
//! | to … | use |
//! |---|---|
//! | keep a run in memory | [`MemoryJournal`] |
//! | keep runs in files or in SQLite | the crate `cogwork-journal` |
//! | keep them in another store | [`Log`], and a [`Recorded`] journal over it |
//! | run flows on a durable engine | [`Journal`] |
//! | bring an outcome that cannot be recorded | [`Unrecorded`] |
//! | read a record | [`Entry`] |

mod clock;
mod codec;
mod entry;
mod entry_error;
mod index;
mod log;
mod progress;
mod recorded;
mod shared;
mod unrecorded;
mod waiting;
mod work;

pub use codec::{OutcomeProblem, OutcomeProblemKind};
pub(crate) use codec::{decode, encode};
pub use entry::{Entry, Json, Snapshot};
pub use entry_error::EntryError;
pub use log::Log;
pub use progress::Progress;
pub use recorded::{MemoryJournal, Recorded};
pub use unrecorded::Unrecorded;
pub use waiting::{Awaited, Waited};
pub(crate) use work::{Attempt, EachItem, StepProblem};
pub use work::{Items, StepError, Work, WorkError};

use std::time::Duration;

use async_trait::async_trait;
use futures_util::{StreamExt, TryStreamExt, stream};

use crate::{BoxError, StepName};

/// The record of one run: the door between a flow and whatever keeps what its nodes brought back.
///
/// A run with a journal asks it for the outcome of every `exec`. What is on record is answered and
/// not done again; what is not is done, recorded, and only then used. Taking up a run is running it
/// again from its start (or from its last [snapshot](Recorded::snapshot)) over the same record:
/// `prep` and `post` run as they did before, and the run goes on where the record ends.
///
/// Most programs need no journal of their own: `cogwork-journal` has one that keeps a file for each
/// run, and one for SQLite; [`MemoryJournal`] keeps a run in memory. For another store of records
/// implement [`Log`], which is less. Implement this trait to run flows on a durable engine, such
/// as Restate: each method is one call of such an engine, with bytes in and out.
///
/// # What an engine may rely on
///
/// - Names of steps are the same in every replay, and unique in a run.
/// - Bytes are one JSON text on one line, or empty.
/// - Where [`in_order`](Journal::in_order) says so, calls come one at a time and in the same order in each
///   replay; after a call that failed or pends there is none.
/// - A run never waits for the first of two calls. A deadline or a token drops the whole run instead.
/// - A call dropped while it waits may be made again, with the same name.
///
/// A journal that knows calls by their position serves one attempt at a run. After an error, a pause
/// or a dropped future, begin a new run with a new journal and the state that the first one began with.
#[async_trait]
pub trait Journal: Send + Sync {
    /// The run's id.
    fn run_id(&self) -> &str;

    /// The outcome of a step: the one on record, or else the one that `work` brings, recorded.
    ///
    /// # Errors
    ///
    /// The error of the work, or one of the journal's own. A journal need not record that work failed:
    /// the next run then tries it again. An engine that does answers with [`StepError::failed`].
    async fn step(&self, step: &StepName, work: Work<'_>) -> Result<Vec<u8>, StepError>;

    /// The outcomes of a step over many items, in the items' order.
    ///
    /// # Default
    ///
    /// One [`step`](Journal::step) for each item, as many at a time as the batch says; one at a
    /// time for a journal that is [in order](Journal::in_order). An engine may instead send each
    /// item to another process, which answers with
    /// [`Flow::exec_item`](crate::Flow::exec_item).
    ///
    /// # Errors
    ///
    /// Of the first item that fails. The others are dropped.
    async fn fan_out(&self, step: &StepName, items: Items<'_>) -> Result<Vec<Vec<u8>>, StepError> {
        let at_most = if self.in_order() { 1 } else { items.at_most() };
        let works = (0..items.len()).filter_map(|index| Some((index, items.work(index)?)));
        let runs = works.map(|(index, work)| async move {
            let outcome = self.step(&step.of_item(index), work).await;
            outcome
                .map(|outcome| (index, outcome))
                .map_err(|error| error.of_item(index))
        });

        let runs = stream::iter(runs.collect::<Vec<_>>());
        let mut outcomes: Vec<_> = runs.buffer_unordered(at_most).try_collect().await?;
        outcomes.sort_unstable_by_key(|(index, _)| *index);

        Ok(outcomes.into_iter().map(|(_, outcome)| outcome).collect())
    }

    /// Waits until `duration` after the first time this was asked, and never longer than `duration`
    /// from now: the clock may have been set back in between.
    ///
    /// # Errors
    ///
    /// When the record cannot be read or written.
    async fn sleep(&self, step: &StepName, duration: Duration) -> Result<(), BoxError>;

    /// Whether an event that a step waits for has come. The answer, and that it never came in time,
    /// are recorded.
    ///
    /// # Errors
    ///
    /// When the record cannot be read or written, or an answer that was delivered is not
    /// [accepted](Awaited::accept); that answer is then gone, and another may be delivered.
    async fn wait(&self, step: &StepName, awaited: Awaited<'_>) -> Result<Waited, BoxError>;

    /// Keeps the answer of an event for the step that waits for it, or will: a JSON text, as
    /// [`Run::deliver`](crate::Run::deliver) makes of a value. While the run is being stepped, a
    /// program that gave it a pointer to the journal calls this.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    async fn deliver(&self, event: &str, answer: Vec<u8>) -> Result<(), BoxError>;

    /// Hears how far the run is. Not part of the record.
    ///
    /// # Default
    ///
    /// Nothing.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    async fn progress(&self, _progress: Progress<'_>) -> Result<(), BoxError> {
        Ok(())
    }

    /// Whether calls must come one at a time and in the same order in each replay. Items and
    /// branches then run one after the other, and batches are the way to do many things at once.
    ///
    /// # Default
    ///
    /// No.
    fn in_order(&self) -> bool {
        false
    }

    /// The last snapshot, if the record begins with one.
    ///
    /// # Default
    ///
    /// None.
    fn snapshot(&self) -> Option<Snapshot> {
        None
    }

    /// Puts a snapshot in place of all that was recorded so far.
    ///
    /// # Default
    ///
    /// An error: this journal keeps no snapshots.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    async fn fold(&self, _snapshot: Snapshot) -> Result<(), BoxError> {
        Err("this journal keeps no snapshots".into())
    }
}
