use std::num::NonZeroU64;
use std::sync::Arc;

use async_trait::async_trait;
use cogwork_flow::BoxError;

use crate::run::{execute, execute_folding};
use crate::{Ability, Attempt, Open, Refusal, Stopped, TestedEngine, TestedStore};

/// The engine that consists of a store and this process.
#[derive(Clone)]
pub struct StoreEngine {
    store: Arc<dyn TestedStore>,
    fold_every: Option<NonZeroU64>,
}

impl StoreEngine {
    /// Creates an engine.
    pub fn new(store: impl TestedStore) -> Self {
        Self::over(Arc::new(store))
    }

    pub(crate) fn over(store: Arc<dyn TestedStore>) -> Self {
        Self {
            store,
            fold_every: None,
        }
    }

    /// Takes a snapshot each time after so many steps.
    #[must_use]
    pub fn with_fold_every(mut self, steps: NonZeroU64) -> Self {
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
        match self.fold_every {
            Some(steps) => execute_folding(&attempt.flow, opened, steps).await,
            None => execute(&attempt.flow, opened.journal, opened.state).await,
        }
    }

    async fn deliver(&self, run_id: &str, event: &str, answer: &str) -> Result<(), Refusal> {
        self.store.deliver(run_id, event, answer).await
    }

    fn max_outcome(&self) -> Option<usize> {
        self.store.max_outcome()
    }

    async fn set_available(&self, is_available: bool) -> Result<(), BoxError> {
        self.store.set_available(is_available).await
    }
}
