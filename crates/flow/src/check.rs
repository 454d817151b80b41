//! Checks a graph: looks up each name once and collects all problems.

use std::cell::OnceCell;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::mem;
use std::sync::Arc;

use crate::wiring::{Exit, Place, Target, Wiring, reached, targets};
use crate::{Action, WiringProblem};

/// An edge as it was added to a flow, with names.
pub(crate) struct Edge {
    pub(crate) from: String,
    pub(crate) action: Action,
    /// `None` for an end.
    pub(crate) to: Option<String>,
}

/// Returns the index of the start and the exits of each place, in the order of the places, or all
/// problems.
pub(crate) fn check(
    places: &[Place],
    starts: &[String],
    edges: &[Edge],
) -> Result<(usize, Vec<Vec<Exit>>), Vec<WiringProblem>> {
    let mut check = Check::new(places);
    let start = check.start(starts);
    let exits = check.exits(edges);
    // Without a start, every node would be reported as unreachable.
    if let Some(start) = start {
        check.unreachable(start, &exits);
    }

    match start {
        Some(start) if check.problems.is_empty() => Ok((start, exits)),
        _ => Err(check.problems),
    }
}

struct Check<'b> {
    /// The places with unique names, in order.
    places: Vec<&'b Place>,
    index: HashMap<&'b str, usize>,
    names: OnceCell<Arc<[String]>>,
    problems: Vec<WiringProblem>,
}

/// The declared actions of a place, sorted, and whether an edge was found for them. Most places have one or
/// two, which a hash map would take longer to hash than a search does.
type Declared<'b> = Vec<(&'b Action, bool)>;

fn declared(place: &Place) -> Declared<'_> {
    let mut actions: Vec<_> = place.actions.iter().map(|action| (action, false)).collect();
    actions.sort_unstable();
    // A node may declare an action twice, and one edge covers both.
    actions.dedup();
    actions
}

/// Sets that an edge was found for an action. Returns whether that was so before, or `None` if the action
/// isn't declared.
fn find(declared: &mut Declared<'_>, action: &Action) -> Option<bool> {
    let at = declared.binary_search_by_key(&action, |(action, _)| action);
    let (_, is_found) = declared.get_mut(at.ok()?)?;
    Some(mem::replace(is_found, true))
}

impl<'b> Check<'b> {
    fn new(places: &'b [Place]) -> Self {
        let mut check = Self {
            places: Vec::with_capacity(places.len()),
            index: HashMap::with_capacity(places.len()),
            names: OnceCell::new(),
            problems: Vec::new(),
        };

        if places.is_empty() {
            check.problems.push(WiringProblem::NoNodes);
        }

        let mut repeated = HashSet::new();
        for place in places {
            check.place(place);
            check.add(place, &mut repeated);
        }

        check
    }

    /// Checks a single place.
    fn place(&mut self, place: &Place) {
        let node = || place.name.clone();
        if place.actions.is_empty() {
            self.problems
                .push(WiringProblem::NoActions { node: node() });
        }

        // The steps of two branches with one name would have the same names in a journal.
        let mut known = HashSet::new();
        for (branch, _) in &place.inside.flows {
            if !known.insert(branch) {
                self.problems.push(WiringProblem::DuplicateBranch {
                    node: node(),
                    branch: branch.clone(),
                });
            }
        }

        let depth = place.inside.depth();
        if depth > Wiring::MAX_DEPTH {
            let node = node();
            self.problems.push(WiringProblem::TooDeep { node, depth });
        }
    }

    /// Adds a place under its name. A second place with the same name is left out of all other
    /// checks, because their messages would seem to be about the first.
    fn add(&mut self, place: &'b Place, repeated: &mut HashSet<&'b str>) {
        match self.index.entry(&place.name) {
            Entry::Vacant(free) => {
                free.insert(self.places.len());
                self.places.push(place);
            }
            // Reported once, however often the name is repeated.
            Entry::Occupied(_) if repeated.insert(&place.name) => {
                let node = place.name.clone();
                self.problems.push(WiringProblem::DuplicateNode { node });
            }
            Entry::Occupied(_) => {}
        }
    }

