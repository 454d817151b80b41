use crate::Operation;
use crate::execute::graph::Graph;
use crate::execute::graph::{Visit, Visited};
use crate::execute::here::Here;

/// A flow over a part of the state, which the cursor of the run enters.
pub(crate) struct Subflow<T, F> {
    pub(crate) graph: Graph<T>,
    pub(crate) part: F,
}

impl<S, T, F: Fn(&mut S) -> &mut T + Send + Sync> Visit<S> for Subflow<T, F> {
    fn visit<'a>(&'a self, state: &'a mut S, position: &'a [usize], here: Here<'a>) -> Visited<'a> {
        self.graph.visit((self.part)(state), position, here)
    }

    fn operation(&self, position: &[usize]) -> Operation {
        self.graph.operation(position)
    }
}
