//! Checks a graph: looks up each name once and collects all problems.

use std::cell::OnceCell;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::mem;
use std::sync::Arc;

use crate::wiring::{Exit, Inside, Target, Wiring, reached, targets};
use crate::{Action, WiringProblem};

/// A place as it was added to a flow.
pub(crate) struct Declared {
    pub(crate) name: String,
    pub(crate) actions: Arc<[Action]>,
    pub(crate) inside: Inside,
}

/// An edge as it was added to a flow, with names.
pub(crate) struct Edge {
    pub(crate) from: String,
    pub(crate) action: Action,
    /// `None` for an end.
    pub(crate) to: Option<String>,
    pub(crate) is_hidden: bool,
}

/// A valid graph, with indices instead of names.
pub(crate) struct Checked {
    pub(crate) start: usize,
    /// The exits of each place, in the order of the places.
    pub(crate) exits: Vec<Vec<Exit>>,
}

pub(crate) struct Check<'b> {
    /// The places with unique names, in order.
    places: Vec<&'b Declared>,
    index: HashMap<&'b str, usize>,
    names: OnceCell<Arc<[String]>>,
    problems: Vec<WiringProblem>,
}

impl<'b> Check<'b> {
    pub(crate) fn new(declared: impl ExactSizeIterator<Item = &'b Declared>) -> Self {
        let count = declared.len();
        let mut check = Self {
            places: Vec::with_capacity(count),
            index: HashMap::with_capacity(count),
            names: OnceCell::new(),
            problems: Vec::new(),
        };

        if count == 0 {
            check.problems.push(WiringProblem::NoNodes);
        }

        let mut repeated = HashSet::new();
        for place in declared {
            check.place(place);
            check.add(place, &mut repeated);
        }

        check
    }

    /// Returns the graph with indices, or all its problems.
    pub(crate) fn run(
        mut self,
        starts: &[String],
        edges: &[Edge],
    ) -> Result<Checked, Vec<WiringProblem>> {
        let start = self.start(starts);
        let exits = self.exits(edges);
        if let Some(start) = start {
            self.unreachable(start, &exits);
        }

        match start {
            Some(start) if self.problems.is_empty() => Ok(Checked { start, exits }),
            _ => Err(self.problems),
        }
    }

    /// Checks a single place.
    fn place(&mut self, place: &Declared) {
        let node = || place.name.clone();
        if place.actions.is_empty() {
            self.problems
                .push(WiringProblem::NoActions { node: node() });
        }

        if let Inside::Branches(branches) = &place.inside {
            let mut known = HashSet::new();
            let repeated = branches.iter().filter(|(branch, _)| !known.insert(branch));
            let problem = |(branch, _): &(String, _)| WiringProblem::DuplicateBranch {
                node: node(),
                branch: branch.clone(),
            };
            self.problems.extend(repeated.map(problem));
        }

        let depth = place.inside.depth();
        if depth > Wiring::MAX_DEPTH {
            self.problems.push(WiringProblem::TooDeep {
                node: node(),
                depth,
            });
        }
    }

    /// Adds a place under its name. A second place with the same name is left out of all other
    /// checks, because their messages would seem to be about the first.
    fn add(&mut self, place: &'b Declared, repeated: &mut HashSet<&'b str>) {
        match self.index.entry(&place.name) {
            Entry::Vacant(free) => {
                free.insert(self.places.len());
                self.places.push(place);
            }
            Entry::Occupied(_) if repeated.insert(&place.name) => {
                self.problems.push(WiringProblem::DuplicateNode {
                    node: place.name.clone(),
                });
            }
            Entry::Occupied(_) => {}
        }
    }

    fn start(&mut self, starts: &[String]) -> Option<usize> {
        let problem = match starts {
            [] => WiringProblem::NoStart {
                nodes: self.names(),
            },
            [start] => match self.index.get(start.as_str()) {
                Some(index) => return Some(*index),
                None => WiringProblem::UnknownStart {
                    start: start.clone(),
                    nodes: self.names(),
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
        let places = self.places.iter();
        let mut leaving: Vec<_> = places.map(|place| Leaving::new(&place.actions)).collect();
        for edge in edges {
            let target = self.target(edge);
            let from = self.index.get(edge.from.as_str());
            let added = match from.and_then(|index| leaving.get_mut(*index)) {
                Some(leaving) => leaving.add(edge, target),
                None => Err(WiringProblem::UnknownSource {
                    from: edge.from.clone(),
                    action: edge.action.clone(),
                    nodes: self.names(),
                }),
            };

            self.problems.extend(added.err());
        }

        for (place, leaving) in self.places.iter().zip(&leaving) {
            let missing = leaving
                .missing()
                .map(|action| WiringProblem::ActionLeadsNowhere {
                    node: place.name.clone(),
                    action: action.clone(),
                });
            self.problems.extend(missing);
        }

        leaving.into_iter().map(|leaving| leaving.exits).collect()
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
        let next: Vec<Vec<usize>> = exits.iter().map(|exits| targets(exits).collect()).collect();
        let reached = reached([start], &next);

        let unreached = self
            .places
            .iter()
            .zip(&reached)
            .filter(|(_, reached)| !**reached);

        let problems = unreached.map(|(place, _)| WiringProblem::Unreachable {
            node: place.name.clone(),
        });
        self.problems.extend(problems);
    }
}

/// The edges that leave a place.
struct Leaving<'b> {
    declared: &'b Arc<[Action]>,
    /// Whether an edge was found for each action.
    found: HashMap<&'b Action, bool>,
    exits: Vec<Exit>,
}

impl<'b> Leaving<'b> {
    fn new(declared: &'b Arc<[Action]>) -> Self {
        Self {
            declared,
            found: declared.iter().map(|action| (action, false)).collect(),
            exits: Vec::with_capacity(declared.len()),
        }
    }

    fn add(&mut self, edge: &Edge, target: Target) -> Result<(), WiringProblem> {
        let action = edge.action.clone();
        let Some(found) = self.found.get_mut(&action) else {
            let declared = Arc::clone(self.declared);
            return Err(WiringProblem::UndeclaredAction {
                from: edge.from.clone(),
                action,
                declared,
            });
        };

        if mem::replace(found, true) {
            return Err(WiringProblem::DuplicateEdge {
                from: edge.from.clone(),
                action,
            });
        }

        self.exits.push(Exit {
            action,
            target,
            is_hidden: edge.is_hidden,
        });
        Ok(())
    }

    /// The declared actions without an edge, without repetitions.
    fn missing(&self) -> impl Iterator<Item = &'b Action> {
        let mut seen = HashSet::new();
        let missing = |action: &&Action| self.found.get(action) == Some(&false);

        let missing = self.declared.iter().filter(missing);
        missing.filter(move |action| seen.insert(*action))
    }
}
