//! Executes a run with a journal.

use std::num::NonZeroU64;
use std::sync::Arc;

use async_trait::async_trait;
use cogwork_flow::journal::IntoJournal;
use cogwork_flow::{Flow, Proceeded, Run};

use super::{
    Ability, Attempt, Open, Refusal, RefusalKind, State, Stopped, TestedEngine, TestedStore,
};

/// Executes a run until it stops. This is what [`TestedEngine::proceed`](crate::conformance::TestedEngine::proceed)
/// does for a journal.
///
/// # Errors
///
/// Returns an error if the journal fails.
pub async fn execute(
    flow: &Flow<State>,
    journal: impl IntoJournal,
    state: State,
) -> Result<Stopped, Refusal> {
    finish(flow.begin().with_journal(journal), state).await
}

/// Executes a run until it stops.
pub(super) async fn finish(mut run: Run<'_, State>, mut state: State) -> Result<Stopped, Refusal> {
    match run.proceed(&mut state).await {
        Ok(Proceeded::Ended(ended)) => Ok(Stopped::Ended {
            state,
            steps: ended.steps,
        }),
        Ok(Proceeded::Paused(paused)) => Ok(Stopped::Waiting {
            event: paused.event,
            until: paused.until,
        }),
        Err(error) if error.is_journal() => Err(Refusal::new(RefusalKind::Other, error)),
        Err(error) if error.is_cancelled() => Ok(Stopped::Cancelled),
        Err(error) => Ok(Stopped::Failed {
            error: error.to_string(),
        }),
    }
}

/// The engine that consists of a store and this process.
#[derive(Clone)]
pub(super) struct StoreEngine {
    store: Arc<dyn TestedStore>,
    fold_every: Option<NonZeroU64>,
}

impl StoreEngine {
    pub(super) fn over(store: Arc<dyn TestedStore>) -> Self {
        Self {
            store,
            fold_every: None,
        }
    }

    /// Takes a snapshot each time after so many steps.
    pub(super) fn with_fold_every(mut self, steps: NonZeroU64) -> Self {
        self.fold_every = Some(steps);
        self
    }
}

#[async_trait]
impl TestedEngine for StoreEngine {
    fn name(&self) -> String {
        self.store.name()
    }

    fn lacks(&self, ability: Ability) -> Option<&'static str> {
        match ability {
            Ability::Cancellation => Some("a program cancels its own runs"),
            _ => self.store.lacks(ability),
        }
    }

    async fn proceed(&self, attempt: Attempt) -> Result<Stopped, Refusal> {
        let opened = self.store.open(Open::StartOrResume, &attempt).await?;
        let mut run = attempt.flow.begin().with_journal(opened.journal);
        if let Some(steps) = self.fold_every {
            run = run.with_fold_every(steps);
        }

        finish(run, opened.state).await
    }

    async fn deliver(&self, run_id: &str, event: &str, answer: &str) -> Result<(), Refusal> {
        self.store.deliver(run_id, event, answer).await
    }
}
