//! Checks the edges of one flow and reports problems with their places. The flow builder would find
//! the same problems, but only after every node has been created, and without places.

use std::collections::{HashMap, HashSet};

use cogwork_flow::Action;

use super::ids::NodeIds;
use crate::Place;
use crate::problem::{Found, Problems};
use crate::quote::{Name, did_you_mean, list, nearest};
use crate::yaml::Path;

/// The `to` of an edge that ends the flow.
pub(super) const END: &str = "end";

/// A node in the wiring.
pub(super) struct Part<'a> {
    pub(super) id: &'a str,
    pub(super) place: Place,
    /// `None` if the node could not be created, so its actions are unknown.
    pub(super) actions: Option<&'a [Action]>,
}

impl Part<'_> {
    fn labels(&self) -> Option<HashSet<&str>> {
        Some(self.actions?.iter().map(Action::as_str).collect())
    }
}

pub(super) struct Edge {
    pub(super) from: String,
    pub(super) action: Action,
    pub(super) to: String,
    /// The places of `from`, `action` and `to`.
    pub(super) places: [Place; 3],
    pub(super) path: Path,
}

pub(super) fn wire(
    parts: &[Part<'_>],
    ids: &NodeIds<'_>,
    edges: &[Edge],
    start: Option<(&str, Place)>,
    path: &Path,
    found: &mut Problems,
) {
    let wire = Wire::new(parts, ids, edges);
    let before = found.len();
    wire.names(start, path, found);

    // If some edges are wrong, many nodes may seem unreachable.
    let is_sound = found.len() == before && !found.any_in(&path.key("edges"));
    wire.known_actions(found);
    wire.wired_actions(path, found);

    if let Some((start, _)) = start.filter(|_| is_sound) {
        wire.reach(start, path, found);
    }
}

struct Wire<'a> {
    parts: &'a [Part<'a>],
    ids: &'a NodeIds<'a>,
    edges: &'a [Edge],
    /// Returns the edges that leave a node, in order.
    leaving: HashMap<&'a str, Vec<&'a Edge>>,
}

impl<'a> Wire<'a> {
    fn new(parts: &'a [Part<'a>], ids: &'a NodeIds<'a>, edges: &'a [Edge]) -> Self {
        let mut leaving: HashMap<&str, Vec<&Edge>> = HashMap::new();

        for edge in edges {
            leaving.entry(&edge.from).or_default().push(edge);
        }

