//! One call of `exec` against a journal.

use std::marker::PhantomData;
use std::num::NonZeroU32;
use std::sync::{Mutex, PoisonError};

use crate::journal::{Attempt, OutcomeProblemKind, WorkError, decode, encode};
use crate::step::NamedStep;
use crate::visit::{BoxFuture, Failed, Failure};
use crate::yielding::give_way;
use crate::{EventKind, Node, Phase};

pub(crate) struct Call<'a, S, N: Node<S>> {
    node: &'a N,
    prep: &'a N::Prep,
    step: &'a NamedStep<'a>,
    max_outcome: usize,
    /// What was brought, read back from the bytes that go on record: a run must see the same as its
    /// replay. What cannot be recorded is here as it is.
    brought: Mutex<Option<N::Exec>>,
    state: PhantomData<fn(S)>,
}

impl<'a, S, N: Node<S>> Call<'a, S, N> {
    pub(crate) fn new(node: &'a N, prep: &'a N::Prep, step: &'a NamedStep<'a>, max_outcome: usize) -> Self {
        Self { node, prep, step, max_outcome, brought: Mutex::new(None), state: PhantomData }
    }

    /// The outcome behind what the journal answered.
    pub(crate) async fn outcome(&self, bytes: &[u8]) -> Result<N::Exec, Failure> {
        let brought = self.brought.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(exec) = brought {
            return Ok(exec);
        }
        if bytes.is_empty() {
            let exec = self.step.exec(self.node.exec(self.prep)).await;
            return exec.map_err(|error| Failure::node(Phase::Exec, error));
        }
        self.step.tell(|| EventKind::Replayed);
        decode(bytes, OutcomeProblemKind::Unreadable).map_err(|problem| Failure::Journal(problem.into()))
    }

    async fn bytes(&self, number: Option<NonZeroU32>) -> Result<Vec<u8>, WorkError> {
        give_way(self.step.name.item.unwrap_or_default()).await;
        let exec = self.step.exec(tried(self.node, self.prep, number)).await.inspect_err(|error| {
            if let Some(delay) = error.again_in {
                let attempts = error.failed.attempts;
                self.step.tell(|| EventKind::Retrying { attempts, delay, error: error.to_string() });
            }
        })?;
        let refused = |problem| WorkError::from(Failed::new(Phase::Exec, problem));
        let bytes = encode(&exec, self.max_outcome).map_err(refused)?;
        let exec = match bytes.as_slice() {
            [] => exec,
            bytes => decode(bytes, OutcomeProblemKind::NotRecordable).map_err(refused)?,
        };
        *self.brought.lock().unwrap_or_else(PoisonError::into_inner) = Some(exec);
        Ok(bytes)
    }
}

impl<S, N: Node<S>> Attempt for Call<'_, S, N> {
    fn attempt(&self, number: Option<NonZeroU32>) -> BoxFuture<'_, Result<Vec<u8>, WorkError>> {
        Box::pin(self.bytes(number))
    }
}

/// All attempts at `exec`, or the one of this number.
pub(crate) async fn tried<S, N: Node<S>>(
    node: &N,
    prep: &N::Prep,
    number: Option<NonZeroU32>,
) -> Result<N::Exec, WorkError> {
    match number {
        None => node.exec(prep).await.map_err(|error| Failed::new(Phase::Exec, error).into()),
        Some(number) => node.attempt(prep, number).await.map_err(|failed| {
            let mut error = WorkError::from(Failed::new(Phase::Exec, failed.error));
            // More than this one where there are retries inside the attempt.
            error.failed.attempts = error.failed.attempts.max(number.get());
            error.again_in = failed.again_in;
            error
        }),
    }
}
