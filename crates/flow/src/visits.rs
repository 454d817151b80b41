use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use crate::drawing::{Figure, Part, Parts};
use crate::wiring::{Inside, Target, Wiring};
use crate::{Action, Event, EventKind, Flow, Graphviz, Level, Mermaid, StepName};

/// How often the nodes of a flow were entered and its edges taken, counted from the events of any
/// number of runs, to be drawn on the flow.
///
/// Steps inside items and branches are summed under the places they stand in. A step that is taken
/// again, from a journal or after a failure, counts again. The drawings say where the last run that
/// told of it ended, paused or failed, and how many events are missing.
///
/// It stands apart from the flow and has a counter for each node and edge of it, however much is
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
/// flow.begin().events_to(sink).finish(&mut 10).await?;
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
    /// By the ids of the drawing.
    spots: Vec<Spot>,
    /// The places of the outermost flow by their names.
    outermost: HashMap<String, usize>,
    lost: u64,
    last: Option<Last>,
}

/// Where a run stopped, and which.
#[derive(Debug, Clone)]
struct Last {
    run: Arc<str>,
    /// Many where several items or branches wait.
    spots: HashSet<usize>,
    stop: Stop,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    Ended,
    Paused,
    Failed,
}

/// A place, or a branch of one.
#[derive(Debug, Clone, Default)]
struct Spot {
    entered: u64,
    /// Whether it or something inside it was entered.
    reached: bool,
    exits: Vec<Exit>,
    /// The id of what it is in.
    inside: Option<usize>,
    is_subflow: bool,
    /// What is in it, by name.
    spots: HashMap<String, usize>,
}

#[derive(Debug, Clone)]
struct Exit {
    action: Action,
    is_end: bool,
    taken: u64,
}

impl Visits {
    /// No visits yet to a flow.
    pub fn of<S>(flow: &Flow<S>) -> Self {
        let wiring = Arc::clone(&flow.wiring);
        let mut visits = Self {
            wiring: Arc::clone(&wiring),
            spots: Vec::new(),
            outermost: HashMap::new(),
            lost: 0,
            last: None,
        };
        for part in Parts::of(&wiring) {
            if let Part::Node(figure) | Part::Box(figure) = part {
                visits.add(figure);
            }
        }
        visits
    }

    fn add(&mut self, figure: Figure<'_>) {
        if self.spots.len() <= figure.id {
            self.spots.resize(figure.id + 1, Spot::default());
        }
        if let Some(spot) = self.spots.get_mut(figure.id) {
            spot.inside = figure.inside;
            spot.is_subflow = figure.place().is_some_and(|place| matches!(place.inside, Inside::Subflow(_)));
            let exits = figure.place().into_iter().flat_map(|place| &place.exits);
            spot.exits = exits
                .map(|exit| Exit {
                    action: exit.action.clone(),
                    is_end: exit.target == Target::End,
                    taken: 0,
                })
                .collect();
        }
        let around = match figure.inside {
            None => Some(&mut self.outermost),
            Some(id) => self.spots.get_mut(id).map(|spot| &mut spot.spots),
        };
        if let Some(around) = around {
            around.insert(figure.name().to_owned(), figure.id);
        }
    }

    /// Counts what an event tells. Events of flows of other names, and of places that this flow does
    /// not have, are not counted.
    pub fn count(&mut self, event: &Event) {
        if let EventKind::Lost { count } = &event.kind {
            self.lost = self.lost.saturating_add(*count);
        }
        if let EventKind::Paused(paused) = &event.kind {
            let waiting = std::iter::once(paused).chain(&paused.also);
            let spots = waiting.filter_map(|paused| self.find(&paused.step)).collect();
            self.stopped(event, spots, Stop::Paused);
        }
        let Some(step) = &event.step else { return };
        let Some(spot) = self.find(step) else { return };
        match &event.kind {
            EventKind::StepEntered => {
                self.enter(spot);
                if self.last.as_ref().is_some_and(|last| last.run == event.run) {
                    self.last = None;
                }
            }
            EventKind::Moved { action, .. } => self.leave(spot, action),
            EventKind::Ended { action, .. } => {
                self.leave(spot, action);
                // Items and branches end too, and the run goes on.
                if step.within.iter().all(|level| matches!(level, Level::Flow(_))) {
                    self.stopped(event, HashSet::from([spot]), Stop::Ended);
                }
            }
            EventKind::Failed { .. } => self.stopped(event, HashSet::from([spot]), Stop::Failed),
            _ => {}
        }
    }

