use async_trait::async_trait;
use cogwork_journal::Store;

use crate::{FlowError, ForkChoices, ForkRequest, Pieces};

/// The flows that the page can start, and whose runs it resumes after an answer.
#[async_trait]
pub trait Flows: Send + Sync + 'static {
    /// Returns the names of the flows.
    fn names(&self) -> Vec<String>;

    /// Starts a run of a flow with an input. Returns its id once the start is recorded. The run
    /// continues in a task.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such flow, or if its run cannot be started.
    async fn start(&self, store: &Store, flow: &str, input: &str) -> Result<String, FlowError>;

    /// Resumes a run of a flow. Returns once it is open. The run continues in a task.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such flow, or if the run cannot be resumed.
    async fn resume(&self, store: &Store, flow: &str, run_id: &str) -> Result<(), FlowError>;

    /// Starts a run that begins with the steps of another one before that of the request, and executes
    /// the others anew. Returns the id of the new run, which continues in a task.
    /// [`ForkRequest::start`] does all of it except for the task.
    ///
    /// The default is an error, and the page has no button for it.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such flow, or if the run cannot be forked like this.
    async fn fork(
        &self,
        store: &Store,
        flow: &str,
        run_id: &str,
        request: &ForkRequest,
    ) -> Result<String, FlowError> {
        let _ = (store, flow, run_id, request);
        Err(FlowError::CannotFork)
    }

    /// Returns what a fork of a run at step `at`, counted from 1, can change: [`ForkChoices::of`] the
    /// flow. The default is an error.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such flow, or if the run cannot be forked at this step.
    async fn fork_choices(
        &self,
        store: &Store,
        flow: &str,
        run_id: &str,
        at: u64,
    ) -> Result<ForkChoices, FlowError> {
        let _ = (store, flow, run_id, at);
        Err(FlowError::CannotFork)
    }

    /// Returns whether runs can be forked. The default is `false`.
    fn can_fork(&self) -> bool {
        false
    }

    /// Returns the pieces of texts that a run writes now, if it was started or resumed here. The
    /// default is `None`: texts are shown once they are complete.
    fn pieces(&self, run_id: &str) -> Option<Pieces> {
        let _ = run_id;
        None
    }
}

/// No flows.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoFlows;

#[async_trait]
impl Flows for NoFlows {
    fn names(&self) -> Vec<String> {
        Vec::new()
    }

    async fn start(&self, _: &Store, _: &str, _: &str) -> Result<String, FlowError> {
        Err(FlowError::Unknown)
    }

    async fn resume(&self, _: &Store, _: &str, _: &str) -> Result<(), FlowError> {
        Err(FlowError::Unknown)
    }
}
