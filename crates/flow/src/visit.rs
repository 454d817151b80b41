//! Where a node loses its types: one boxed future a visit, whatever the node.

use std::future::Future;
use std::pin::Pin;

use crate::context::Here;
use crate::wrap::Attempts;
use crate::{Action, BoxError, Flow, Node, Phase, RunError};

pub(crate) type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What stands under a name of a flow: a node, or a flow over a part of the state.
///
/// A flow hands the visit down to its own node before anything is polled, so a node at any depth
/// of subflows is one future, polled directly: depth costs no stack.
pub(crate) trait Visit<S>: Send + Sync {
    /// Visits the node at `position`, given as indices into this flow and the flows inside it.
    fn visit<'a>(
        &'a self,
        state: &'a mut S,
        position: &'a [usize],
        here: Here<'a>,
    ) -> BoxFuture<'a, Result<Action, Failure>>;
}

/// A failed visit, before the run adds the place.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The node itself failed.
    Node(Failed),
    /// A flow inside the visit stopped; `label` tells it from the others beside it.
    Inside { label: String, error: RunError },
}

/// How a node failed.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) phase: Phase,
    pub(crate) attempts: u32,
    pub(crate) source: BoxError,
}

impl Failure {
    fn node(phase: Phase, error: impl Into<BoxError>) -> Self {
        Self::Node(Failed::new(phase, error))
    }
}

impl Failed {
    fn new(phase: Phase, error: impl Into<BoxError>) -> Self {
        let (mut source, mut attempts) = (error.into(), None);
        // Retries around retries each add a layer. The outermost count is the one kept: inner
        // counts may differ between the outer attempts, and only the last would be known.
        loop {
            match source.downcast::<Attempts>() {
                Ok(counted) => {
                    attempts.get_or_insert(counted.attempts);
                    source = counted.source;
                }
                Err(source) => return Self { phase, attempts: attempts.unwrap_or(1), source },
            }
        }
    }
}

pub(crate) struct Leaf<N>(pub(crate) N);

impl<S: Send, N: Node<S>> Visit<S> for Leaf<N> {
    fn visit<'a>(
        &'a self,
        state: &'a mut S,
        _: &'a [usize],
        here: Here<'a>,
    ) -> BoxFuture<'a, Result<Action, Failure>> {
        let node = &self.0;
        // Two futures, so that a visit nobody watches is as small as it can be.
        let Some(step) = here.step else {
            return Box::pin(async move {
                let prep = node.prep(state).map_err(|error| Failure::node(Phase::Prep, error))?;
                let exec = node.exec(&prep).await.map_err(|error| Failure::node(Phase::Exec, error))?;
                node.post(state, prep, exec).map_err(|error| Failure::node(Phase::Post, error))
            });
        };
        Box::pin(async move {
            let prep = step.phase(Phase::Prep, || node.prep(state));
            let prep = prep.map_err(|error| Failure::node(Phase::Prep, error))?;
            let exec = step.exec(node.exec(&prep)).await;
            let exec = exec.map_err(|error| Failure::node(Phase::Exec, error))?;
            let post = step.phase(Phase::Post, || node.post(state, prep, exec));
            post.map_err(|error| Failure::node(Phase::Post, error))
        })
    }
}

pub(crate) struct Subflow<T, F> {
    pub(crate) flow: Flow<T>,
    pub(crate) part: F,
}

impl<S, T, F: Fn(&mut S) -> &mut T + Send + Sync> Visit<S> for Subflow<T, F> {
    fn visit<'a>(
        &'a self,
        state: &'a mut S,
        position: &'a [usize],
        here: Here<'a>,
    ) -> BoxFuture<'a, Result<Action, Failure>> {
        self.flow.visit((self.part)(state), position, here)
    }
}
