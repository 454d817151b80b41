//! Counts of visits, for drawings.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use super::figures::{DrawnFlow, Figure};
use crate::wiring::{Inside, Target, Wiring};
use crate::{Action, Level, StepName};

/// A counter for each place and edge of a flow.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counts {
    /// The name of the flow.
    flow: String,
    /// Indexed by the ids of the drawing.
    spots: Vec<Spot>,
    /// The places of the outermost flow by their names.
    outermost: HashMap<String, usize>,
    /// The number of events that were lost.
    lost: u64,
    last: Option<Last>,
}

/// A place, or a branch of one.
#[derive(Debug, Clone, Default)]
struct Spot {
    entered: u64,
    /// Whether the place or anything inside it was entered.
    reached: bool,
    exits: Vec<Exit>,
    /// The id of the box around it.
    inside: Option<usize>,
    is_subflow: bool,
    /// The ids of the places inside it, by name.
    spots: HashMap<String, usize>,
}

#[derive(Debug, Clone)]
struct Exit {
    action: Action,
    is_end: bool,
    taken: u64,
}

/// Where a run stopped.
#[derive(Debug, Clone)]
struct Last {
    run: Arc<str>,
    /// More than one if several items or branches wait.
    spots: HashSet<usize>,
    stop: Stop,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    Ended,
    Paused,
    Failed,
}

impl Counts {
    /// Creates counters at zero.
    pub(crate) fn of(wiring: &Wiring) -> Self {
        let mut counts = Self {
            flow: wiring.name.clone(),
            ..Self::default()
        };
        for figure in &DrawnFlow::of(wiring).figures {
            counts.add(figure);
        }

        counts
    }

    /// Adds a counter for a figure, and for those inside it.
    fn add(&mut self, figure: &Figure<'_>) {
        if self.spots.len() <= figure.id {
            self.spots.resize(figure.id + 1, Spot::default());
        }

        if let Some(spot) = self.spots.get_mut(figure.id) {
            *spot = Spot::of(figure);
        }

        let around = match figure.inside {
            None => Some(&mut self.outermost),
            Some(id) => self.spots.get_mut(id).map(|spot| &mut spot.spots),
        };
        if let Some(around) = around {
            around.insert(figure.name.to_owned(), figure.id);
        }

        for inner in figure.figures() {
            self.add(inner);
        }
    }

    /// Returns the id of the place of a step.
    pub(crate) fn find(&self, step: &StepName) -> Option<usize> {
        let (outermost, levels) = step.within.split_first()?;
        if !matches!(outermost, Level::Flow(name) if *name == self.flow) {
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

    /// Counts a visit. A run that had stopped has been resumed.
    pub(crate) fn enter(&mut self, id: usize, run: &str) {
        let stopped_before = self.last.as_ref().is_some_and(|last| *last.run == *run);
        if stopped_before {
            self.last = None;
        }

        if let Some(spot) = self.spots.get_mut(id) {
            spot.entered = spot.entered.saturating_add(1);
        }

        // If a place was reached before, so was everything around it.
        let mut around = Some(id);
        while let Some(spot) = around.and_then(|id| self.spots.get_mut(id)) {
            if spot.reached {
                return;
            }

            spot.reached = true;
            around = spot.inside;
        }
    }

    /// Counts an edge. At the end of a subflow, the action also leaves the subflow.
    pub(crate) fn leave(&mut self, id: usize, action: &Action) {
        let mut left = Some(id);
        while let Some(spot) = left.and_then(|id| self.spots.get_mut(id)) {
            let Some(exit) = spot.exits.iter_mut().find(|exit| exit.action == *action) else {
                return;
            };

            exit.taken = exit.taken.saturating_add(1);

            let around = spot.inside.filter(|_| exit.is_end);
            left = around.filter(|id| self.spots.get(*id).is_some_and(|spot| spot.is_subflow));
        }
    }

    /// Records where a run stopped, unless that isn't in this flow.
    pub(crate) fn stopped(&mut self, run: &Arc<str>, spots: HashSet<usize>, stop: Stop) {
        if !spots.is_empty() {
            self.last = Some(Last {
                run: Arc::clone(run),
                spots,
                stop,
            });
        }
    }

    pub(crate) fn lose(&mut self, events: u64) {
        self.lost = self.lost.saturating_add(events);
    }

    /// Returns the mark of a place.
    pub(super) fn mark(&self, figure: &Figure<'_>) -> Mark {
        let id = figure.id;
        let spot = self.spots.get(id);
        let last = self.last.as_ref().filter(|last| last.spots.contains(&id));

        Mark {
            // Mermaid leaves room for one line above a box.
            separator: if figure.is_box() { ", " } else { "\n" },
            entered: spot.map_or(0, |spot| spot.entered),
            reached: spot.is_some_and(|spot| spot.reached),
            stop: last.map(|last| last.stop),
        }
    }

    /// Returns how often an exit of a place was taken.
    pub(crate) fn taken(&self, id: usize, exit: usize) -> Times {
        let exit = self.spots.get(id).and_then(|spot| spot.exits.get(exit));
        Times(exit.map_or(0, |exit| exit.taken))
    }

    /// Returns a note on events that were lost, if any were.
    pub(crate) fn lost_note(&self) -> Option<String> {
        if self.lost == 0 {
            return None;
        }

        let plural = if self.lost == 1 { " was" } else { "s were" };
        Some(format!(
            "{} event{plural} lost: the counts are lower bounds",
            self.lost
        ))
    }
}

impl Spot {
    fn of(figure: &Figure<'_>) -> Self {
        let place = figure.place;
        let exits = place.into_iter().flat_map(|place| &place.exits);
        let exits = exits.map(|exit| Exit {
            action: exit.action.clone(),
            is_end: exit.target == Target::End,
            taken: 0,
        });

        Self {
            exits: exits.collect(),
            inside: figure.inside,
            is_subflow: place.is_some_and(|place| matches!(place.inside, Inside::Subflow(_))),
            ..Self::default()
        }
    }
}

/// The number of visits to a place, and whether a run stopped there.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Mark {
    separator: &'static str,
    entered: u64,
    pub(crate) reached: bool,
    pub(crate) stop: Option<Stop>,
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            separator,
            entered,
            stop,
            ..
        } = self;

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

/// A number of times; zero is displayed as nothing.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Times(pub(crate) u64);

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return Ok(());
        }
        write!(f, " {}×", self.0)
    }
}
