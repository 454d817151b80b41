//! Builds a flow, and reports what its builder refuses with the places in the file.

use std::collections::HashMap;

use cogwork_flow::{Action, Flow, WiringProblem};

use super::ids::NodeIds;
use crate::node_type::Made;
use crate::problem::{Found, Problems};
use crate::quote::{Name, did_you_mean, list, nearest};
use crate::yaml::Path;
use crate::{FlowState, Place};

/// The `to` of an edge that ends the flow.
pub(super) const END: &str = "end";

pub(super) struct Edge {
    pub(super) from: String,
    pub(super) action: Action,
    pub(super) to: String,
    /// The places of `from`, `action` and `to`.
    pub(super) places: [Place; 3],
    pub(super) path: Path,
}

/// The graph of a flow as it is in the file.
pub(super) struct Wiring<'a> {
    pub(super) ids: &'a NodeIds<'a>,
    /// The places of the ids.
    pub(super) places: Vec<Place>,
    pub(super) edges: Vec<Edge>,
    pub(super) start: &'a str,
    pub(super) start_place: Place,
    pub(super) path: &'a Path,
}

impl Wiring<'_> {
    /// Returns the flow, or adds its problems to `found`. Nodes that could not be created are
    /// replaced by ones that fit their edges.
    pub(super) fn build(
        &self,
        name: &str,
        made: Vec<Option<Made>>,
        found: &mut Problems,
    ) -> Option<Flow<FlowState>> {
        let mut leaving: HashMap<&str, Vec<&Action>> = HashMap::new();
        for edge in &self.edges {
            leaving.entry(&edge.from).or_default().push(&edge.action);
        }

        let mut builder = Flow::builder(name).start(self.start);
        for (index, (id, made)) in self.ids.iter().zip(made).enumerate() {
            // Another node with the same id is reported as such.
            if self.ids.first(id) != Some(index) {
                continue;
            }

            let leaving = leaving.get(id).map(Vec::as_slice).unwrap_or_default();
            let Made { actions, add } = made.unwrap_or_else(|| Made::placeholder(leaving));
            builder = add(builder, id.to_owned());
            if leaving.is_empty() {
                builder = actions
                    .into_iter()
                    .fold(builder, |builder, action| builder.end(id, action));
            }
        }

        for edge in &self.edges {
            builder = match edge.to.as_str() {
                END => builder.end(&edge.from, &edge.action),
                to => builder.edge(&edge.from, &edge.action, to),
            };
        }

        builder
            .build()
            .map_err(|error| self.report(error.problems(), found))
            .ok()
    }

    fn report(&self, problems: &[WiringProblem], found: &mut Problems) {
        // If some edges are wrong, many nodes may seem unreachable.
        let is_about_nodes = |problem: &WiringProblem| {
            matches!(
                problem,
                WiringProblem::Unreachable { .. } | WiringProblem::ActionLeadsNowhere { .. }
            )
        };
        let is_sound =
            problems.iter().all(is_about_nodes) && !found.any_in(&self.path.key("edges"));

        for problem in problems {
            if found.is_full() {
                return;
            }

            let is_certain = is_sound || !matches!(problem, WiringProblem::Unreachable { .. });
            if is_certain && let Some(problem) = self.located(problem, found) {
                found.push(problem);
            }
        }
    }

    /// Returns the problem with its place. Each edge has a problem of a kind once.
    fn located(&self, problem: &WiringProblem, found: &Problems) -> Option<Found> {
        match problem {
            WiringProblem::UnknownStart { start, .. } => {
                let known = self.known_nodes(start, None);
                let message = format!("the start `{}` is not a node; {known}", Name(start));
                let path = self.path.key("start");
                Some(Found::new(self.start_place, &path, message))
            }
            WiringProblem::UnknownSource { from, action, .. } => {
                let mut edges = self.edges_on(from, action);
                let edge = edges.find(|edge| !found.has(&edge.path.key("from")))?;
                let known = self.known_nodes(from, None);
                let message = format!(
                    "the edge leaves `{}`, which is not a node; {known}",
                    Name(from)
                );
                Some(Found::new(edge.places[0], &edge.path.key("from"), message))
            }
            WiringProblem::UnknownTarget {
                from, action, to, ..
            } => {
                let mut edges = self.edges_on(from, action).filter(|edge| edge.to == *to);
                let edge = edges.find(|edge| !found.has(&edge.path.key("to")))?;
                let known = self.known_nodes(to, Some(END));
                let message = format!(
                    "the edge leads to `{}`, which is not a node; {known}",
                    Name(to)
                );
                Some(Found::new(edge.places[2], &edge.path.key("to"), message))
            }
            WiringProblem::UndeclaredAction {
                from,
                action,
                declared,
            } => {
                let mut edges = self.edges_on(from, action);
                let edge = edges.find(|edge| !found.has(&edge.path.key("action")))?;
                let message = undeclared(from, action, declared);
                Some(Found::new(
                    edge.places[1],
                    &edge.path.key("action"),
                    message,
                ))
            }
            WiringProblem::DuplicateEdge { from, action } => {
                let mut edges = self.edges_on(from, action);
                let line = edges.next()?.places[0].line;
                let edge = edges.find(|edge| !found.has(&edge.path))?;
                let message = format!(
                    "line {line} already has an edge that leaves `{}` on `{}`; expected one for each action",
                    Name(from),
                    Name(action.as_str())
                );
                Some(Found::new(edge.places[1], &edge.path, message))
            }
            WiringProblem::ActionLeadsNowhere { node, action } => {
                let id = Name(node);
                let action = Name(action.as_str());
                let message = format!(
                    "the action `{action}` of `{id}` leads nowhere; expected an edge from `{id}` on `{action}`, to a node or `{END}`"
                );
                self.at_node(node, message)
            }
            WiringProblem::Unreachable { node } => {
                let message = format!(
                    "no edges lead from the start to `{}`; expected an edge with `to: {0}`",
                    Name(node)
                );
                self.at_node(node, message)
            }
            other => Some(Found::new(self.start_place, self.path, other.to_string())),
        }
    }

    fn edges_on(&self, from: &str, action: &Action) -> impl Iterator<Item = &Edge> {
        self.edges
            .iter()
            .filter(move |edge| edge.from == from && edge.action == *action)
    }

    pub(super) fn at_node(&self, node: &str, message: String) -> Option<Found> {
        let index = self.ids.first(node)?;
        let path = self.path.key("nodes").index(index);
        Some(Found::new(*self.places.get(index)?, &path, message))
    }

    fn known_nodes(&self, name: &str, end: Option<&'static str>) -> String {
        let all = || self.ids.iter().chain(end);
        format!(
            "known nodes: {}{}",
            list(all()),
            did_you_mean(nearest(name, all()))
        )
    }
}

fn undeclared(from: &str, action: &Action, declared: &[Action]) -> String {
    let labels = || declared.iter().map(Action::as_str);
    let meant = did_you_mean(nearest(action.as_str(), labels()));

    format!(
        "`{}` has no action `{}`; known actions: {}{meant}",
        Name(from),
        Name(action.as_str()),
        list(labels()),
    )
}
