//! One call of `exec` against a journal.

use std::marker::PhantomData;
use std::num::NonZeroU32;
use std::pin::pin;
use std::sync::{Mutex, PoisonError};

use super::failure::Failure;
use super::named_step::NamedStep;
use super::yielding::give_way;
use crate::boxed::BoxFuture;
use crate::failed::Failed;
use crate::journal::{Attempt, Json, OutcomeProblemKind, WorkError, decode, encode};
use crate::spans;
use crate::{EventKind, Node, Phase};

pub(crate) struct Call<'a, S, N: Node<S>> {
    node: &'a N,
    prep: &'a N::Prep,
    step: &'a NamedStep<'a>,
    max_outcome: usize,
    /// The outcome of a call that was made, read back from its serialised form: a run must see the
    /// same outcome as its replay. An outcome that cannot be recorded is kept unchanged.
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
    pub(crate) async fn outcome(&self, bytes: &[u8]) -> Result<N::Exec, Failure> {
        let fresh = self
            .fresh
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();

        if let Some(exec) = fresh {
            return Ok(exec);
        }

        // An outcome that cannot be recorded is created again in each replay.
        if bytes.is_empty() {
            let exec = pin!(self.node.exec(self.prep));
            let exec = self.step.exec(exec).await;
            return exec.map_err(|error| Failure::node(Phase::Exec, error));
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

    async fn bytes(&self, number: Option<NonZeroU32>) -> Result<Vec<u8>, WorkError> {
        give_way(self.step.name.item.unwrap_or_default()).await;

        let tried = pin!(tried(self.node, self.prep, number));
        let tried = self.step.exec(tried).await;
        let exec = tried.inspect_err(|error| self.emit_retry(error))?;

        let refused = |problem| WorkError::from(Failed::new(Phase::Exec, problem));
        let bytes = encode(&exec, self.max_outcome).map_err(refused)?;
        let exec = match bytes.as_slice() {
            [] => exec,
            bytes => decode(bytes, OutcomeProblemKind::NotRecordable).map_err(refused)?,
        };
        *self.fresh.lock().unwrap_or_else(PoisonError::into_inner) = Some(exec);

        Ok(bytes)
    }

    fn emit_retry(&self, error: &WorkError) {
        if let Some(delay) = error.again_in {
            let attempts = error.failed.attempts;
            spans::retrying(attempts, delay, error);
            self.step.emit(|| EventKind::Retrying {
                attempts,
                delay,
                error: error.to_string(),
            });
        }
    }
}

impl<S, N: Node<S>> Attempt for Call<'_, S, N> {
    fn attempt(&self, number: Option<NonZeroU32>) -> BoxFuture<'_, Result<Vec<u8>, WorkError>> {
        Box::pin(self.bytes(number))
    }
}

/// Makes all attempts at `exec`, or the one with this number.
pub(crate) async fn tried<S, N: Node<S>>(
    node: &N,
    prep: &N::Prep,
    number: Option<NonZeroU32>,
) -> Result<N::Exec, WorkError> {
    let Some(number) = number else {
        let exec = node.exec(prep).await;
        return exec.map_err(|error| Failed::new(Phase::Exec, error).into());
    };

    node.attempt(prep, number).await.map_err(|failed| {
        let mut error = WorkError::from(Failed::new(Phase::Exec, failed.error));

        // More than `number` if there are retries inside the attempt.
        error.failed.attempts = error.failed.attempts.max(number.get());
        error.again_in = failed.again_in;
        error
    })
}
