use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use std::{iter, mem};

use tracing::{Span, debug, error, field, info, info_span, warn};

use crate::{Action, Event, EventKind, Events, Level, Phase, StepName};

/// Writes runs as `tracing` spans. Reads events until all sinks are dropped.
///
/// | | level | fields |
/// |---|---|---|
/// | span `run` | info | `run` |
/// | span `step`, inside its run or the step around it | info | `flow`, `node`, `number`, `at_us`, `exec_us`, `action`, `took_us` |
/// | event `retrying` | warn | `attempts`, `delay_us`, `error`, `item` |
/// | event `replayed` | debug | `item` |
/// | event `noted` | debug | `text`, `item` |
/// | event `paused` | info | `event`, `why` |
/// | event `failed` | error | `error` |
/// | event `ended` | info | `action`, `steps` |
/// | event `events were lost` | warn | `count` |
///
/// Spans are written when the events are read, so a slow subscriber never delays a run. The times
/// that a subscriber measures are therefore wrong. The times of the run are fields: `at_us` from
/// the start of the run to the step, `exec_us` and `took_us` for `exec` and the whole step, in
/// microseconds. Code inside `exec` doesn't run inside the span.
///
/// The memory used is bounded: lost events close all open spans, and the span of a run is closed
/// when 20,000 other runs sent events since its last one. Later events open new spans.
///
/// ```
/// use cogwork_flow::{Flow, events, from_fn, write_spans};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let flow = Flow::builder("greet")
///     .start("hello")
///     .node("hello", from_fn(|text: &mut String| text.push_str("Hello")))
///     .end("hello", "default")
///     .build()?;
///
/// let (sink, stream) = events(1_000);
/// let writer = tokio::spawn(write_spans(stream));
/// flow.begin().with_events(sink).finish(&mut String::new()).await?;
/// writer.await?; // ends with the last sink
/// # Ok(())
/// # }
/// ```
pub async fn write_spans(mut events: Events) {
    let mut runs = Runs::default();
    while let Some(event) = events.next().await {
        runs.write(&event);
    }
}

/// The maximum number of runs in each half; see [`Runs`].
const MAX_RUNS: usize = 10_000;

/// The last [`MAX_RUNS`] or fewer runs with events, and the runs before them. When the younger half
/// is full, the older half is dropped: a run whose future was dropped never sends an end.
#[derive(Default)]
struct Runs {
    young: HashMap<Arc<str>, Run>,
    old: HashMap<Arc<str>, Run>,
}

impl Runs {
    fn write(&mut self, event: &Event) {
        if let EventKind::Lost { count } = event.kind {
            warn!(count, "events were lost");
            *self = Self::default();
            return;
        }

        let run = self
            .young
            .remove(&event.run)
            .or_else(|| self.old.remove(&event.run));
        let run = run.filter(|_| event.kind != EventKind::RunStarted); // it is taken up again
        let mut run = run.unwrap_or_else(|| Run::new(&event.run));

        if run.goes_on_after(event) {
            if self.young.len() >= MAX_RUNS {
                self.old = mem::take(&mut self.young);
            }
            self.young.insert(Arc::clone(&event.run), run);
        }
    }
}

struct Run {
    span: Span,
    /// The open steps: one in the flow of the run and its subflows, and one in each item and
    /// branch, by their path. A flow takes one step at a time, so a new step closes the last one.
    steps: HashMap<Vec<Level>, Step>,
}

struct Step {
    number: u64,
    span: Span,
    at: Duration,
}

impl Run {
    fn new(id: &str) -> Self {
        Self {
            span: info_span!("run", run = id),
            steps: HashMap::new(),
        }
    }

    /// Writes an event. Returns whether the run continues.
    fn goes_on_after(&mut self, event: &Event) -> bool {
        if let EventKind::Paused(paused) = &event.kind {
            for paused in iter::once(paused).chain(&paused.also) {
                let span = self.step(&paused.step, event.at);
                info!(parent: &span, event = paused.event, why = paused.why, "paused");
            }
            return false;
        }

        let Some(name) = event.step.as_deref() else {
            return event.kind == EventKind::RunStarted;
        };

        let item = name.item;
        let call = name.call.as_ref().map(field::display);
        if event.kind == EventKind::StepEntered {
            self.steps.remove(way_to(&name.within)); // it is taken again
        }

        let span = self.step(name, event.at);
        match &event.kind {
            EventKind::PhaseFinished {
                phase: Phase::Exec,
                took,
            } if item.is_none() => {
                span.record("exec_us", us(*took));
            }
            EventKind::Retrying {
                attempts,
                delay,
                error,
            } => {
                warn!(parent: &span, attempts, delay_us = us(*delay), error, item, "retrying");
            }
            EventKind::Noted { text } => debug!(parent: &span, item, call, text, "noted"),
            EventKind::Replayed => debug!(parent: &span, item, call, "replayed"),
            EventKind::Moved { action, .. } => self.left(name, action, event.at),
            EventKind::Ended { action, steps } => {
                self.left(name, action, event.at);
                drop(span);
                if way_to(&name.within).is_empty() {
                    info!(parent: &self.span, action = action.as_str(), steps, "ended");
                    return false;
                }
            }
            EventKind::Failed { error } => {
                error!(parent: &span, error, "failed");
                return false;
            }
            _ => {}
        }

        true
    }

    /// Returns the span of a step, inside the spans of the steps around it. Spans that aren't open
    /// yet are opened, since the events of their start may have been lost.
    fn step(&mut self, name: &StepName, at: Duration) -> Span {
        let mut around = self.span.clone();
        for (depth, level) in name.within.iter().enumerate() {
            if let Level::Item { node, number, .. } | Level::Branch { node, number, .. } = level {
                let within = name.within.get(..depth).unwrap_or_default();
                around = self.open(&around, within, node, *number, at);
            }
        }

        self.open(&around, &name.within, &name.node, name.number, at)
    }

    fn open(
        &mut self,
        around: &Span,
        within: &[Level],
        node: &str,
        number: u64,
        at: Duration,
    ) -> Span {
        match self.steps.get(way_to(within)) {
            Some(step) if step.number == number => step.span.clone(),
            _ => {
                let flow: Vec<String> = within.iter().map(Level::to_string).collect();
                let span = info_span!(
                    parent: around,
                    "step",
                    flow = flow.join("/"),
                    node,
                    number,
                    at_us = us(at),
                    exec_us = field::Empty,
                    action = field::Empty,
                    took_us = field::Empty,
                );

                let step = Step {
                    number,
                    span: span.clone(),
                    at,
                };

                self.steps.insert(way_to(within).to_vec(), step);
                span
            }
        }
    }

    fn left(&mut self, name: &StepName, action: &Action, at: Duration) {
        if let Some(step) = self.steps.remove(way_to(&name.within)) {
            step.span.record("action", action.as_str());
            step.span.record("took_us", us(at.saturating_sub(step.at)));
        }
    }
}

/// The path to the run of a flow. Subflows are part of the run around them.
fn way_to(within: &[Level]) -> &[Level] {
    let last = within
        .iter()
        .rposition(|level| !matches!(level, Level::Flow(_)));
    last.and_then(|last| within.get(..=last))
        .unwrap_or_default()
}

fn us(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
