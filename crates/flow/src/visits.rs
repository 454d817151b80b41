use std::collections::HashSet;
use std::iter;
use std::sync::Arc;

use crate::drawing::counts::{Counts, Stop};
use crate::wiring::Wiring;
use crate::{Event, EventKind, Flow, Level, Mermaid, Paused, StepName};

/// The number of visits to each node and edge of a flow, counted from the events of any number of
/// runs, to be drawn on the flow.
///
/// Steps inside items and branches are summed per place. A step that is repeated, from a journal or
/// after a failure, counts again. The drawings show where the last run ended, paused or failed, and
/// the number of lost events.
///
/// The counts don't borrow the flow. Their size depends only on the size of the flow, not on the
/// number of events.
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
/// let (sink, mut stream) = events(100);
/// flow.begin().with_events(sink).finish(&mut 10).await?;
/// let mut visits = Visits::of(&flow);
/// while let Some(event) = stream.next().await {
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
    /// Creates counts for a flow, all zero.
    pub fn of<S>(flow: &Flow<S>) -> Self {
        let wiring = Arc::clone(&flow.graph.wiring);
        let counts = Counts::of(&wiring);
        Self { wiring, counts }
    }

    /// Counts an event. Ignores events of flows with other names and of places that this flow
    /// doesn't have.
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

                // Items and branches end too, and the run continues.
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

    /// Returns the flow as a Mermaid flowchart with the visits: edges that were taken are thick,
    /// places that weren't visited are faint, and the place where the last run stopped has a
    /// border.
    pub fn mermaid(&self) -> Mermaid<'_> {
        Mermaid::new(&self.wiring, Some(&self.counts))
    }
}
