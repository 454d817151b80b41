use std::fmt;
use std::time::Duration;

use cogwork_text::ErrorText;

use crate::{Action, BoxError, Node, Operation};

/// A node whose `exec` has a time limit. Created by [`Node::timeout`].
///
/// When the limit is exceeded, `exec` is dropped at its current `await`, and the error is
/// [`TimeoutError::Elapsed`]. `prep` and `post` are synchronous and have no limit. Requires a tokio
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

/// The error of a [`Timeout`]: either the limit was exceeded, or the node failed.
#[derive(Debug)]
pub enum TimeoutError<E> {
    /// `exec` took longer than the limit.
    Elapsed(Elapsed),
    /// The node failed within the limit.
    Node(E),
}

impl<E: fmt::Display> fmt::Display for TimeoutError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Elapsed(elapsed) => elapsed.fmt(f),
            Self::Node(error) => ErrorText(error).fmt(f),
        }
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

impl<E: Into<BoxError>> From<TimeoutError<E>> for BoxError {
    fn from(error: TimeoutError<E>) -> Self {
        match error {
            TimeoutError::Elapsed(elapsed) => elapsed.into(),
            TimeoutError::Node(error) => error.into(),
        }
    }
}

impl<S, N: Node<S>> Node<S> for Timeout<N> {
    type Prep = N::Prep;
    type Exec = N::Exec;
    type Error = TimeoutError<N::Error>;

    fn actions(&self) -> Vec<Action> {
        self.node.actions()
    }

    fn is_composite(&self) -> bool {
        self.node.is_composite()
    }

    fn operation(&self) -> Operation {
        self.node.operation()
    }

    fn prep(&self, state: &mut S) -> Result<Self::Prep, Self::Error> {
        self.node.prep(state).map_err(TimeoutError::Node)
    }

    async fn exec(&self, prep: &Self::Prep) -> Result<Self::Exec, Self::Error> {
        match tokio::time::timeout(self.limit, self.node.exec(prep)).await {
            Ok(outcome) => outcome.map_err(TimeoutError::Node),
            Err(_) => Err(TimeoutError::Elapsed(Elapsed { limit: self.limit })),
        }
    }

    fn post(
        &self,
        state: &mut S,
        prep: Self::Prep,
        exec: Self::Exec,
    ) -> Result<Action, Self::Error> {
        self.node
            .post(state, prep, exec)
            .map_err(TimeoutError::Node)
    }
}
