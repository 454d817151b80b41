use std::collections::HashSet;
use std::iter;
use std::sync::Arc;

use crate::drawing::counts::{Counts, Stop};
use crate::wiring::Wiring;
use crate::{Event, EventKind, Flow, Graphviz, Level, Mermaid, Paused, StepName};

/// How often the nodes of a flow were entered and its edges taken, counted from the events of any
/// number of runs, to be drawn on the flow.
///
/// Steps inside items and branches are summed under their places. A step that is taken
/// again, from a journal or after a failure, counts again. The drawings say where the last run that
/// told of it ended, paused or failed, and how many events are missing.
///
/// It is independent of the flow, and has a counter for each node and edge of it, however much is
/// counted.
///
/// ```
/// use cogwork_flow::{Action, Flow, Visits, events, from_fn};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let flow = Flow::builder("countdown")
///     .start("count")
///     .node("count", from_fn(|left: &mut u32| {
///         *left -= 1;
///         Action::from_static(if *left == 0 { "lift off" } else { "again" })
///     }).with_actions(["again", "lift off", "abort"]))
///     .edge("count", "again", "count")
///     .end("count", "lift off")
///     .end("count", "abort")
///     .build()?;
///
/// let (sink, mut told) = events(100);
/// flow.begin().with_events(sink).finish(&mut 10).await?;
/// let mut visits = Visits::of(&flow);
/// while let Some(event) = told.next().await {
///     visits.count(&event);
/// }
/// let drawing = visits.mermaid().to_string();
/// assert!(drawing.contains(r#"n0 ==>|"again 9×"| n0"#));
/// assert!(drawing.contains(r#"n0 -.->|"abort"| end0(((end)))"#));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Visits {
    wiring: Arc<Wiring>,
    counts: Counts,
}

impl Visits {
    /// No visits yet to a flow.
    pub fn of<S>(flow: &Flow<S>) -> Self {
        let wiring = Arc::clone(&flow.graph.wiring);
        let counts = Counts::of(&wiring);
        Self { wiring, counts }
    }

    /// Counts what an event tells. Events of flows of other names, and of places that this flow does
    /// not have, are not counted.
    pub fn count(&mut self, event: &Event) {
        match &event.kind {
            EventKind::Lost { count } => self.counts.lose(*count),
            EventKind::Paused(paused) => self.pause(event, paused),
            _ => {}
        }

        if let Some(step) = &event.step {
            self.count_step(event, step);
        }
    }

    fn pause(&mut self, event: &Event, paused: &Paused) {
        let waiting = iter::once(paused).chain(&paused.also);
        let spots = waiting
            .filter_map(|paused| self.counts.find(&paused.step))
            .collect();
        self.counts.stopped(&event.run, spots, Stop::Paused);
    }

    fn count_step(&mut self, event: &Event, step: &StepName) {
        let Some(spot) = self.counts.find(step) else {
            return;
        };

        match &event.kind {
            EventKind::StepEntered => self.counts.enter(spot, &event.run),
            EventKind::Moved { action, .. } => self.counts.leave(spot, action),
            EventKind::Ended { action, .. } => {
                self.counts.leave(spot, action);

                // Items and branches end too, and the run goes on.
                if step
                    .within
                    .iter()
                    .all(|level| matches!(level, Level::Flow(_)))
                {
                    self.counts
                        .stopped(&event.run, HashSet::from([spot]), Stop::Ended);
                }
            }
            EventKind::Failed { .. } => {
                self.counts
                    .stopped(&event.run, HashSet::from([spot]), Stop::Failed);
            }
            _ => {}
        }
    }

    /// The flow as a Mermaid flowchart with the visits on it: edges that were taken are thick, what
    /// was not visited is faint, and the place where the last run stopped has a border of its own.
    pub fn mermaid(&self) -> Mermaid<'_> {
        Mermaid::new(&self.wiring, Some(&self.counts))
    }

    /// The same in the DOT language of Graphviz.
    pub fn graphviz(&self) -> Graphviz<'_> {
        Graphviz::new(&self.wiring, Some(&self.counts))
    }
}
