use std::time::Duration;

use super::Wrap;
use crate::{BoxError, Node};

/// A time limit for `exec`. Created by [`Node::timeout`].
///
/// When the limit is exceeded, `exec` is dropped at its current `await`, and the error is
/// [`Elapsed`]. `prep` and `post` are synchronous and have no limit. Requires a tokio
/// runtime with time enabled.
pub struct Timeout {
    pub(crate) limit: Duration,
}

impl<S, N: Node<S>> Wrap<S, N> for Timeout {
    async fn exec(&self, node: &N, prep: &N::Prep) -> Result<N::Exec, BoxError> {
        match tokio::time::timeout(self.limit, node.exec(prep)).await {
            Ok(outcome) => outcome.map_err(Into::into),
            Err(_) => Err(Elapsed { limit: self.limit }.into()),
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
