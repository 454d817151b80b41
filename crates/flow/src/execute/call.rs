//! One call of `exec` against a journal.

use std::marker::PhantomData;
use std::pin::pin;
use std::sync::{Mutex, PoisonError};

use super::failure::Failure;
use super::named_step::NamedStep;
use crate::boxed::BoxFuture;
use crate::failed::Failed;
use crate::journal::{Json, Make, OutcomeProblemKind, WorkError, decode, encode};
use crate::{BoxError, Node, Phase};

pub(crate) struct Call<'a, S, N: Node<S>> {
    node: &'a N,
    prep: &'a N::Prep,
    step: &'a NamedStep<'a>,
    max_outcome: usize,
    /// The outcome of a call that was made, read back from its serialised form: a run must see the
    /// same outcome as its replay.
    fresh: Mutex<Option<N::Exec>>,
    state: PhantomData<fn(S)>,
}

impl<'a, S, N: Node<S>> Call<'a, S, N> {
    pub(crate) fn new(
        node: &'a N,
        prep: &'a N::Prep,
        step: &'a NamedStep<'a>,
        max_outcome: usize,
    ) -> Self {
        Self {
            node,
            prep,
            step,
            max_outcome,
            fresh: Mutex::new(None),
            state: PhantomData,
        }
    }

    /// Returns the outcome, given the bytes from the journal.
    pub(crate) fn outcome(&self, bytes: &[u8]) -> Result<N::Exec, Failure> {
        let fresh = self
            .fresh
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();

        if let Some(exec) = fresh {
            return Ok(exec);
        }

        self.step.replayed();
        let outcome = decode(bytes, OutcomeProblemKind::Unreadable);
        outcome.map_err(|problem| Failure::Journal(problem.into()))
    }

    /// Returns an outcome from the record.
    pub(crate) fn replayed(&self, outcome: &Json) -> Result<N::Exec, Failure> {
        self.step.replayed();
        let outcome = outcome.read();
        outcome.map_err(|problem| Failure::Journal(problem.into()))
    }

    async fn bytes(&self) -> Result<Vec<u8>, WorkError> {
        let failed = |error: BoxError| WorkError::from(Failed::new(Phase::Exec, error));

        let exec = pin!(self.node.exec(self.prep));
        let exec = self.step.exec(exec).await;
        let exec = exec.map_err(|error| failed(error.into()))?;

        let bytes = encode(&exec, self.max_outcome).map_err(|problem| failed(problem.into()))?;
        let exec = decode(&bytes, OutcomeProblemKind::NotRecordable);
        let exec = exec.map_err(|problem| failed(problem.into()))?;
        *self.fresh.lock().unwrap_or_else(PoisonError::into_inner) = Some(exec);

        Ok(bytes)
    }
}

impl<S, N: Node<S>> Make for Call<'_, S, N> {
    fn make(&self) -> BoxFuture<'_, Result<Vec<u8>, WorkError>> {
        Box::pin(self.bytes())
    }
}
