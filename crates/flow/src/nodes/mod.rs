//! The types of nodes that functions and methods return, and the traits in their signatures.
//!
//! | wrapper around a node | created by | effect |
//! |---|---|---|
//! | [`Retry`] | [`Node::retry`] | retries `exec` when it fails |
//! | [`Timeout`] | [`Node::timeout`] | limits the time of `exec` |
//! | [`Fallback`] | [`Node::fallback`] | replaces the outcome of a failed `exec` |
//! | [`Focus`] | [`Node::focus`] | applies the node to a part of a larger state |

mod fallback;
mod focus;
mod retry;
mod timeout;

pub use fallback::Fallback;
pub use focus::Focus;
pub use retry::Retry;
pub use timeout::{Elapsed, Timeout};

pub use crate::from_phases::{FromFn, FromPhases};
pub use crate::into_action::IntoResult;
pub use crate::node::Phase;
pub use crate::places::items::Items;

use crate::engine::Operation;
use crate::{Action, BoxError, Node};

/// A node with a wrapper around its `exec`: a [`Retry`], a [`Timeout`] or a [`Fallback`].
pub struct Wrapped<N, W> {
    pub(crate) node: N,
    pub(crate) wrapper: W,
}

/// A wrapper around the `exec` of a node.
pub trait Wrap<S, N: Node<S>>: Send + Sync {
    /// Calls the `exec` of the node.
    fn exec(
        &self,
        node: &N,
        prep: &N::Prep,
    ) -> impl Future<Output = Result<N::Exec, BoxError>> + Send;
}

impl<S, N: Node<S>, W: Wrap<S, N>> Node<S> for Wrapped<N, W> {
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

    fn exec(&self, prep: &Self::Prep) -> impl Future<Output = Result<Self::Exec, BoxError>> + Send {
        self.wrapper.exec(&self.node, prep)
    }

    fn post(&self, state: &mut S, prep: Self::Prep, exec: Self::Exec) -> Result<Action, BoxError> {
        self.node.post(state, prep, exec).map_err(Into::into)
    }
}