    fn stopped(&mut self, event: &Event, spots: HashSet<usize>, stop: Stop) {
        if !spots.is_empty() {
            self.last = Some(Last { run: Arc::clone(&event.run), spots, stop });
        }
    }

    /// The id of the place of a step.
    fn find(&self, step: &StepName) -> Option<usize> {
        let (outermost, levels) = step.within.split_first()?;
        if !matches!(outermost, Level::Flow(name) if *name == self.wiring.name) {
            return None;
        }
        let mut spots = &self.outermost;
        let mut into = |name: &str| {
            let id = *spots.get(name)?;
            spots = &self.spots.get(id)?.spots;
            Some(id)
        };
        for level in levels {
            match level {
                Level::Flow(node) | Level::Item { node, .. } => into(node)?,
                Level::Branch { node, branch, .. } => into(node).and_then(|_| into(branch))?,
            };
        }
        into(&step.node)
    }

    fn enter(&mut self, id: usize) {
        let Some(spot) = self.spots.get_mut(id) else { return };
        spot.entered = spot.entered.saturating_add(1);
        let mut around = Some(id);
        // What is around a place that was reached was reached before.
        while let Some(spot) = around.and_then(|id| self.spots.get_mut(id)).filter(|spot| !spot.reached) {
            spot.reached = true;
            around = spot.inside;
        }
    }

    /// Takes the edge of the action; at the end of a subflow the label leaves that too.
    fn leave(&mut self, id: usize, action: &Action) {
        let mut left = Some(id);
        while let Some(spot) = left.and_then(|id| self.spots.get_mut(id)) {
            let Some(exit) = spot.exits.iter_mut().find(|exit| exit.action == *action) else { return };
            exit.taken = exit.taken.saturating_add(1);
            let around = spot.inside.filter(|_| exit.is_end);
            left = around.filter(|id| self.spots.get(*id).is_some_and(|spot| spot.is_subflow));
        }
    }

    /// The flow as a Mermaid flowchart with the visits on it: edges that were taken are thick, what
    /// was not visited is faint, and where the last run stands has a border of its own.
    pub fn mermaid(&self) -> Mermaid<'_> {
        Mermaid::new(&self.wiring, Some(self))
    }

    /// The same in the DOT language of Graphviz.
    pub fn graphviz(&self) -> Graphviz<'_> {
        Graphviz::new(&self.wiring, Some(self))
    }

    pub(crate) fn mark(&self, figure: Figure<'_>) -> Mark {
        let id = figure.id;
        let spot = self.spots.get(id);
        Mark {
            // Mermaid has room for one line above a box.
            separator: if figure.is_box() { ", " } else { "\n" },
            entered: spot.map_or(0, |spot| spot.entered),
            reached: spot.is_some_and(|spot| spot.reached),
            stop: self.last.as_ref().filter(|last| last.spots.contains(&id)).map(|last| last.stop),
        }
    }

    pub(crate) fn taken(&self, id: usize, exit: usize) -> Times {
        Times(self.spots.get(id).and_then(|spot| spot.exits.get(exit)).map_or(0, |exit| exit.taken))
    }

    /// What to write beside a drawing that does not show all there was.
    pub(crate) fn lost_note(&self) -> Option<String> {
        let plural = if self.lost == 1 { " was" } else { "s were" };
        (self.lost > 0).then(|| format!("{} event{plural} lost: each count is at least so many", self.lost))
    }
}

/// What a drawing says of a place.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Mark {
    separator: &'static str,
    entered: u64,
    pub(crate) reached: bool,
    pub(crate) stop: Option<Stop>,
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { separator, entered, stop, .. } = self;
        if *entered > 0 {
            write!(f, "{separator}{entered}×")?;
        }
        let stop = match stop {
            None => return Ok(()),
            Some(Stop::Ended) => "ended",
            Some(Stop::Paused) => "paused",
            Some(Stop::Failed) => "failed",
        };
        write!(f, "{separator}{stop} here")
    }
}

/// How often; says nothing of what was not done.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Times(pub(crate) u64);

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 { Ok(()) } else { write!(f, " {}×", self.0) }
    }
}
