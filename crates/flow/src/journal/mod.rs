//! The record of a run, from which it can be resumed.
//!
//! | to … | use |
//! |---|---|
//! | keep a run in memory | [`MemoryJournal`] |
//! | keep runs in files or in SQLite | the crate `cogwork-journal` |
//! | keep them in another store | [`Log`], and a [`Recorded`] journal over it |
//! | record calls inside `exec` one by one | [`recorded()`], [`wait_for`] |
//! | run flows on a durable engine | [`Journal`] |
//! | read a record | [`Entry`] |
//!
//! # Calls inside `exec`
//!
//! A journal records the outcome of `exec` as a whole, so a crash in the middle repeats all of
//! `exec`. In a [composite](crate::Node::is_composite) node, [`recorded()`] records each call in it
//! with a name of its own, such as `report/research#3.1/search.2`: the second call with the label
//! `search`, in the first attempt at the third step. A resumed run calls `exec` again, and recorded
//! calls return their outcomes. Once `exec` has returned, its outcome is recorded, too.

mod call_error;
pub(crate) mod calls;
mod clock;
mod codec;
mod digest;
mod entry;
mod entry_error;
mod first_state;
mod index;
mod log;
mod progress;
mod recorded;
mod shared;
mod waiting;
mod work;

pub use call_error::{CallError, CannotWait};
pub use calls::{recorded, scoped_event, wait_for};
pub use codec::{OutcomeProblem, OutcomeProblemKind};
pub(crate) use codec::{decode, encode};
pub use digest::StateDigest;
pub use entry::{Entry, Json, Snapshot};
pub use entry_error::EntryError;
pub use first_state::FirstState;
pub use log::Log;
pub use progress::Progress;
pub use recorded::{MemoryJournal, Recorded};
pub use waiting::{Awaited, Waited};
pub(crate) use work::{Make, StepProblem};
pub use work::{StepError, Work, WorkError};

use std::time::Duration;

use async_trait::async_trait;

use crate::{BoxError, StepName};

/// The record of one run: the interface between a flow and a store or engine that keeps its
/// outcomes.
///
/// A run with a journal gets the outcome of every `exec` from it, and in a
/// [composite](crate::Node::is_composite) node the outcome of every [recorded](recorded()) call. A recorded outcome is returned
/// without doing the work again. A new outcome is recorded before it is used. To resume a run,
/// start it again from its beginning (or from its last [snapshot](Recorded::snapshot)) with the
/// same record: `prep` and `post` run as they did before, and the run continues where the record
/// ends.
///
/// Most programs don't need to implement this. `cogwork-journal` has journals for files and for
/// SQLite, and [`MemoryJournal`] keeps a run in memory. To store records elsewhere, implement
/// [`Log`], which is smaller. Implement this trait to run flows on a durable engine such as
/// Restate: each method corresponds to a call of such an engine, with bytes as arguments and
/// results.
///
/// # Guarantees for engines
///
/// - Names of steps are the same in every replay, and unique in a run.
/// - Bytes are a JSON text on one line.
/// - If [`in_order`](Journal::in_order) returns `true`, calls come one at a time and in the same
///   order in each replay. After a call that failed or is pending, no further calls are made.
/// - A run never waits for whichever of two calls finishes first. A deadline or a token drops the
///   whole run instead.
/// - A call that was dropped while it waited can be repeated with the same name.
///
/// A journal that identifies calls by their position serves a single attempt at a run. After an
/// error, a pause or a dropped future, start a new run with a new journal and the initial state of
/// the first one.
#[async_trait]
pub trait Journal: Send + Sync {
    /// Returns the id of the run.
    fn run_id(&self) -> &str;

    /// Checks that the state is the one with which the run began, or the one of its
    /// [snapshot](Journal::snapshot). A run calls this once, before its first step, unless it was
    /// created with [`Run::with_journal_any_state`](crate::Run::with_journal_any_state).
    ///
    /// # Default
    ///
    /// Accepts every state, as an engine does that keeps the state itself.
    ///
    /// # Errors
    ///
    /// Returns an error if the run began with a different state. Nothing is recorded then.
    fn begin(&self, _state: FirstState<'_>) -> Result<(), BoxError> {
        Ok(())
    }

