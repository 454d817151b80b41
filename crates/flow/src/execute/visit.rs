//! Type-erased visits: one boxed future per visit, for any node.

use super::failure::Failure;
use super::here::Here;
use crate::boxed::BoxFuture;
use crate::{Action, Operation};

/// A visit in progress. The failure is boxed so that the outcome of a visit is three words long.
pub(crate) type Visited<'a> = BoxFuture<'a, Result<Action, Box<Failure>>>;

/// A place in a flow: a node, or flows over parts of the state.
///
/// A flow passes the visit down to its own node before anything is polled. A node at any depth of
/// subflows is one future that is polled directly, so depth uses no stack.
pub(crate) trait Visit<S>: Send + Sync {
    /// Visits the node at `position`: the indices in this flow and in the flows inside it.
    fn visit<'a>(&'a self, state: &'a mut S, position: &'a [usize], here: Here<'a>) -> Visited<'a>;

    /// Returns what the node at `position` does.
    fn operation(&self, _position: &[usize]) -> Operation {
        Operation::Step
    }
}