        Self {
            parts,
            ids,
            edges,
            leaving,
        }
    }

    fn leaving(&self, node: &str) -> &[&'a Edge] {
        self.leaving
            .get(node)
            .map(Vec::as_slice)
            .unwrap_or_default()
    }

    /// Returns the end of a message about an unknown node.
    fn known_nodes(&self, name: &str, end: Option<&'static str>) -> String {
        let all = || self.ids.iter().chain(end);
        format!(
            "known nodes: {}{}",
            list(all()),
            did_you_mean(nearest(name, all()))
        )
    }

    fn names(&self, start: Option<(&str, Place)>, path: &Path, found: &mut Problems) {
        if let Some((start, place)) = start.filter(|(start, _)| !self.ids.contains(start)) {
            let known = self.known_nodes(start, None);
            let message = format!("the start `{}` is not a node; {known}", Name(start));
            found.push(Found::new(place, &path.key("start"), message));
        }

        let mut seen: HashMap<(&str, &str), &Edge> = HashMap::new();
        for edge in self.edges {
            if found.is_full() {
                return;
            }

            self.edge_names(edge, found);

            let action = edge.action.as_str();
            if let Some(first) = seen.get(&(edge.from.as_str(), action)) {
                let message = format!(
                    "line {2} already has an edge that leaves `{0}` on `{1}`; expected one for each action",
                    Name(&edge.from),
                    Name(action),
                    first.places[0].line
                );
                found.push(Found::new(edge.places[1], &edge.path, message));
            }

            seen.entry((&edge.from, action)).or_insert(edge);
        }
    }

    fn edge_names(&self, edge: &Edge, found: &mut Problems) {
        let Edge {
            from,
            to,
            places: [from_place, _, to_place],
            path,
            ..
        } = edge;

        if !self.ids.contains(from) {
            let known = self.known_nodes(from, None);
            let message = format!(
                "the edge leaves `{}`, which is not a node; {known}",
                Name(from)
            );
            found.push(Found::new(*from_place, &path.key("from"), message));
        }

        if to != END && !self.ids.contains(to) {
            let known = self.known_nodes(to, Some(END));
            let message = format!(
                "the edge leads to `{}`, which is not a node; {known}",
                Name(to)
            );
            found.push(Found::new(*to_place, &path.key("to"), message));
        }
    }

    /// Checks that the action of every edge is one of its node's actions.
    fn known_actions(&self, found: &mut Problems) {
        let has: Vec<Option<HashSet<&str>>> = self.parts.iter().map(Part::labels).collect();

        for edge in self.edges {
            if found.is_full() {
                return;
            }

            let Some(from) = self.ids.first(&edge.from) else {
                continue;
            };

            let Some(labels) = has.get(from).and_then(Option::as_ref) else {
                continue;
            };

            if !labels.contains(edge.action.as_str()) {
                let declared = self
                    .parts
                    .get(from)
                    .and_then(|part| part.actions)
                    .unwrap_or_default();

                let message = unknown_action(edge, declared);
                found.push(Found::new(
                    edge.places[1],
                    &edge.path.key("action"),
                    message,
                ));
            }
        }
    }

    /// Checks that a node with edges has an edge for each of its actions.
    fn wired_actions(&self, path: &Path, found: &mut Problems) {
        for (index, part) in self.parts.iter().enumerate() {
            let wired: HashSet<&str> = self
                .leaving(part.id)
                .iter()
                .map(|edge| edge.action.as_str())
                .collect();

            // Another node with the same id is reported as such.
            let is_first = self.ids.first(part.id) == Some(index);
            let Some(actions) = part.actions.filter(|_| is_first && !wired.is_empty()) else {
                continue;
            };

            for action in actions
                .iter()
                .filter(|action| !wired.contains(action.as_str()))
            {
                let id = Name(part.id);
                let action = Name(action.as_str());
                let message = format!(
                    "the action `{action}` of `{id}` leads nowhere; expected an edge from `{id}` on `{action}`, to a node or `{END}`"
                );
                found.push(Found::new(
                    part.place,
                    &path.key("nodes").index(index),
                    message,
                ));
            }
        }
    }

    fn reach(&self, start: &str, path: &Path, found: &mut Problems) {
        let mut reached: HashSet<&str> = HashSet::from([start]);
        let mut open = vec![start];

        while let Some(from) = open.pop() {
            let targets = self.leaving(from).iter().map(|edge| edge.to.as_str());
            open.extend(targets.filter(|to| *to != END && reached.insert(to)));
        }

        for (index, part) in self.parts.iter().enumerate().filter(|(index, part)| {
            self.ids.first(part.id) == Some(*index) && !reached.contains(part.id)
        }) {
            let message = format!(
                "no edges lead from the start to `{}`; expected an edge with `to: {0}`",
                Name(part.id)
            );
            found.push(Found::new(
                part.place,
                &path.key("nodes").index(index),
                message,
            ));
        }
    }
}

fn unknown_action(edge: &Edge, declared: &[Action]) -> String {
    let labels = || declared.iter().map(Action::as_str);
    let meant = did_you_mean(nearest(edge.action.as_str(), labels()));

    format!(
        "`{}` has no action `{}`; known actions: {}{meant}",
        Name(&edge.from),
        Name(edge.action.as_str()),
        list(labels()),
    )
}
