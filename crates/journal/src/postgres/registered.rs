//! The flows of a worker.

use std::error::Error;
use std::sync::Arc;

use async_trait::async_trait;
use cogwork_flow::{CancellationToken, Flow, FlowGraph, Proceeded, RunError};
use serde::de::DeserializeOwned;

use super::lease::{LeaseWatch, Stopped};
use crate::{RunJournal, StoreError};

/// A flow whose state has any type.
#[async_trait]
pub(super) trait RunFlow: Send + Sync {
    fn graph(&self) -> FlowGraph;

    /// Executes a run. How it stopped is set before the journal is dropped.
    async fn run(
        &self,
        journal: RunJournal,
        stop: CancellationToken,
        lease: &LeaseWatch,
    ) -> Stopped;
}

impl Stopped {
    fn of(error: RunError, stop: &CancellationToken) -> Self {
        let text = error.to_string();
        let store = journal_error(&error);
        let is_passing = store.is_some_and(|error| error.is_unavailable() || error.is_gone());
        if is_passing || error.is_cancelled() && stop.is_cancelled() {
            return Self::Interrupted(text);
        }

        Self::Failed(text)
    }

    /// Returns what the error of opening a run means.
    pub(super) fn of_opening(error: &StoreError) -> Self {
        if error.is_unavailable() || error.is_gone() {
            return Self::Interrupted(error.to_string());
        }

        Self::Failed(error.to_string())
    }
}

/// Returns the error of the store that stopped a run.
fn journal_error(error: &RunError) -> Option<&StoreError> {
    let mut source = error.source();

    while let Some(error) = source {
        if let Some(error) = error.downcast_ref() {
            return Some(error);
        }
        source = error.source();
    }

    None
}

pub(super) struct Registered<S>(pub(super) Arc<Flow<S>>);

#[async_trait]
impl<S> RunFlow for Registered<S>
where
    S: DeserializeOwned + Send + 'static,
{
    fn graph(&self) -> FlowGraph {
        self.0.graph()
    }

    async fn run(
        &self,
        journal: RunJournal,
        stop: CancellationToken,
        lease: &LeaseWatch,
    ) -> Stopped {
        let mut state: S = match journal.state() {
            Ok(state) => state,
            Err(error) => {
                let stopped = Stopped::of_opening(&error);
                lease.set_stopped(stopped.clone());
                return stopped;
            }
        };

        // The state is that of the record, whatever its digest is.
        let run = self.0.begin().with_journal_any_state(journal);
        let mut run = run.with_cancellation(stop.clone());
        let stopped = match run.proceed(&mut state).await {
            Ok(Proceeded::Ended(_)) => Stopped::Ended,
            Ok(Proceeded::Paused(_)) => Stopped::Paused,
            Err(error) => Stopped::of(error, &stop),
        };

        lease.set_stopped(stopped.clone());
        stopped
    }
}