    /// Returns the outcome of a step: the recorded one, or the outcome of `work` after recording
    /// it.
    ///
    /// # Errors
    ///
    /// Returns the error of the work or of the journal. A journal doesn't have to record failures:
    /// work whose failure isn't recorded is retried by the next run. An engine that records
    /// failures returns [`StepError::failed`].
    async fn step(&self, step: &StepName, work: Work<'_>) -> Result<Vec<u8>, StepError>;

    /// Returns the recorded outcome of a step if the journal has it in memory and its record is
    /// stored durably. A replay calls this before [`step`](Journal::step), to save a copy.
    ///
    /// # Default
    ///
    /// Returns `None`.
    fn loaded(&self, _step: &StepName) -> Option<Json> {
        None
    }

    /// Returns the recorded outcome of a step without doing any work.
    ///
    /// A composite step begins with this, because its recorded outcome makes its calls unnecessary,
    /// and because an attempt that is recorded as failed isn't repeated.
    ///
    /// # Default
    ///
    /// Returns `None`. A journal that identifies calls by their position needs nothing else: it
    /// replays all calls of the step, including those of failed attempts.
    ///
    /// # Errors
    ///
    /// Returns an error if the record cannot be read.
    async fn find(&self, _step: &StepName) -> Result<Option<Vec<u8>>, BoxError> {
        Ok(None)
    }

    /// Waits until `duration` has passed since the first call for this step. Since the clock may
    /// have been set back in between, this never waits for more than `duration` from now.
    ///
    /// # Errors
    ///
    /// Returns an error if the record cannot be read or written.
    async fn sleep(&self, step: &StepName, duration: Duration) -> Result<(), BoxError>;

    /// Returns whether an event that a step waits for has arrived. Its answer, or a timeout, is
    /// recorded.
    ///
    /// # Errors
    ///
    /// Returns an error if the record cannot be read or written, or if an answer isn't
    /// [accepted](Awaited::accept). That answer is then discarded, and a new one can be delivered.
    async fn wait(&self, step: &StepName, awaited: Awaited<'_>) -> Result<Waited, BoxError>;

    /// Stores the answer to an event, for a step that waits for it now or later. The answer is a
    /// JSON text, as created from a value by [`Run::deliver`](crate::Run::deliver). A program that
    /// gave the run a pointer to the journal, such as an `Arc`, can call this while the run takes
    /// steps.
    ///
    /// # Errors
    ///
    /// Returns an error if the answer cannot be written.
    async fn deliver(&self, event: &str, answer: Vec<u8>) -> Result<(), BoxError>;

    /// Returns whether a step is recorded as waiting for this event.
    ///
    /// # Default
    ///
    /// Returns `false`. Then [`Run::deliver`](crate::Run::deliver) only accepts the events of the
    /// flow's [`Wait`](crate::Wait)s.
    fn awaits(&self, _event: &str) -> bool {
        false
    }

    /// Reports the progress of the run. This isn't part of the record.
    ///
    /// # Default
    ///
    /// Does nothing.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be written.
    async fn progress(&self, _progress: Progress<'_>) -> Result<(), BoxError> {
        Ok(())
    }

    /// Returns whether calls must come one at a time and in the same order in each replay. Items
    /// and branches then run sequentially.
    ///
    /// # Default
    ///
    /// Returns `false`.
    fn in_order(&self) -> bool {
        false
    }

    /// Returns the last snapshot, if the record begins with one.
    ///
    /// # Default
    ///
    /// Returns `None`.
    fn snapshot(&self) -> Option<Snapshot> {
        None
    }

    /// Replaces everything recorded so far with a snapshot.
    ///
    /// # Default
    ///
    /// Returns an error, since the journal doesn't support snapshots.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be written.
    async fn fold(&self, _snapshot: Snapshot) -> Result<(), BoxError> {
        Err("this journal keeps no snapshots".into())
    }
}
