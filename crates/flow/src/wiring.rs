//! The checked graph of a flow, without its nodes: names, edges and the graphs of its subflows.

use std::collections::HashSet;
use std::sync::Arc;

use crate::Action;

#[derive(Debug)]
pub(crate) struct Wiring {
    pub(crate) name: String,
    pub(crate) start: usize,
    pub(crate) places: Vec<Place>,
    /// How many subflows stand inside one another, at the deepest.
    pub(crate) depth: usize,
}

/// A name in a flow, and the ways that leave it.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) name: String,
    pub(crate) exits: Vec<Exit>,
    pub(crate) subflow: Option<Arc<Wiring>>,
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
}

impl Wiring {
    /// The place at an index that the builder or [`Place::exits`] gave out.
    #[expect(clippy::indexing_slicing, reason = "indices are made by the builder and checked there")]
    pub(crate) fn place(&self, index: usize) -> &Place {
        &self.places[index]
    }

    /// The labels on which the flow ends, each once.
    pub(crate) fn end_actions(&self) -> Vec<Action> {
        let exits = self.places.iter().flat_map(|place| &place.exits);
        let ends = exits.filter(|exit| exit.target == Target::End).map(|exit| &exit.action);
        let mut seen = HashSet::new();
        ends.filter(|action| seen.insert(*action)).cloned().collect()
    }
}

impl Place {
    pub(crate) fn target(&self, action: &Action) -> Option<Target> {
        self.exits.iter().find(|exit| exit.action == *action).map(|exit| exit.target)
    }
}
