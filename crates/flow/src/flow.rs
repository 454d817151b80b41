use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;

use crate::context::Here;
use crate::journal::WorkError;
use crate::step;
use crate::visit::{ExecItem, Visit, Visited};
use crate::wiring::Wiring;
use crate::{Action, Ended, FailedAttempt, FlowBuilder, Graphviz, Mermaid, Run, RunError, Shape};

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
    /// As [`Run::finish`].
    pub async fn run(&self, state: &mut S) -> Result<Ended, RunError> {
        self.begin().finish(state).await
    }

    /// A run at the flow's start, to be stepped through, or to be given limits first.
    pub fn begin(&self) -> Run<'_, S> {
        Run::new(self)
    }

    /// The flow as a Mermaid flowchart.
    pub fn mermaid(&self) -> Mermaid<'_> {
        Mermaid::new(&self.wiring, None)
    }

    /// The flow in the DOT language of Graphviz.
    pub fn graphviz(&self) -> Graphviz<'_> {
        Graphviz::new(&self.wiring, None)
    }

    /// What must not change while a run of this flow is on record.
    pub fn shape(&self) -> Shape {
        Shape::of(&self.wiring)
    }

    /// Does the work on one item of a [`Batch`](crate::Batch), for an engine that has sent the
    /// item to this process: `prep` and `exec`, with the retries around the node. Answers the bytes
    /// that [`Journal::fan_out`](crate::Journal::fan_out) is to answer for the item.
    ///
    /// `batch` is the batch's name; inside subflows, items and branches with the names of those
    /// before it: `page/fetch`, as [`StepName::place`](crate::StepName::place) says it. `item` is
    /// what [`Items::data`](crate::Items::data) says.
    ///
    /// # Errors
    ///
    /// When no batch stands there, the bytes are no item of it, or the work fails.
    pub async fn exec_item(&self, batch: &str, item: &[u8]) -> Result<Vec<u8>, RunError> {
        self.work_on_item(batch, item, None).await.map_err(|failed| failed.error)
    }

    /// The same once, for an engine that tries again by itself. `number` counts from 1.
    ///
    /// # Errors
    ///
    /// As [`exec_item`](Flow::exec_item), and how long to wait before the next attempt: what a
    /// [`Retry`](crate::Retry) around the node would do after so many.
    pub async fn attempt_item(
        &self,
        batch: &str,
        item: &[u8],
        number: NonZeroU32,
    ) -> Result<Vec<u8>, FailedAttempt<RunError>> {
        self.work_on_item(batch, item, Some(number)).await
    }

    async fn work_on_item(
        &self,
        batch: &str,
        item: &[u8],
        number: Option<NonZeroU32>,
    ) -> Result<Vec<u8>, FailedAttempt<RunError>> {
        let mut place: Vec<String> = batch.split('/').map(step::unescaped).collect();
        let Some(work) = self.exec_item_at(&place, item, number) else {
            return Err(FailedAttempt { error: RunError::no_batch(self.name(), batch), again_in: None });
        };
        work.await.map_err(|WorkError { failed, again_in }| {
            let node = place.pop().unwrap_or_default();
            place.insert(0, self.name().to_owned());
            FailedAttempt { error: RunError::failed(place, &node, failed.into()), again_in }
        })
    }

    pub(crate) fn exec_item_at<'a>(
        &'a self,
        place: &[String],
        item: &'a [u8],
        number: Option<NonZeroU32>,
    ) -> Option<ExecItem<'a>> {
        let (name, rest) = place.split_first()?;
        self.visits.get(self.wiring.index(name)?)?.exec_item(rest, item, number)
    }

    #[expect(clippy::indexing_slicing, reason = "the run gives one index a level, made from this wiring")]
    pub(crate) fn visit<'a>(
        &'a self,
        state: &'a mut S,
        position: &'a [usize],
        here: Here<'a>,
    ) -> Visited<'a> {
        self.visits[position[0]].visit(state, &position[1..], here)
    }
}

impl<S> fmt::Debug for Flow<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Flow").field(&self.wiring).finish()
    }
}