    fn start(&mut self, starts: &[String]) -> Option<usize> {
        let nodes = || self.names();
        let problem = match starts {
            [] => WiringProblem::NoStart { nodes: nodes() },
            [start] => match self.index.get(start.as_str()) {
                Some(index) => return Some(*index),
                None => WiringProblem::UnknownStart {
                    start: start.clone(),
                    nodes: nodes(),
                },
            },
            _ => WiringProblem::ManyStarts {
                starts: starts.to_vec(),
            },
        };

        self.problems.push(problem);
        None
    }

    /// Returns the exits of each place, in the order of the places.
    fn exits(&mut self, edges: &[Edge]) -> Vec<Vec<Exit>> {
        let mut exits: Vec<Vec<_>> = self.places.iter().map(|_| Vec::new()).collect();
        let mut declared: Vec<_> = self.places.iter().map(|place| declared(place)).collect();

        for edge in edges {
            // Before the source, so that an edge from nowhere to nowhere is reported twice.
            let target = self.target(edge);
            let action = edge.action.clone();

            let leaving = self
                .source(edge, &mut declared)
                .map(|index| exits.get_mut(index));
            match leaving {
                Ok(Some(exits)) => exits.push(Exit { action, target }),
                Ok(None) => {}
                Err(problem) => self.problems.push(problem),
            }
        }

        for (place, declared) in self.places.iter().zip(&mut declared) {
            for action in place.actions.iter() {
                // Reported once, even if it is declared twice.
                if find(declared, action) == Some(false) {
                    self.problems.push(WiringProblem::ActionLeadsNowhere {
                        node: place.name.clone(),
                        action: action.clone(),
                    });
                }
            }
        }

        exits
    }

    /// Looks up where an edge begins, and that it is the first for its action.
    fn source(&self, edge: &Edge, declared: &mut [Declared<'_>]) -> Result<usize, WiringProblem> {
        let index = self.index.get(edge.from.as_str()).copied();
        let place = index.and_then(|index| {
            let declared = declared.get_mut(index)?;
            Some((index, *self.places.get(index)?, declared))
        });

        let from = || edge.from.clone();
        let action = || edge.action.clone();
        let Some((index, place, declared)) = place else {
            return Err(WiringProblem::UnknownSource {
                from: from(),
                action: action(),
                nodes: self.names(),
            });
        };

        let Some(has_edge) = find(declared, &edge.action) else {
            return Err(WiringProblem::UndeclaredAction {
                from: from(),
                action: action(),
                declared: Arc::clone(&place.actions),
            });
        };

        if has_edge {
            return Err(WiringProblem::DuplicateEdge {
                from: from(),
                action: action(),
            });
        }

        Ok(index)
    }

    /// Looks up where an edge leads. An unknown target is reported and treated as an end, because
    /// the edge still covers its action.
    fn target(&mut self, edge: &Edge) -> Target {
        let Some(to) = &edge.to else {
            return Target::End;
        };

        if let Some(index) = self.index.get(to.as_str()) {
            return Target::Node(*index);
        }

        self.problems.push(WiringProblem::UnknownTarget {
            from: edge.from.clone(),
            action: edge.action.clone(),
            to: to.clone(),
            nodes: self.names(),
        });

        Target::End
    }

    /// Returns the names of all nodes: one list, shared by all problems that contain it.
    fn names(&self) -> Arc<[String]> {
        let names = || self.places.iter().map(|place| place.name.clone()).collect();
        Arc::clone(self.names.get_or_init(names))
    }

    fn unreachable(&mut self, start: usize, exits: &[Vec<Exit>]) {
        let next = |index: usize| {
            let exits = exits.get(index).into_iter();
            exits.flat_map(|exits| targets(exits))
        };
        let reached = reached([start], exits.len(), next);

        for (place, reached) in self.places.iter().zip(reached) {
            if !reached {
                let node = place.name.clone();
                self.problems.push(WiringProblem::Unreachable { node });
            }
        }
    }
}
