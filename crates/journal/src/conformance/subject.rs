use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;
use cogwork_flow::engine::Journal;
use cogwork_flow::{BoxError, Flow};
use cogwork_text::ErrorText;

use super::State;
use crate::StoreError;
use crate::error::Kind;

/// An engine that executes flows durably, as the suite sees it.
///
/// Implement this for an engine that drives the flow itself, such as Restate. For a store,
/// implement [`TestedStore`].
///
/// The suite imitates a crash of the process by dropping the future of
/// [`proceed`](TestedEngine::proceed). After that, nothing in this process may work on the run
/// until the next call: an engine that uses other tasks, threads or processes has to end them when
/// the future is dropped.
#[async_trait]
pub trait TestedEngine: Send + Sync {
    /// Returns the abilities that the engine lacks.
    fn lacks(&self) -> &[Ability];

    /// Starts a run if it doesn't exist, and executes it until it stops.
    ///
    /// # Errors
    ///
    /// Returns an error if the run cannot be executed at all, for example because its id isn't
    /// allowed, because its flow has changed, or because something is too large.
    async fn proceed(&self, attempt: Attempt) -> Result<Stopped, Refusal>;

    /// Delivers the answer to an event, which is a JSON text.
    ///
    /// # Errors
    ///
    /// Returns an error if the answer isn't accepted.
    async fn deliver(&self, run_id: &str, event: &str, answer: &str) -> Result<(), Refusal>;

    /// Cancels a run.
    /// An engine with the ability [`Cancellation`](Ability::Cancellation) implements this.
    ///
    /// # Errors
    ///
    /// Returns an error if that isn't possible, and by default.
    async fn cancel(&self, _run_id: &str) -> Result<(), BoxError> {
        Err("the subject has no `cancel`".into())
    }
}

/// A store of runs, as the suite sees it.
///
/// Implement this for a store whose runs have a [`Journal`] each, such as a
/// [`Log`](cogwork_flow::engine::Log) under a [`Recorded`](cogwork_flow::engine::Recorded)
/// journal.
#[async_trait]
pub trait TestedStore: Send + Sync + 'static {
    /// Returns the abilities that the store lacks. No store needs
    /// [`Cancellation`](Ability::Cancellation): a program cancels its own runs.
    fn lacks(&self) -> &[Ability];

    /// Opens a run for one process. The run is in use until the journal is dropped.
    ///
    /// # Errors
    ///
    /// Returns an error if the run cannot be opened in this way.
    async fn open(&self, how: Open, attempt: &Attempt) -> Result<Opened, Refusal>;

    /// Delivers the answer to an event, which is a JSON text, to a run that isn't in use.
    ///
    /// # Errors
    ///
    /// Returns an error if the answer isn't accepted.
    async fn deliver(&self, run_id: &str, event: &str, answer: &str) -> Result<(), Refusal>;

    /// Returns the ids of all runs, sorted, each with its status: `open`, `paused`, `failed` or
    /// `ended`.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read.
    async fn list(&self) -> Result<Vec<(String, String)>, Refusal>;

    /// Removes a run.
    ///
    /// # Errors
    ///
    /// Returns an error if the run doesn't exist, is in use, or cannot be removed.
    async fn remove(&self, run_id: &str) -> Result<(), Refusal>;

    /// Returns the same store as a different process would open it.
    fn another_process(&self) -> Arc<dyn TestedStore>;

    /// Opens a new run whose record begins with the steps of another run before `step`, which is
    /// counted from 1. The new run has the id and the flow of `attempt`. A store with the ability
    /// [`Forks`](Ability::Forks) implements this.
    ///
    /// # Errors
    ///
    /// Returns an error if that isn't possible, and by default.
    async fn fork(&self, _run_id: &str, _step: u64, _attempt: &Attempt) -> Result<Opened, Refusal> {
        let text = "the subject has no `fork`";
        Err(Refusal::new(RefusalKind::Other, text))
    }

    /// Lets the lease of the process that uses a run expire, without that process noticing.
    /// A store with the ability [`Fences`](Ability::Fences) implements this.
    ///
    /// # Errors
    ///
    /// Returns an error if that isn't possible, and by default.
    async fn expire_lease(&self, _run_id: &str) -> Result<(), BoxError> {
        Err("the subject has no `expire_lease`".into())
    }
}

/// Something that not every store or engine can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ability {
    /// A run may be dropped at any `await`, and continues in the same process.
    DropAnywhere,
    /// A run can be cancelled from outside.
    Cancellation,
    /// A process that lost a run without noticing can no longer write to it.
    Fences,
    /// A run can begin with a part of the record of another one.
    Forks,
}

/// An attempt at a run, by one process.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Attempt {
    /// The id of the run, which may be any text.
    pub run_id: String,
    /// The flow. All attempts at a run have the same one unless a case changes it.
    pub flow: Arc<Flow<State>>,
    /// The initial state, in all attempts at the run.
    pub input: State,
}

/// How an attempt at a run stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The run ended.
    Ended {
        /// The final state.
        state: State,
        /// The number of steps.
        steps: u64,
    },
    /// The run waits for an event without an answer.
    Waiting {
        /// The event.
        event: String,
        /// When the wait times out; `None` if it never does.
        until: Option<SystemTime>,
    },
    /// The run failed.
    Failed {
        /// The error.
        error: String,
    },
    /// The run was cancelled.
    Cancelled,
}

/// How to open a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Open {
    /// Start the run, which must not exist.
    Start,
    /// Resume the run, which must have the same flow. Its input isn't compared.
    Resume,
    /// Start the run, or resume it if it exists and has the same flow and input.
    StartOrResume,
    /// Resume the run with a changed flow, which is recorded.
    ResumeChanged,
}

/// A run that is open.
#[derive(Clone)]
pub struct Opened {
    /// The journal of the run.
    pub journal: Arc<dyn Journal>,
    /// The state to resume with: that of the last snapshot, or the input of the run.
    pub state: State,
}

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the open run `{}`", self.journal.run_id())
    }
}

/// The reason why a store or an engine refused something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RefusalKind {
    /// The run doesn't exist.
    Missing,
    /// A run with this id exists.
    AlreadyThere,
    /// The run is in use.
    InUse,
    /// The run belongs to a different flow, or to an earlier version of this one.
    AnotherFlow,
    /// The run was started with a different input.
    AnotherInput,
    /// The run has ended.
    Ended,
    /// No node of the flow waits for the event.
    UnknownEvent,
    /// The record is damaged.
    Damaged,
    /// Anything else.
    Other,
}

/// An error of a store or an engine.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Refusal {
    /// The reason.
    pub kind: RefusalKind,
    /// The error, for reports.
    pub error: String,
}

impl Refusal {
    /// Creates an error.
    pub fn new(kind: RefusalKind, error: impl fmt::Display) -> Self {
        let error = ErrorText(error).to_string();
        Self { kind, error }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.kind, self.error)
    }
}

impl std::error::Error for Refusal {}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        let kind = match error.kind() {
            Kind::Missing => RefusalKind::Missing,
            Kind::AlreadyThere => RefusalKind::AlreadyThere,
            Kind::Locked => RefusalKind::InUse,
            Kind::AnotherFlow => RefusalKind::AnotherFlow,
            Kind::AnotherInput => RefusalKind::AnotherInput,
            Kind::Ended => RefusalKind::Ended,
            Kind::UnknownEvent => RefusalKind::UnknownEvent,
            Kind::Damaged => RefusalKind::Damaged,
            _ => RefusalKind::Other,
        };
        Self::new(kind, error)
    }
}
