//! The checked graph of a flow, without its nodes: names, edges and the graphs of its subflows.

use std::collections::BTreeSet;
use std::mem;
use std::sync::Arc;

use crate::Action;
use crate::draw::GraphNodeKind;
use crate::graph::stands_for;
use crate::places::wait::Accept;

pub(crate) struct Wiring {
    pub(crate) name: String,
    pub(crate) start: usize,
    pub(crate) places: Vec<Place>,
    /// How many levels of flows are inside it.
    depth: usize,
    /// Whether any node in it, or in a flow inside it, waits for events or sleeps.
    pub(crate) waits: bool,
}

/// A named place in a flow, and its exits.
pub(crate) struct Place {
    pub(crate) name: String,
    /// One for each action that it declares.
    pub(crate) exits: Vec<Exit>,
    /// `None` for a node.
    pub(crate) inside: Option<Box<Inside>>,
}

/// What a place has that isn't a node.
#[derive(Default)]
pub(crate) struct Inside {
    pub(crate) kind: GraphNodeKind,
    /// The event that a wait waits for.
    pub(crate) event: Option<String>,
    /// Checks the answer to it.
    pub(crate) accept: Option<Arc<Accept>>,
    /// The maximum number of items at a time.
    pub(crate) at_most: Option<usize>,
    /// The flows inside, each with its name, or that of its branch.
    pub(crate) flows: Vec<(String, Arc<Wiring>)>,
}

impl Inside {
    pub(crate) fn of(kind: GraphNodeKind) -> Self {
        Self {
            kind,
            ..Self::default()
        }
    }

    /// Adds a flow inside the place.
    pub(crate) fn with(mut self, name: &str, flow: &Arc<Wiring>) -> Self {
        self.flows.push((name.to_owned(), Arc::clone(flow)));
        self
    }

    fn any_wait(&self, event: &str, is_meant: &mut dyn FnMut(&Accept) -> bool) -> bool {
        let known = self.event.as_deref();
        let own = self.accept.as_deref();
        let own = own.filter(|_| known.is_some_and(|known| stands_for(known, event)));

        let mut flows = self.flows.iter();
        own.is_some_and(&mut *is_meant) || flows.any(|(_, flow)| flow.any_wait(event, is_meant))
    }

    fn waits(&self) -> bool {
        matches!(self.kind, GraphNodeKind::Wait | GraphNodeKind::Sleep)
            || self.flows.iter().any(|(_, flow)| flow.waits)
    }

    /// Returns how many levels of flows are inside the place.
    pub(crate) fn depth(&self) -> usize {
        let depths = self.flows.iter().map(|(_, flow)| flow.depth + 1);
        depths.max().unwrap_or_default()
    }
}

#[derive(Debug)]
pub(crate) struct Exit {
    pub(crate) action: Action,
    pub(crate) target: Target,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Node(usize),
    End,
    /// No edge was added for the action, which `build` refuses.
    Missing,
}

/// Returns the places to which the exits lead.
pub(crate) fn targets(exits: &[Exit]) -> impl Iterator<Item = usize> {
    exits.iter().filter_map(|exit| match exit.target {
        Target::Node(index) => Some(index),
        Target::End | Target::Missing => None,
    })
}

impl Wiring {
    /// The maximum depth of nested flows. Drawing, polling and dropping a flow uses stack for each
    /// level, and readers of JSON limit the depth of its graph, in which each has four levels.
    pub(crate) const MAX_DEPTH: usize = 30;

    pub(crate) fn new(name: String, start: usize, places: Vec<Place>) -> Self {
        let inside = places.iter().filter_map(|place| place.inside.as_ref());
        let depth = inside.map(|inside| inside.depth()).max();
        let waits = places.iter().any(Place::waits);
        Self {
            name,
            start,
            places,
            depth: depth.unwrap_or_default(),
            waits,
        }
    }

    /// Returns the place at an index from the builder or [`Place::exits`].
    #[expect(
        clippy::indexing_slicing,
        reason = "indices are made by the builder and checked there"
    )]
    #[inline]
    pub(crate) fn place(&self, index: usize) -> &Place {
        &self.places[index]
    }

    /// Returns the index of the place with this name.
    pub(crate) fn index(&self, name: &str) -> Option<usize> {
        self.places.iter().position(|place| place.name == name)
    }

    /// Returns whether any wait for this event, also in flows inside it, is meant. `is_meant` gets its
    /// check of answers.
    pub(crate) fn any_wait(&self, event: &str, is_meant: &mut dyn FnMut(&Accept) -> bool) -> bool {
        let mut inside = self.places.iter().filter_map(|place| place.inside.as_ref());
        inside.any(|inside| inside.any_wait(event, is_meant))
    }

    /// Returns the places from which neither an end nor a place that waits can be reached.
    pub(crate) fn without_end(&self) -> impl Iterator<Item = &Place> {
        let mut previous = vec![Vec::new(); self.places.len()];
        let mut ends = Vec::new();

        for (index, place) in self.places.iter().enumerate() {
            let is_end = |exit: &Exit| exit.target == Target::End;
            // A run can leave a wait to whoever answers, so it is as good as an end.
            if place.waits() || place.exits.iter().any(is_end) {
                ends.push(index);
            }

            for target in targets(&place.exits) {
                if let Some(previous) = previous.get_mut(target) {
                    previous.push(index);
                }
            }
        }

        let before = |index| previous.get(index).into_iter().flatten().copied();
        let ending = reached(ends, self.places.len(), before);
        let places = self.places.iter().zip(ending);
        places.filter(|(_, ends)| !ends).map(|(place, _)| place)
    }

    /// Returns the actions on which the flow ends, sorted and without repetitions.
    pub(crate) fn end_actions(&self) -> BTreeSet<Action> {
        let exits = self.places.iter().flat_map(|place| &place.exits);
        let ends = exits.filter(|exit| exit.target == Target::End);
        ends.map(|exit| exit.action.clone()).collect()
    }
}

impl Place {
    /// Returns the flow that the cursor of a run enters.
    #[inline]
    pub(crate) fn subflow(&self) -> Option<&Wiring> {
        let inside = self.inside.as_deref()?;
        match inside.kind {
            GraphNodeKind::Subflow => inside.flows.first().map(|(_, flow)| &**flow),
            _ => None,
        }
    }

    fn waits(&self) -> bool {
        self.inside.as_ref().is_some_and(|inside| inside.waits())
    }

    /// Returns the exit by which the run leaves on this action.
    #[inline]
    pub(crate) fn exit(&self, action: &Action) -> Option<&Exit> {
        let label = action.as_str();
        // A node has few exits, which are searched faster than a map is asked.
        self.exits.iter().find(|exit| exit.action.as_str() == label)
    }
}

/// Returns for each of `count` indices whether it can be reached from one of `from`. `next` returns the
/// indices that follow an index.
pub(crate) fn reached<I: Iterator<Item = usize>>(
    from: impl IntoIterator<Item = usize>,
    count: usize,
    next: impl Fn(usize) -> I,
) -> Vec<bool> {
    let mut reached = vec![false; count];
    // A list and not a recursion, so that a long chain of nodes uses no stack.
    let mut open: Vec<usize> = from.into_iter().collect();

    while let Some(index) = open.pop() {
        let Some(was_reached) = reached.get_mut(index) else {
            continue;
        };

        if !mem::replace(was_reached, true) {
            open.extend(next(index));
        }
    }

    reached
}
