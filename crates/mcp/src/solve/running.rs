//! A run in a separate task, which is cancelled when nothing waits for it any more.

use std::sync::Arc;

use cogwork_flow::CancellationToken;
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::task::JoinHandle;

use super::backend::Backend;
use super::drive::solve;
use super::entry::{Outcome, SolveEnd};
use super::request::SolveRequest;
use super::watch::{Progress, Watch};
use crate::store::{Owner, SessionId, SessionStore, StoreError};

/// A run that was started. Dropping it cancels the run, which still records its end.
pub(super) struct Running {
    pub(super) id: SessionId,
    /// The thoughts as they are added. It ends with the run.
    pub(super) progress: mpsc::Receiver<Progress>,
    token: CancellationToken,
    task: JoinHandle<Finished>,
}

/// The result of a run.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) id: SessionId,
    pub(super) method: &'static str,
    pub(super) end: SolveEnd,
    pub(super) thoughts: usize,
    pub(super) spent: cogwork_strategies::Spent,
    /// Why some of the run isn't in the session.
    pub(super) unrecorded: Option<StoreError>,
}

impl Running {
    /// Creates the session of a run, and starts the run.
    pub(super) async fn start(
        store: &SessionStore,
        owner: &Owner,
        backend: &Arc<Backend>,
        request: SolveRequest,
        permit: OwnedSemaphorePermit,
    ) -> Result<Self, StoreError> {
        let (watch, progress) = Watch::begin(store, owner, &request).await?;
        let token = CancellationToken::new();
        let id = watch.id.clone();

        let run = run(Arc::clone(backend), request, watch, token.clone());
        let task = tokio::spawn(async move {
            let finished = run.await;
            drop(permit);
            finished
        });
        Ok(Self {
            id,
            progress,
            token,
            task,
        })
    }

    pub(super) fn cancel(&self) {
        self.token.cancel();
    }

    /// Returns the result once the run has ended.
    pub(super) async fn finished(mut self) -> Finished {
        match (&mut self.task).await {
            Ok(finished) => finished,
            Err(_) => Finished::broken(self.id.clone()),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.token.cancel();
    }
}

impl Finished {
    /// The result of a run whose task panicked or was aborted with its runtime.
    fn broken(id: SessionId) -> Self {
        Self {
            id,
            method: "",
            end: SolveEnd {
                outcome: Outcome::Failed,
                answer: None,
                confidence: None,
                reason: "the run was aborted".to_owned(),
            },
            thoughts: 0,
            spent: cogwork_strategies::Spent::default(),
            unrecorded: None,
        }
    }
}

async fn run(
    backend: Arc<Backend>,
    request: SolveRequest,
    mut watch: Watch,
    token: CancellationToken,
) -> Finished {
    let end = solve(&backend, &request, &mut watch, &token).await;

    let id = watch.id.clone();
    let thoughts = watch.thoughts();
    let spent = watch.spent();
    Finished {
        id,
        method: request.method.as_str(),
        unrecorded: watch.end(end.clone()).await,
        end,
        thoughts,
        spent,
    }
}
