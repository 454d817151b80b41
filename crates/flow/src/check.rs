//! Checks a graph: looks up each name once and collects all problems.

use std::cell::OnceCell;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use foldhash::HashMapExt as _;

use crate::wiring::{Exit, Place, Target, Wiring, reached, targets};
use crate::{Action, WiringProblem};

/// The edges of a flow as they were added, with names.
#[derive(Default)]
pub(crate) struct Edges {
    /// The names of all edges in a row: a text of its own for each would take a third of the time of
    /// building a flow.
    names: String,
    edges: Vec<Edge>,
}

struct Edge {
    from: Range<usize>,
    action: Action,
    /// `None` for an end.
    to: Option<Range<usize>>,
}

impl Edges {
    pub(crate) fn add(&mut self, from: &str, action: Action, to: Option<&str>) {
        let from = self.name(from);
        let to = to.map(|to| self.name(to));
        self.edges.push(Edge { from, action, to });
    }

    fn name(&mut self, name: &str) -> Range<usize> {
        let start = self.names.len();
        self.names.push_str(name);
        start..self.names.len()
    }
}

/// Connects the exits of the places. Returns the index of the start and the exits of each place, or
/// all problems.
pub(crate) fn check(
    places: &[Place],
    exits: Vec<Vec<Exit>>,
    starts: &[String],
    edges: Edges,
) -> Result<(usize, Vec<Vec<Exit>>), Vec<WiringProblem>> {
    let mut check = Check::new(places, exits);

    let start = check.start(starts);
    let Edges { names, edges } = edges;
    for Edge { from, action, to } in edges {
        let name = |range| names.get(range).unwrap_or_default();
        check.connect(name(from), action, to.map(name));
    }

    check.unconnected();
    // Without a start, every node would be reported as unreachable.
    if let Some(start) = start {
        check.unreachable(start);
    }

    match start {
        Some(start) if check.problems.is_empty() => Ok((start, check.exits)),
        _ => Err(check.problems),
    }
}

struct Check<'b> {
    /// The places with unique names, in order.
    places: Vec<&'b Place>,
    exits: Vec<Vec<Exit>>,
    index: foldhash::HashMap<&'b str, usize>,
    problems: Vec<WiringProblem>,
    /// The names of all nodes and the actions of some: lists that are shared by all problems that contain
    /// them.
    names: OnceCell<Arc<[String]>>,
    declared: HashMap<usize, Arc<[Action]>>,
}

impl<'b> Check<'b> {
    fn new(places: &'b [Place], exits: Vec<Vec<Exit>>) -> Self {
        let mut check = Self {
            places: Vec::with_capacity(places.len()),
            exits: Vec::with_capacity(places.len()),
            index: foldhash::HashMap::with_capacity(places.len()),
            problems: Vec::new(),
            names: OnceCell::new(),
            declared: HashMap::new(),
        };

        if places.is_empty() {
            check.problems.push(WiringProblem::NoNodes);
        }

        let mut repeated = HashSet::new();
        for (place, exits) in places.iter().zip(exits) {
            check.place(place, &exits);
            check.add(place, exits, &mut repeated);
        }

        check
    }

    /// Checks a single place.
    fn place(&mut self, place: &Place, exits: &[Exit]) {
        let node = || place.name.clone();
        if exits.is_empty() {
            self.problems
                .push(WiringProblem::NoActions { node: node() });
        }

        let Some(inside) = &place.inside else {
            return;
        };

        // The steps of two branches with one name would have the same names in a journal.
        let mut known = HashSet::new();
        for (branch, _) in &inside.flows {
            if !known.insert(branch) {
                self.problems.push(WiringProblem::DuplicateBranch {
                    node: node(),
                    branch: branch.clone(),
                });
            }
        }

        let depth = inside.depth();
        if depth > Wiring::MAX_DEPTH {
            let node = node();
            self.problems.push(WiringProblem::TooDeep { node, depth });
        }
    }

    /// Adds a place under its name. A second place with the same name is left out of all other
    /// checks, because their messages would seem to be about the first.
    fn add(&mut self, place: &'b Place, exits: Vec<Exit>, repeated: &mut HashSet<&'b str>) {
        match self.index.entry(&place.name) {
            Entry::Vacant(free) => {
                free.insert(self.places.len());
                self.places.push(place);
                self.exits.push(exits);
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

    /// Sets the target of the exit that an edge is for.
    fn connect(&mut self, from: &str, action: Action, to: Option<&str>) {
        // Before the source, so that an edge from nowhere to nowhere is reported twice.
        let target = self.target(from, &action, to);
        let Some(index) = self.index.get(from).copied() else {
            let problem = WiringProblem::UnknownSource {
                from: from.to_owned(),
                action,
                nodes: self.names(),
            };
            return self.problems.push(problem);
        };

        // A node has few exits, but whoever writes a file may declare many.
        let exits = self.exits.get_mut(index).map(Vec::as_mut_slice);
        let exits = exits.unwrap_or_default();
        let exit = exits.binary_search_by(|exit| exit.action.cmp(&action));
        match exit.ok().and_then(|exit| exits.get_mut(exit)) {
            Some(exit) if exit.target == Target::Missing => exit.target = target,
            Some(_) => {
                let from = from.to_owned();
                self.problems
                    .push(WiringProblem::DuplicateEdge { from, action });
            }
            None => {
                let actions = exits.iter().map(|exit| exit.action.clone());
                let declared = self.declared.entry(index);
                let declared = declared.or_insert_with(|| actions.collect());
                self.problems.push(WiringProblem::UndeclaredAction {
                    from: from.to_owned(),
                    action,
                    declared: Arc::clone(declared),
                });
            }
        }
    }

    /// Reports the exits without an edge.
    fn unconnected(&mut self) {
        for (place, exits) in self.places.iter().zip(&self.exits) {
            let missing = exits.iter().filter(|exit| exit.target == Target::Missing);
            let problems = missing.map(|exit| WiringProblem::ActionLeadsNowhere {
                node: place.name.clone(),
                action: exit.action.clone(),
            });
            self.problems.extend(problems);
        }
    }

    /// Looks up where an edge leads. An unknown target is reported and treated as an end, because
    /// the edge still covers its action.
    fn target(&mut self, from: &str, action: &Action, to: Option<&str>) -> Target {
        let Some(to) = to else {
            return Target::End;
        };

        if let Some(index) = self.index.get(to) {
            return Target::Node(*index);
        }

        self.problems.push(WiringProblem::UnknownTarget {
            from: from.to_owned(),
            action: action.clone(),
            to: to.to_owned(),
            nodes: self.names(),
        });

        Target::End
    }

    /// Returns the names of all nodes: one list, shared by all problems that contain it.
    fn names(&self) -> Arc<[String]> {
        let names = || self.places.iter().map(|place| place.name.clone()).collect();
        Arc::clone(self.names.get_or_init(names))
    }

    fn unreachable(&mut self, start: usize) {
        let next = |index: usize| {
            let exits = self.exits.get(index).into_iter();
            exits.flat_map(|exits| targets(exits))
        };
        let reached = reached([start], self.exits.len(), next);

        let places = self.places.iter().zip(reached);
        let unreachable = places.filter(|(_, reached)| !reached);
        let problems = unreachable.map(|(place, _)| WiringProblem::Unreachable {
            node: place.name.clone(),
        });
        self.problems.extend(problems);
    }
}
