use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use cogwork_flow::BoxError;
use cogwork_flow::journal::Journal;

use super::{Ability, Attempt, Refusal, RefusalKind, State};
use crate::{RunStatus, RunSummary};

/// A store of runs, as the suite sees it.
///
/// Implement this for a store whose runs have a [`Journal`] each, such as a
/// [`Log`](cogwork_flow::journal::Log) under a [`Recorded`](cogwork_flow::journal::Recorded)
/// journal.
#[async_trait]
pub trait TestedStore: Send + Sync + 'static {
    /// Returns the name of the store, for reports.
    fn name(&self) -> String;

    /// Returns the reason why the store lacks an ability; `None` if it has it.
    fn lacks(&self, ability: Ability) -> Option<&'static str>;

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

    /// Returns all runs, sorted by id.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read.
    async fn list(&self) -> Result<Vec<ListedRun>, Refusal>;

    /// Removes a run.
    ///
    /// # Errors
    ///
    /// Returns an error if the run doesn't exist, is in use, or cannot be removed.
    async fn remove(&self, run_id: &str) -> Result<(), Refusal>;

    /// Returns the same store as a different process would open it.
    fn another_process(&self) -> Arc<dyn TestedStore>;

    /// Opens a new run whose record begins with the steps of another run before `step`, which is counted
    /// from 1. The new run has the id and the flow of `attempt`. A store with the ability [`Forks`](Ability::Forks) implements this.
    ///
    /// # Errors
    ///
    /// Returns an error if that isn't possible, and by default.
    async fn fork(&self, _run_id: &str, _step: u64, _attempt: &Attempt) -> Result<Opened, Refusal> {
        Err(Refusal::new(
            RefusalKind::Other,
            "the subject has no `fork`",
        ))
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
        f.debug_struct("Opened")
            .field("run_id", &self.journal.run_id())
            .field("state", &self.state)
            .finish()
    }
}

/// A run in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedRun {
    /// The id of the run.
    pub run_id: String,
    /// The status of the run.
    pub status: ListedStatus,
}

/// The status of a run in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListedStatus {
    /// The run can continue, or is in use.
    Open,
    /// The run waits for these events.
    Waiting(Vec<String>),
    /// The run failed.
    Failed,
    /// The run ended.
    Ended,
    /// The record cannot be read.
    Damaged,
}

impl From<RunSummary> for ListedRun {
    fn from(run: RunSummary) -> Self {
        let status = match run.status {
            RunStatus::Open => ListedStatus::Open,
            RunStatus::Paused { waits } => {
                ListedStatus::Waiting(waits.into_iter().map(|wait| wait.event).collect())
            }
            RunStatus::Failed { .. } => ListedStatus::Failed,
            RunStatus::Ended { .. } => ListedStatus::Ended,
            RunStatus::Damaged { .. } => ListedStatus::Damaged,
        };

        Self {
            run_id: run.run_id,
            status,
        }
    }
}
