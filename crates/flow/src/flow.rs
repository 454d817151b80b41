use std::fmt;
use std::sync::Arc;

use crate::draw::FlowGraph;
use crate::execute::visit::Visit;
use crate::wiring::Wiring;
use crate::{Action, Ended, Run, RunError};

/// A checked graph of nodes over a state `S`. It can be run any number of times, also concurrently,
/// because the position of a run is stored in its [`Run`]. Clones share the graph, so cloning is
/// cheap.
///
/// # Example
///
/// See the [crate's front page](crate).
pub struct Flow<S> {
    pub(crate) wiring: Arc<Wiring>,
    /// The visits of the places, in their order.
    pub(crate) visits: Arc<[Box<dyn Visit<S>>]>,
}

impl<S> Flow<S> {
    /// Returns the name of the flow.
    pub fn name(&self) -> &str {
        &self.wiring.name
    }

    /// Returns the actions on which the flow can end, sorted and without repetitions.
    pub fn actions(&self) -> Vec<Action> {
        self.wiring.end_actions().into_iter().collect()
    }

    /// Returns the names of the nodes from which the flow cannot end: no path leads from them to an
    /// end, to a node that waits for an event, or to a sleep.
    ///
    /// A run that visits such a node continues until a node fails, it reaches its limit of steps, or
    /// it is dropped. [`build`](crate::FlowBuilder::build) accepts such nodes, because a program may
    /// stop its runs in one of these ways. If none should, test that this list is empty.
    ///
    /// ```
    /// use cogwork_flow::{Action, Flow, from_fn};
    ///
    /// let flow = Flow::builder("count")
    ///     .start("add")
    ///     .node("add", from_fn(|n: &mut u32| *n += 1))
    ///     .edge("add", Action::DEFAULT, "add")
    ///     .build()?;
    /// assert_eq!(flow.nodes_without_end(), ["add"]);
    /// # Ok::<(), cogwork_flow::BuildError>(())
    /// ```
    pub fn nodes_without_end(&self) -> Vec<&str> {
        let places = self.wiring.without_end();
        places.map(|place| place.name.as_str()).collect()
    }

    /// Runs the flow over `state` until it ends, with at most [`Run::DEFAULT_MAX_STEPS`] steps.
    ///
    /// If the future is dropped, the state is as it was after the last complete step.
    ///
    /// # Errors
    ///
    /// The same as [`Run::finish`].
    pub fn run(&self, state: &mut S) -> impl Future<Output = Result<Ended, RunError>> {
        let mut run = self.begin();
        async move { run.finish(state).await }
    }

    /// Returns a run at the start of the flow. Use it to change settings before the run, or to take
    /// its steps one by one.
    pub fn begin(&self) -> Run<'_, S> {
        Run::new(self)
    }

    /// Returns the flow as a Mermaid flowchart; see [`FlowGraph::mermaid`].
    pub fn mermaid(&self) -> String {
        self.graph().mermaid()
    }

    /// Returns the graph of the flow as data, which can be written as JSON.
    pub fn graph(&self) -> FlowGraph {
        FlowGraph::of(&self.wiring)
    }
}

impl<S> Clone for Flow<S> {
    fn clone(&self) -> Self {
        Self {
            wiring: Arc::clone(&self.wiring),
            visits: Arc::clone(&self.visits),
        }
    }
}

impl<S> fmt::Debug for Flow<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flow")
            .field("name", &self.name())
            .finish_non_exhaustive()
    }
}
