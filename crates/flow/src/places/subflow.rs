use crate::Flow;
use crate::engine::Operation;
use crate::execute::context::Here;
use crate::execute::visit::{Visit, Visited};

/// A flow over a part of the state, which the cursor of the run enters.
pub(crate) struct Subflow<T, F> {
    pub(crate) flow: Flow<T>,
    pub(crate) part: F,
}

impl<S, T, F: Fn(&mut S) -> &mut T + Send + Sync> Visit<S> for Subflow<T, F> {
    fn visit<'a>(&'a self, state: &'a mut S, position: &'a [usize], here: Here<'a>) -> Visited<'a> {
        self.flow.visit((self.part)(state), position, here)
    }

    fn operation(&self, position: &[usize]) -> Operation {
        self.flow.operation(position)
    }
}
