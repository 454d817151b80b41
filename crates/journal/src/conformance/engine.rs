use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;
use cogwork_flow::{BoxError, Flow};

use super::{Refusal, State};

/// An engine that executes flows durably, as the suite sees it.
///
/// Implement this for an engine that drives the flow itself, such as Restate. For a store,
/// implement [`TestedStore`](super::TestedStore), which also gives an engine.
///
/// The suite imitates a crash of the process by dropping the future of
/// [`proceed`](TestedEngine::proceed). After that, nothing in this process may work on the run
/// until the next call: an engine that uses other tasks, threads or processes has to end them when
/// the future is dropped.
#[async_trait]
pub trait TestedEngine: Send + Sync {
    /// Returns the name of the engine, for reports.
    fn name(&self) -> String;

    /// Returns the reason why the engine lacks an ability; `None` if it has it.
    fn lacks(&self, ability: Ability) -> Option<&'static str>;

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

/// Something that not every store or engine can do. The cases that need it are skipped for
/// subjects that [lack](TestedEngine::lacks) it, and are listed as skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Ability {
    /// A run may be dropped at any `await`, and continues in the same process.
    DropAnywhere,
    /// A run that has ended can be executed again, and makes no calls.
    ReplayAfterEnd,
    /// A run whose flow has changed is refused.
    ChangedFlows,
    /// Answers after the end of a run are refused.
    LateAnswers,
    /// A run can be cancelled from outside.
    Cancellation,
    /// Only one process at a time executes a run.
    TwoTakers,
    /// A process that lost a run without noticing can no longer write to it.
    Fences,
    /// A snapshot can replace the beginning of a record.
    Snapshots,
    /// A run is refused if it is resumed with a state that isn't the recorded one.
    StateCheck,
    /// A run can begin with a part of the record of another one.
    Forks,
}

impl fmt::Display for Ability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DropAnywhere => "runs that can be dropped anywhere",
            Self::ReplayAfterEnd => "replays after the end",
            Self::ChangedFlows => "a check for changed flows",
            Self::LateAnswers => "a check for answers after the end",
            Self::Cancellation => "cancellation from outside",
            Self::TwoTakers => "a lock on runs in use",
            Self::Fences => "fences",
            Self::Snapshots => "snapshots",
            Self::StateCheck => "a check of the state",
            Self::Forks => "forks of runs",
        })
    }
}
