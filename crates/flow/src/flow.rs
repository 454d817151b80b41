use std::fmt;
use std::num::NonZeroU32;

use crate::error::{Kind, RunError};
use crate::execute::graph::Graph;
use crate::execute::visit::SentItem;
use crate::failed::Failed;
use crate::journal::WorkError;
use crate::location::Location;
use crate::places::batch::key_of;
use crate::spans::ItemSpan;
use crate::step_name::unescaped;
use crate::wrap::FailedAttempt;
use crate::{Action, Ended, FlowGraph, Graphviz, Mermaid, Run, Shape};

/// A checked graph of nodes over a state `S`. It can be run any number of times, also concurrently,
/// because the position of a run is stored in its [`Run`]. Clones share the graph, so cloning is
/// cheap.
///
/// # Example
///
/// See the [crate's front page](crate).
pub struct Flow<S> {
    pub(crate) graph: Graph<S>,
}

impl<S> Flow<S> {
    /// Returns the name of the flow.
    pub fn name(&self) -> &str {
        &self.graph.wiring.name
    }

    /// Returns the actions on which the flow can end, without repetitions.
    pub fn actions(&self) -> Vec<Action> {
        self.graph.wiring.end_actions()
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
        let places = self.graph.wiring.without_end();
        places.map(|place| place.name.as_str()).collect()
    }

    /// Runs the flow over `state` until it ends, with at most [`Run::DEFAULT_MAX_STEPS`] steps.
    ///
    /// If the future is dropped, the state is as it was after the last complete step.
    ///
    /// # Errors
    ///
    /// The same as [`Run::finish`].
    pub async fn run(&self, state: &mut S) -> Result<Ended, RunError> {
        self.begin().finish(state).await
    }

    /// Returns a run at the start of the flow. Use it to change settings before the run, or to take
    /// its steps one by one.
    pub fn begin(&self) -> Run<'_, S> {
        Run::new(&self.graph)
    }

    /// Returns the flow as a Mermaid flowchart.
    pub fn mermaid(&self) -> Mermaid<'_> {
        Mermaid::new(&self.graph.wiring, None)
    }

    /// Returns the flow in the DOT language of Graphviz.
    pub fn graphviz(&self) -> Graphviz<'_> {
        Graphviz::new(&self.graph.wiring, None)
    }

    /// Returns the graph of the flow as data, which can be written as JSON.
    ///
    /// Flows that are nested deeper than [`FlowGraph::MAX_DEPTH`] are omitted.
    pub fn graph(&self) -> FlowGraph {
        FlowGraph::of(&self.graph.wiring)
    }

    /// Returns the parts of the flow that a recorded run depends on, and that must not change
    /// before it ends.
    pub fn shape(&self) -> Shape {
        Shape::of(&self.graph.wiring)
    }

    /// Runs `prep` and `exec`, with the retries around the node, on one item of a
    /// [`Batch`](crate::Batch) that an engine sent to this process. Returns the bytes that
    /// [`Journal::fan_out`](crate::journal::Journal::fan_out) has to return for the item.
    ///
    /// `batch` is the name of the batch, preceded by the names of the subflows, items and branches
    /// around it: `page/fetch`, as returned by [`StepName::place`](crate::StepName::place). `item`
    /// is the return value of [`Items::data`](crate::journal::Items::data).
    ///
    /// # Errors
    ///
    /// Returns an error if the flow has no batch with this name, if the bytes aren't one of its
    /// items, or if the work fails.
    pub async fn exec_item(&self, batch: &str, item: &[u8]) -> Result<Vec<u8>, RunError> {
        let item = SentItem {
            data: item,
            attempt: None,
        };
        self.work_on_item(batch, item)
            .await
            .map_err(|failed| failed.error)
    }

    /// Makes a single attempt at an item, for an engine that does its own retries. `number` is the
    /// number of the attempt, starting at 1.
    ///
    /// # Errors
    ///
    /// The same as [`exec_item`](Flow::exec_item). The error also contains the delay before the
    /// next attempt: the one that a [`Retry`](crate::wrap::Retry) around the node would use after
    /// this many attempts.
    pub async fn attempt_item(
        &self,
        batch: &str,
        item: &[u8],
        number: NonZeroU32,
    ) -> Result<Vec<u8>, FailedAttempt<RunError>> {
        let item = SentItem {
            data: item,
            attempt: Some(number),
        };
        self.work_on_item(batch, item).await
    }

    async fn work_on_item(
        &self,
        batch: &str,
        item: SentItem<'_>,
    ) -> Result<Vec<u8>, FailedAttempt<RunError>> {
        let place: Vec<String> = batch.split('/').map(unescaped).collect();
        let Some(work) = self.graph.exec_item(&place, item) else {
            let location = Location {
                flow_path: vec![self.name().to_owned()],
                node: batch.to_owned(),
            };
            let error = RunError::new(location, Kind::NoBatch);
            return Err(FailedAttempt {
                error,
                again_in: None,
            });
        };

        let span = ItemSpan::open(self.name(), batch, || key_of(item.data));
        let done = match &span {
            Some(span) => span.around(work).await,
            None => work.await,
        };

        done.map_err(|WorkError { failed, again_in }| {
            let error = self.item_failed(place, failed);
            if let Some(span) = &span {
                span.failed(&error);
            }
            FailedAttempt { error, again_in }
        })
    }

    fn item_failed(&self, mut place: Vec<String>, failed: Failed) -> RunError {
        let node = place.pop().unwrap_or_default();
        place.insert(0, self.name().to_owned());
        RunError::new(
            Location {
                flow_path: place,
                node,
            },
            Kind::Node(Box::new(failed)),
        )
    }
}

impl<S> Clone for Flow<S> {
    fn clone(&self) -> Self {
        Self {
            graph: self.graph.clone(),
        }
    }
}

impl<S> fmt::Debug for Flow<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Flow").field(&self.graph.wiring).finish()
    }
}
