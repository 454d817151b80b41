use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;
use cogwork_flow::engine::Journal;
use cogwork_flow::{BoxError, Flow};

use super::State;
use crate::StoreError;

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
    /// Returns whether a run may be dropped at any `await`, and continues in the same process. If
    /// not, this isn't checked.
    ///
    /// # Default
    ///
    /// `true`.
    fn can_drop_anywhere(&self) -> bool {
        true
    }

    /// Starts a run if it doesn't exist, and executes it until it stops.
    ///
    /// # Errors
    ///
    /// Returns an error if the run cannot be executed at all, for example because its id isn't
    /// allowed, because its flow has changed, or because something is too large.
    async fn proceed(&self, attempt: Attempt) -> Result<Stopped, StoreError>;

    /// Delivers the answer to an event, which is a JSON text.
    ///
    /// # Errors
    ///
    /// Returns an error if the answer isn't accepted.
    async fn deliver(&self, run_id: &str, event: &str, answer: &str) -> Result<(), StoreError>;

    /// Cancels a run. Returns whether the engine can do that.
    ///
    /// # Default
    ///
    /// Returns `false`, and cancelled runs aren't checked.
    ///
    /// # Errors
    ///
    /// Returns an error if this run cannot be cancelled.
    async fn cancel(&self, _run_id: &str) -> Result<bool, BoxError> {
        Ok(false)
    }
}

/// A store of runs, as the suite sees it.
///
/// Implement this for a store whose runs have a [`Journal`] each, such as a
/// [`Log`](cogwork_flow::engine::Log) under a [`Recorded`](cogwork_flow::engine::Recorded)
/// journal.
#[async_trait]
pub trait TestedStore: Send + Sync + 'static {
    /// Opens a run for one process. The run is in use until the journal is dropped.
    ///
    /// # Errors
    ///
    /// Returns an error if the run cannot be opened in this way.
    async fn open(&self, how: Open, attempt: &Attempt) -> Result<Opened, StoreError>;

    /// Delivers the answer to an event, which is a JSON text, to a run that isn't in use.
    ///
    /// # Errors
    ///
    /// Returns an error if the answer isn't accepted.
    async fn deliver(&self, run_id: &str, event: &str, answer: &str) -> Result<(), StoreError>;

    /// Returns the same store as a different process would open it.
    fn another_process(&self) -> Arc<dyn TestedStore>;
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
}

/// A run that is open.
#[derive(Clone)]
pub struct Opened {
    /// The journal of the run.
    pub journal: Arc<dyn Journal>,
    /// The state to resume with: that of the last snapshot, or the input of the run.
    pub state: State,
}
