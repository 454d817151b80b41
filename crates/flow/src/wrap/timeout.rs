use std::time::Duration;

use crate::{Action, BoxError, Node, Operation};

/// A node whose `exec` has a time limit. Created by [`Node::timeout`].
///
/// When the limit is exceeded, `exec` is dropped at its current `await`, and the error is
/// [`Elapsed`]. `prep` and `post` are synchronous and have no limit. Requires a tokio
/// runtime with time enabled.
#[derive(Debug)]
pub struct Timeout<N> {
    node: N,
    limit: Duration,
}

impl<N> Timeout<N> {
    pub(crate) fn new(node: N, limit: Duration) -> Self {
        Self { node, limit }
    }
}

/// The error of an `exec` that took longer than its limit.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no outcome within {limit:?}")]
pub struct Elapsed {
    /// The limit.
    pub limit: Duration,
}

cogwork_text::debug_as_display!(Elapsed);

impl<S, N: Node<S>> Node<S> for Timeout<N> {
    type Prep = N::Prep;
    type Exec = N::Exec;
    type Error = BoxError;

    fn actions(&self) -> Vec<Action> {
        self.node.actions()
    }

    fn is_composite(&self) -> bool {
        self.node.is_composite()
    }

    fn operation(&self) -> Operation {
        self.node.operation()
    }

    fn prep(&self, state: &mut S) -> Result<Self::Prep, BoxError> {
        self.node.prep(state).map_err(Into::into)
    }

    async fn exec(&self, prep: &Self::Prep) -> Result<Self::Exec, BoxError> {
        match tokio::time::timeout(self.limit, self.node.exec(prep)).await {
            Ok(outcome) => outcome.map_err(Into::into),
            Err(_) => Err(Elapsed { limit: self.limit }.into()),
        }
    }

    fn post(&self, state: &mut S, prep: Self::Prep, exec: Self::Exec) -> Result<Action, BoxError> {
        self.node.post(state, prep, exec).map_err(Into::into)
    }
}
