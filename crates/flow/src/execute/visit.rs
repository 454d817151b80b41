//! The type-erased visits of the places of a flow: one boxed future per visit, for any node.

use super::context::Here;
use super::cursor::At;
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
    /// Visits the node at the end of the `path` through this flow and the flows inside it.
    fn visit<'a>(&'a self, state: &'a mut S, path: &'a [At<'a>], here: Here<'a>) -> Visited<'a>;

    /// Returns what the node at the end of the `path` does.
    fn operation(&self, _path: &[At<'_>]) -> Operation {
        Operation::Step
    }
}

impl<S> Flow<S> {
    /// Visits the node at the end of the path of a cursor over this flow.
    pub(crate) fn visit<'a>(
        &'a self,
        state: &'a mut S,
        path: &'a [At<'a>],
        here: Here<'a>,
    ) -> Visited<'a> {
        let (visit, below) = self.first(path);
        visit.visit(state, below, here)
    }

    /// Returns what the node at the end of the `path` does.
    pub(crate) fn operation(&self, path: &[At<'_>]) -> Operation {
        let (visit, below) = self.first(path);
        visit.operation(below)
    }

    #[expect(
        clippy::indexing_slicing,
        reason = "a cursor gives one place a level, made from this wiring"
    )]
    #[inline]
    fn first<'p, 'f>(&self, path: &'p [At<'f>]) -> (&dyn Visit<S>, &'p [At<'f>]) {
        (&*self.visits[path[0].index], &path[1..])
    }
}

/// A flow over a part of the state, which the cursor of the run enters.
pub(crate) struct Subflow<T, F> {
    pub(crate) flow: Flow<T>,
    pub(crate) part: F,
}

impl<S, T, F: Fn(&mut S) -> &mut T + Send + Sync> Visit<S> for Subflow<T, F> {
    fn visit<'a>(&'a self, state: &'a mut S, path: &'a [At<'a>], here: Here<'a>) -> Visited<'a> {
        self.flow.visit((self.part)(state), path, here)
    }

    fn operation(&self, path: &[At<'_>]) -> Operation {
        self.flow.operation(path)
    }
}
