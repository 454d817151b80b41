//! The journal of a run, from which it can be resumed: for programs that implement a store or an
//! engine, and for nodes that record calls of their own.
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

pub(crate) mod calls;
mod clock;
mod codec;
mod digest;
mod entry;
mod index;
mod log;
mod recorded;
mod work;

pub use calls::{OutcomeSource, reach_limit, recorded, recorded_unless, scoped_event, wait_for};
pub use codec::OutcomeProblem;
pub(crate) use codec::{encode, recordable};
pub use digest::StateDigest;
pub use entry::{Entry, EntryError, Json, Snapshot};
pub use log::Log;
pub use recorded::{MemoryJournal, Recorded};
pub use work::{CallError, CannotWait, RefusedAnswer, StepError, Work, WorkError};

pub use crate::node::Operation;
pub use crate::step_name::{CallName, Level, Moment, Part, StepName};

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;

use crate::places::wait::Accept;
use crate::{Action, BoxError};

/// What is kept of one run: the interface between a flow and a store or engine that keeps its
/// outcomes.
///
/// To a run with a journal, each `exec` is a call: it gets the outcome from the journal, and in a
/// [composite](crate::Node::is_composite) node also that of each [recorded](recorded()) call. A
/// recorded outcome is returned without doing the work again. A new outcome is recorded before it is
/// used. To resume a run, start it again from its beginning (or from its last
/// [snapshot](Journal::snapshot)) with the same journal: `prep` and `post` run as they did before,
/// and the run continues where the journal ends.
///
/// Most programs don't need to implement this. `cogwork-journal` has journals for files and for
/// databases, and [`MemoryJournal`] keeps a run in memory. To keep runs elsewhere, implement [`Log`],
/// which is smaller. Implement this trait to run flows on a durable engine such as Restate: each
/// method corresponds to a call of such an engine, with JSON as arguments and results. Four methods
/// are required; the conformance tests of `cogwork-journal` (feature `conformance`) show whether they
/// keep the promises.
///
/// # Guarantees for engines
///
/// - Names of calls are the same in every replay, and unique in a run.
/// - JSON texts are on one line.
/// - If [`in_order`](Journal::in_order) returns `true`, calls, sleeps and waits come one at a time and
///   in the same order in each replay. After one that failed or is pending, no further ones come.
/// - A run never waits for whichever of two calls finishes first. A deadline or a token drops the
///   whole run instead.
/// - A call that was dropped while it waited can be repeated with the same name.
///
/// A journal that identifies calls by their position serves a single attempt at a run. After an
/// error, a pause or a dropped future, start a new run with a new journal and the initial state of
/// the first one.
///
/// A journal must not hold the run, which holds the journal.
#[async_trait]
pub trait Journal: Send + Sync + 'static {
    /// Returns the id of the run.
    fn run_id(&self) -> &str;

    /// Returns the outcome of a call: the recorded one, or the outcome of `work` after recording it.
    ///
    /// ```
    /// # use cogwork_flow::BoxError;
    /// # use cogwork_flow::engine::{Awaited, Journal, Json, StepError, StepName, Waited, Work};
    /// # use std::time::Duration;
    /// # struct Texts(std::sync::Mutex<std::collections::HashMap<String, Json>>);
    /// # impl Texts {
    /// #     async fn get(&self, key: &str) -> Result<Option<Json>, BoxError> { Ok(self.0.lock().unwrap().get(key).cloned()) }
    /// #     async fn put(&self, key: String, value: &Json) -> Result<(), BoxError> { self.0.lock().unwrap().insert(key, value.clone()); Ok(()) }
    /// # }
    /// # #[async_trait::async_trait]
    /// # impl Journal for Texts {
    /// #     fn run_id(&self) -> &str { "7" }
    /// #     async fn sleep(&self, _: &StepName, _: Duration) -> Result<(), BoxError> { Ok(()) }
    /// #     async fn wait(&self, _: &StepName, _: Awaited<'_>) -> Result<Waited, BoxError> { Ok(Waited::TimedOut) }
    /// #     async fn deliver(&self, _: &str, _: Json) -> Result<(), BoxError> { Ok(()) }
    /// async fn call(&self, name: &StepName, work: Work<'_>) -> Result<Json, StepError> {
    ///     let name = name.to_string();
    ///     if let Some(outcome) = self.get(&name).await.map_err(StepError::journal)? {
    ///         return Ok(outcome);
    ///     }
    ///
    ///     let outcome = work.await?;
    ///     self.put(name, &outcome).await.map_err(StepError::journal)?;
    ///     Ok(outcome)
    /// }
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the error of the work or of the journal. A journal doesn't have to record failures:
    /// work whose failure isn't recorded is retried by the next run. An engine that records failures
    /// returns them again as [`StepError::Work`].
    async fn call(&self, name: &StepName, work: Work<'_>) -> Result<Json, StepError>;

    /// Waits until `duration` has passed since the first call for this step. Since the clock may
    /// have been set back in between, this never waits for more than `duration` from now.
    ///
    /// # Errors
    ///
    /// Returns an error if the journal cannot be read or written.
    async fn sleep(&self, step: &StepName, duration: Duration) -> Result<(), BoxError>;

    /// Returns whether an event that a step waits for has arrived. Its answer, or a timeout, is
    /// recorded.
    ///
    /// # Errors
    ///
    /// Returns an error if the journal cannot be read or written, or if an answer isn't
    /// [accepted](Awaited::accept). That answer is then discarded, and a new one can be delivered.
    async fn wait(&self, step: &StepName, awaited: Awaited<'_>) -> Result<Waited, BoxError>;

    /// Stores the answer to an event, for a step that waits for it now or later. A program that keeps
    /// an `Arc` of the journal can call this while the run takes steps.
    ///
    /// # Errors
    ///
    /// Returns an error if the answer cannot be written, or a [`RefusedAnswer`].
    async fn deliver(&self, event: &str, answer: Json) -> Result<(), BoxError>;

    /// Returns the recorded outcome of a call without doing any work.
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
    /// Returns an error if the journal cannot be read.
    async fn find(&self, _name: &StepName) -> Result<Option<Json>, BoxError> {
        Ok(None)
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

    /// Checks that the state is the one with which the run began, or the one of its
    /// [snapshot](Journal::snapshot). A run calls this once, before its first step, unless it was
    /// created with [`Run::with_journal_any_state`](crate::Run::with_journal_any_state) or its state
    /// cannot be written as JSON.
    ///
    /// # Default
    ///
    /// Accepts every state, as an engine does that keeps the state itself.
    ///
    /// # Errors
    ///
    /// Returns an error if the run began with a different state. Nothing is recorded then.
    fn begin(&self, _state: &Json) -> Result<(), BoxError> {
        Ok(())
    }

    /// Returns whether a step is recorded as waiting for this event.
    ///
    /// # Default
    ///
    /// Returns `false`. Then [`Run::deliver`](crate::Run::deliver) only accepts the events of the
    /// flow's [`Wait`](crate::Wait)s.
    fn awaits(&self, _event: &str) -> bool {
        false
    }

    /// Reports the progress of the run, for listings of runs. It isn't needed to resume the run.
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

    /// Returns the last snapshot, if the journal begins with one.
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

/// A journal, or an `Arc` of one that the program keeps, for
/// [`Run::with_journal`](crate::Run::with_journal).
pub trait IntoJournal {
    /// Returns the journal.
    fn into_journal(self) -> Arc<dyn Journal>;
}

impl<J: Journal> IntoJournal for J {
    fn into_journal(self) -> Arc<dyn Journal> {
        Arc::new(self)
    }
}

impl<J: Journal> IntoJournal for Arc<J> {
    fn into_journal(self) -> Arc<dyn Journal> {
        self
    }
}

impl IntoJournal for Arc<dyn Journal> {
    fn into_journal(self) -> Self {
        self
    }
}

/// An event that a step waits for.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Awaited<'a> {
    /// The name of the event.
    pub event: &'a str,
    /// The reason from [`Wait::with_reason`](crate::Wait::with_reason), for the person who answers.
    pub why: &'a str,
    /// The maximum time to wait, counted from the first call. Since the clock may have been set
    /// back in between, it is also the maximum from now.
    pub within: Option<Duration>,
    /// The JSON Schema of the answer from [`Wait::with_schema`](crate::Wait::with_schema).
    pub schema: Option<&'a Json>,
    /// Whether the run [stays at its waits](crate::Run::with_live_waits). Then a journal that learns
    /// of answers in this process waits for this one instead of returning [`Waited::Pending`].
    pub is_live: bool,
    pub(crate) accept: &'a Accept,
}

impl Awaited<'_> {
    /// Checks whether the step can read an answer.
    ///
    /// # Errors
    ///
    /// Returns the reason why it cannot.
    pub fn accept(&self, answer: &Json) -> Result<(), BoxError> {
        (self.accept)(answer)
    }
}

/// The state of a wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Waited {
    /// The event arrived, with this answer.
    Answered(Json),
    /// The same in a replay: the step has used this answer before.
    Replayed(Json),
    /// The wait timed out.
    TimedOut,
    /// The event hasn't arrived yet. The run pauses.
    Pending {
        /// When the wait times out; `None` if it never does.
        until: Option<SystemTime>,
    },
}

/// The progress of a run, for listings of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress<'a> {
    /// The run moves to a node.
    At {
        /// The next node.
        node: &'a str,
        /// The number of steps so far.
        steps: u64,
    },
    /// The run ended.
    Ended {
        /// The action on which it ended.
        action: &'a Action,
        /// The total number of steps.
        steps: u64,
    },
    /// The run pauses, until an answer arrives or a wait times out.
    Paused,
    /// The run stopped. It can be resumed.
    Failed {
        /// The error, in one line.
        error: &'a str,
    },
}
