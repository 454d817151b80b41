//! The wiring of one flow, checked with the places of its edges. The flow's own check would find the same,
//! but only once every node is made, and by names alone.

use cogwork_flow::Action;

use super::flow::END;
use crate::Place;
use crate::problem::{Found, Problems};
use crate::quote::{Name, did_you_mean, list, nearest};
use crate::yaml::Path;

/// A node, as the wiring sees it.
pub(super) struct Part<'a> {
    pub(super) id: &'a str,
    pub(super) place: Place,
    /// Nothing for a node that could not be made: what it declares is not known.
    pub(super) actions: Option<&'a [Action]>,
}

pub(super) struct Edge {
    pub(super) from: String,
    pub(super) action: Action,
    pub(super) to: String,
    /// Of `from`, `action` and `to`.
    pub(super) places: [Place; 3],
    pub(super) path: Path,
}

pub(super) fn wire(
    parts: &[Part<'_>],
    edges: &[Edge],
    start: Option<(&str, Place)>,
    path: &Path,
    found: &mut Problems,
) {
    let wire = Wire { parts, edges, ids: parts.iter().map(|part| part.id).collect() };
    let before = found.len();
    wire.names(start, path, found);
    // Where edges are wrong everything may seem to be out of reach.
    let is_sound = found.len() == before && !found.any_in(&path.key("edges"));
    wire.actions(path, found);
    if let Some((start, _)) = start.filter(|_| is_sound) {
        wire.reach(start, path, found);
    }
}

struct Wire<'a> {
    parts: &'a [Part<'a>],
    edges: &'a [Edge],
    ids: Vec<&'a str>,
}

impl Wire<'_> {
    fn names(&self, start: Option<(&str, Place)>, path: &Path, found: &mut Problems) {
        let known = |name: &str, end: Option<&'static str>| {
            let all = || self.ids.iter().copied().chain(end);
            format!("known nodes: {}{}", list(all()), did_you_mean(nearest(name, all())))
        };
        if let Some((start, place)) = start.filter(|(start, _)| !self.ids.contains(start)) {
            let message = format!("the start `{}` is no node; {}", Name(start), known(start, None));
            found.push(Found::new(place, &path.key("start"), message));
        }
        for (index, Edge { from, action, to, places: [from_place, action_place, to_place], path }) in
            self.edges.iter().enumerate()
        {
            if found.is_full() {
                return;
            }
            if !self.ids.contains(&from.as_str()) {
                let message =
                    format!("the edge leaves `{}`, which is no node; {}", Name(from), known(from, None));
                found.push(Found::new(*from_place, &path.key("from"), message));
            }
            if to != END && !self.ids.contains(&to.as_str()) {
                let message =
                    format!("the edge leads to `{}`, which is no node; {}", Name(to), known(to, Some(END)));
                found.push(Found::new(*to_place, &path.key("to"), message));
            }
            let earlier = self.edges.iter().take(index);
            if let Some(first) = earlier.into_iter().find(|edge| edge.from == *from && edge.action == *action)
            {
                let message = format!(
                    "an edge leaves `{}` on `{}` in line {} already; expected one for each action",
                    Name(from),
                    Name(action.as_str()),
                    first.places[0].line
                );
                found.push(Found::new(*action_place, path, message));
            }
        }
    }

    fn actions(&self, path: &Path, found: &mut Problems) {
        for edge in self.edges {
            if found.is_full() {
                return;
            }
            let from = self.parts.iter().find(|part| part.id == edge.from);
            let Some(declared) = from.and_then(|part| part.actions) else { continue };
            if !declared.contains(&edge.action) {
                let labels = || declared.iter().map(Action::as_str);
                let meant = did_you_mean(nearest(edge.action.as_str(), labels()));
                let message = format!(
                    "`{}` has no action `{}`; known actions: {}{meant}",
                    Name(&edge.from),
                    Name(edge.action.as_str()),
                    list(labels()),
                );
                found.push(Found::new(edge.places[1], &edge.path.key("action"), message));
            }
        }
        for (index, part) in self.parts.iter().enumerate() {
            let wired: Vec<_> =
                self.edges.iter().filter(|edge| edge.from == part.id).map(|edge| &edge.action).collect();
            let Some(actions) = part.actions.filter(|_| !wired.is_empty()) else { continue };
            for action in actions.iter().filter(|action| !wired.contains(action)) {
                let (id, action) = (Name(part.id), Name(action.as_str()));
                let message = format!(
                    "the action `{action}` of `{id}` leads nowhere; expected an edge from `{id}` on `{action}`, to a node or `{END}`"
                );
                found.push(Found::new(part.place, &path.key("nodes").index(index), message));
            }
        }
    }

    fn reach(&self, start: &str, path: &Path, found: &mut Problems) {
        let mut reached = vec![start];
        let mut next = 0;
        while let Some(from) = reached.get(next).copied() {
            next += 1;
            let targets = self.edges.iter().filter(|edge| edge.from == from).map(|edge| edge.to.as_str());
            let new: Vec<_> = targets.filter(|to| *to != END && !reached.contains(to)).collect();
            reached.extend(new);
        }
        for (index, part) in self.parts.iter().enumerate().filter(|(_, part)| !reached.contains(&part.id)) {
            let message = format!(
                "no edges lead from the start to `{}`; expected an edge with `to: {0}`",
                Name(part.id)
            );
            found.push(Found::new(part.place, &path.key("nodes").index(index), message));
        }
    }
}
