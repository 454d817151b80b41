use std::fmt;
use std::sync::Arc;

use crate::context::Here;
use crate::visit::{BoxFuture, Failure, Visit};
use crate::wiring::Wiring;
use crate::{Action, Ended, FlowBuilder, Mermaid, Run, RunError};

/// A checked graph of nodes over a state `S`, ready to run as often as wanted, also many times at
/// once: a run's position lives in the [`Run`], not in the flow.
///
/// # Example
///
/// See the [crate's front page](crate).
pub struct Flow<S> {
    pub(crate) wiring: Arc<Wiring>,
    pub(crate) visits: Vec<Box<dyn Visit<S>>>,
}

impl<S> Flow<S> {
    /// Starts wiring a flow; the name stands in errors and drawings.
    pub fn builder(name: impl Into<String>) -> FlowBuilder<S> {
        FlowBuilder::new(name.into())
    }

    /// The flow's name.
    pub fn name(&self) -> &str {
        &self.wiring.name
    }

    /// The labels on which the flow can end, each once.
    pub fn actions(&self) -> Vec<Action> {
        self.wiring.end_actions()
    }

    /// Runs the flow over `state` to an end, within [`Run::DEFAULT_MAX_STEPS`].
    ///
    /// The future may be dropped at any `await`: the state is then as after the last whole step.
    ///
    /// # Errors
    ///
    /// When a node fails, answers an action it does not declare, or the limit of steps is reached.
    pub async fn run(&self, state: &mut S) -> Result<Ended, RunError> {
        self.begin().finish(state).await
    }

    /// A run at the flow's start, to be stepped through, or to be given limits first.
    pub fn begin(&self) -> Run<'_, S> {
        Run::new(self)
    }

    /// The flow as a Mermaid flowchart.
    pub fn mermaid(&self) -> Mermaid<'_> {
        Mermaid::new(&self.wiring)
    }

    #[expect(clippy::indexing_slicing, reason = "the run gives one index a level, made from this wiring")]
    pub(crate) fn visit<'a>(
        &'a self,
        state: &'a mut S,
        position: &'a [usize],
        here: Here<'a>,
    ) -> BoxFuture<'a, Result<Action, Failure>> {
        self.visits[position[0]].visit(state, &position[1..], here)
    }
}

impl<S> fmt::Debug for Flow<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Flow").field(&self.wiring).finish()
    }
}
