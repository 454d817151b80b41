use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;
use cogwork_flow::{BoxError, Flow};

use crate::{Ability, Refusal, State};

/// An engine that executes flows durably, as the suite sees it.
///
/// Implement this for an engine that drives the flow itself, such as Restate. For a store,
/// implement [`TestedStore`](crate::TestedStore), which also gives an engine.
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

    /// Returns the maximum size of an outcome in bytes.
    ///
    /// # Default
    ///
    /// Returns `None`. An engine with the ability [`SizeLimit`](Ability::SizeLimit) returns it.
    fn max_outcome(&self) -> Option<usize> {
        None
    }

    /// Cancels a run.
    ///
    /// # Default
    ///
    /// Returns an error. An engine with the ability [`Cancellation`](Ability::Cancellation)
    /// implements it.
    ///
    /// # Errors
    ///
    /// Returns an error if the run cannot be cancelled.
    async fn cancel(&self, _run_id: &str) -> Result<(), BoxError> {
        Err("the subject has no `cancel`".into())
    }

    /// Makes the server fail, or repairs it.
    ///
    /// # Default
    ///
    /// Returns an error. An engine with the ability [`Outages`](Ability::Outages) implements it.
    ///
    /// # Errors
    ///
    /// Returns an error if that isn't possible.
    async fn set_available(&self, _is_available: bool) -> Result<(), BoxError> {
        Err("the subject has no `set_available`".into())
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
