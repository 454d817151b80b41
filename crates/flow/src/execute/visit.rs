//! The type-erased visits of the places of a flow: one boxed future per visit, for any node.

use super::context::Here;
use super::failure::Failure;
use crate::boxed::BoxFuture;
use crate::engine::Operation;
use crate::{Action, Flow};

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

impl<S> Flow<S> {
    /// Visits the node at the `position` of a cursor over this flow.
    #[expect(
        clippy::indexing_slicing,
        reason = "a cursor gives one index a level, made from this wiring"
    )]
    pub(crate) fn visit<'a>(
        &'a self,
        state: &'a mut S,
        position: &'a [usize],
        here: Here<'a>,
    ) -> Visited<'a> {
        self.visits[position[0]].visit(state, &position[1..], here)
    }

    /// Returns what the node at `position` does.
    pub(crate) fn operation(&self, position: &[usize]) -> Operation {
        let Some((first, below)) = position.split_first() else {
            return Operation::Step;
        };

        self.visits
            .get(*first)
            .map_or(Operation::Step, |visit| visit.operation(below))
    }
}
