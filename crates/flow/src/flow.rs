use std::fmt;
use std::num::NonZeroU32;

use crate::error::{Kind, RunError};
use crate::execute::graph::Graph;
use crate::execute::visit::SentItem;
use crate::failed::Failed;
use crate::journal::WorkError;
use crate::location::Location;
use crate::step_name::unescaped;
use crate::wrap::FailedAttempt;
use crate::{Action, Ended, Graphviz, Mermaid, Run, Shape};

/// A checked graph of nodes over a state `S`. It can be run any number of times, also at once: the
/// position of a run is in the [`Run`], not in the flow.
///
/// # Example
///
/// See the [crate's front page](crate).
pub struct Flow<S> {
    pub(crate) graph: Graph<S>,
}

impl<S> Flow<S> {
    /// The flow's name.
    pub fn name(&self) -> &str {
        &self.graph.wiring.name
    }

    /// The labels on which the flow can end, each once.
    pub fn actions(&self) -> Vec<Action> {
        self.graph.wiring.end_actions()
    }

    /// Runs the flow over `state` to an end, within [`Run::DEFAULT_MAX_STEPS`].
    ///
    /// The future may be dropped at any `await`: the state is then as after the last whole step.
    ///
    /// # Errors
    ///
    /// As [`Run::finish`].
    pub async fn run(&self, state: &mut S) -> Result<Ended, RunError> {
        self.begin().finish(state).await
    }

    /// A run at the flow's start, to be stepped through, or to be given limits first.
    pub fn begin(&self) -> Run<'_, S> {
        Run::new(&self.graph)
    }

    /// The flow as a Mermaid flowchart.
    pub fn mermaid(&self) -> Mermaid<'_> {
        Mermaid::new(&self.graph.wiring, None)
    }

    /// The flow in the DOT language of Graphviz.
    pub fn graphviz(&self) -> Graphviz<'_> {
        Graphviz::new(&self.graph.wiring, None)
    }

    /// What must not change while a run of this flow is on record.
    pub fn shape(&self) -> Shape {
        Shape::of(&self.graph.wiring)
    }

    /// Does the work on one item of a [`Batch`](crate::Batch), for an engine that has sent the item
    /// to this process: `prep` and `exec`, with the retries around the node. Returns the bytes that
    /// [`Journal::fan_out`](crate::journal::Journal::fan_out) is to return for the item.
    ///
    /// `batch` is the batch's name; inside subflows, items and branches, with the names of those
    /// before it: `page/fetch`, as [`StepName::place`](crate::StepName::place) returns it. `item` is
    /// what [`Items::data`](crate::journal::Items::data) returns.
    ///
    /// # Errors
    ///
    /// When there is no batch of this name, the bytes are not an item of it, or the work fails.
    pub async fn exec_item(&self, batch: &str, item: &[u8]) -> Result<Vec<u8>, RunError> {
        let item = SentItem {
            data: item,
            attempt: None,
        };
        self.work_on_item(batch, item)
            .await
            .map_err(|failed| failed.error)
    }

    /// The same once, for an engine that tries again by itself. `number` counts from 1.
    ///
    /// # Errors
    ///
    /// As [`exec_item`](Flow::exec_item), and how long to wait before the next attempt: what a
    /// [`Retry`](crate::wrap::Retry) around the node would do after so many.
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

        work.await.map_err(|WorkError { failed, again_in }| {
            let error = self.item_failed(place, failed);
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

impl<S> fmt::Debug for Flow<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Flow").field(&self.graph.wiring).finish()
    }
}
