//! Connects the nodes of a file, and reports what is wrong with its edges.

use std::collections::HashMap;

use cogwork_flow::{Action, Flow, WiringProblem};

use crate::FlowState;
use crate::node_type::Made;
use crate::problem::{Found, Problems};
use crate::quote::{Name, did_you_mean, list, nearest};
use crate::yaml::{Path, Tree};

/// The `to` of an edge that ends the flow.
pub(super) const END: &str = "end";

/// The ids of the nodes of a flow, in order and by name.
pub(crate) struct NodeIds<'n> {
    in_order: Vec<&'n str>,
    /// The first node with each id.
    first: HashMap<&'n str, usize>,
}

impl<'n> NodeIds<'n> {
    pub(super) fn of(nodes: &'n [Tree]) -> Self {
        let in_order: Vec<&str> = nodes.iter().map(|node| text_at(node, "id")).collect();
        let mut first = HashMap::with_capacity(in_order.len());
        for (index, id) in in_order.iter().enumerate() {
            first.entry(*id).or_insert(index);
        }

        Self { in_order, first }
    }

    pub(crate) fn contains(&self, id: &str) -> bool {
        self.first.contains_key(id)
    }

    /// Returns the position of the first node with this id.
    pub(super) fn first(&self, id: &str) -> Option<usize> {
        self.first.get(id).copied()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &'n str> + Clone {
        self.in_order.iter().copied()
    }

    /// Returns the end of a message about a name that is none of a node.
    fn known(&self, name: &str, end: Option<&'static str>) -> String {
        let all = || self.iter().chain(end);
        let meant = did_you_mean(nearest(name, all()));
        format!("is not a node; known nodes: {}{meant}", list(all()))
    }
}

/// Returns the text of a key, which is empty if there is none.
pub(super) fn text_at<'t>(tree: &'t Tree, key: &str) -> &'t str {
    tree.get(key).and_then(Tree::text).unwrap_or_default()
}

/// An edge between nodes that exist.
struct Edge<'t> {
    tree: &'t Tree,
    path: Path,
    from: &'t str,
    action: Action,
    to: &'t str,
}

impl Edge<'_> {
    /// Returns a problem of one of its keys, or of the whole edge if there is no such key.
    fn problem(&self, key: &str, message: String) -> Found {
        let place = self.tree.get(key).unwrap_or(self.tree).place;
        Found::new(place, &self.path.key(key), message)
    }
}

/// The graph of a flow as it is in the file.
pub(super) struct Wiring<'t> {
    tree: &'t Tree,
    path: &'t Path,
    ids: &'t NodeIds<'t>,
    edges: Vec<Edge<'t>>,
}

impl<'t> Wiring<'t> {
    /// Reads the edges. Malformed ones have been reported by the check against the schema.
    pub(super) fn of(
        tree: &'t Tree,
        path: &'t Path,
        ids: &'t NodeIds<'t>,
        found: &mut Problems,
    ) -> Self {
        let mut edges = Vec::new();
        let trees = tree.get("edges").map(Tree::items).unwrap_or_default();

        for (index, tree) in trees.iter().enumerate() {
            let action = tree.get("action").and_then(Tree::text);
            let edge = Edge {
                path: path.key("edges").index(index),
                from: text_at(tree, "from"),
                action: action.map_or(Action::DEFAULT, Action::new),
                to: text_at(tree, "to"),
                tree,
            };
            if found.any_in(&edge.path) || found.is_full() {
                continue;
            }

            let Edge { from, to, .. } = edge;
            if !ids.contains(from) {
                let known = ids.known(from, None);
                let message = format!("the edge leaves `{}`, which {known}", Name(from));
                found.push(edge.problem("from", message));
            }
            if to != END && !ids.contains(to) {
                let known = ids.known(to, Some(END));
                let message = format!("the edge leads to `{}`, which {known}", Name(to));
                found.push(edge.problem("to", message));
            }
            edges.push(edge);
        }

        Self {
            tree,
            path,
            ids,
            edges,
        }
    }

    /// Returns the flow, or adds its problems to `found`. Nodes that could not be created are
    /// replaced by ones that fit their edges.
    pub(super) fn build(
        &self,
        name: &str,
        made: Vec<Option<Made>>,
        found: &mut Problems,
    ) -> Option<Flow<FlowState>> {
        let start = self.tree.get("start");
        let first = self.ids.iter().next()?;
        let mut builder = Flow::builder(name).start(start.and_then(Tree::text).unwrap_or(first));
        let mut leaving: HashMap<&str, Vec<&Action>> = HashMap::new();
        for edge in &self.edges {
            leaving.entry(edge.from).or_default().push(&edge.action);
        }

        for (index, (id, made)) in self.ids.iter().zip(made).enumerate() {
            // Another node with the same id is reported as such.
            if self.ids.first(id) != Some(index) {
                continue;
            }

            let leaving = leaving.get(id).map(Vec::as_slice).unwrap_or_default();
            let Made { actions, add } = made.unwrap_or_else(|| Made::placeholder(leaving));
            builder = add(builder, id.to_owned());
            if leaving.is_empty() {
                let actions = actions.into_iter();
                builder = actions.fold(builder, |builder, action| builder.end(id, action));
            }
        }
        for edge in &self.edges {
            builder = match edge.to {
                END => builder.end(edge.from, &edge.action),
                to => builder.edge(edge.from, &edge.action, to),
            };
        }

        match builder.build() {
            Ok(flow) => {
                if found.is_empty() {
                    self.check_ends(&flow, found);
                }
                Some(flow)
            }
            Err(error) => {
                self.report(error.problems(), found);
                None
            }
        }
    }

    /// Reports nodes from which no edges lead to the end.
    fn check_ends(&self, flow: &Flow<FlowState>, found: &mut Problems) {
        let nodes = flow.nodes_without_end();
        let Some(first) = nodes.first() else { return };
        let one = match nodes.len() {
            1 => "it",
            _ => "one of them",
        };

        let message = format!(
            "no edges lead from {} to the end; expected an edge with `to: {END}` from {one}",
            list(&nodes)
        );
        found.extend(self.at_node(first, message));
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
            let is_certain = is_sound || !matches!(problem, WiringProblem::Unreachable { .. });
            if is_certain && !found.is_full() {
                found.extend(self.located(problem, found));
            }
        }
    }

    /// Returns the problem with its place. Each edge has a problem of a kind once.
    fn located(&self, problem: &WiringProblem, found: &Problems) -> Option<Found> {
        match problem {
            // These have been reported.
            WiringProblem::UnknownSource { .. } | WiringProblem::UnknownTarget { .. } => None,
            WiringProblem::UnknownStart { start, .. } => {
                let known = self.ids.known(start, None);
                let message = format!("the start `{}` {known}", Name(start));
                let place = self.tree.get("start").unwrap_or(self.tree).place;
                Some(Found::new(place, &self.path.key("start"), message))
            }
            WiringProblem::UndeclaredAction {
                from,
                action,
                declared,
            } => {
                let mut edges = self.edges_on(from, action);
                let edge = edges.find(|edge| !found.has(&edge.path.key("action")))?;
                Some(edge.problem("action", undeclared(from, action, declared)))
            }
            WiringProblem::DuplicateEdge { from, action } => {
                let mut edges = self.edges_on(from, action);
                let first = edges.next()?.tree;
                let edge = edges.find(|edge| !found.has(&edge.path))?;
                let message = format!(
                    "line {} already has an edge that leaves `{}` on `{}`; expected one for each action",
                    first.get("from").unwrap_or(first).place.line,
                    Name(from),
                    Name(action.as_str())
                );
                let place = edge.tree.get("action").unwrap_or(edge.tree).place;
                Some(Found::new(place, &edge.path, message))
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
            other => Some(Found::new(self.tree.place, self.path, other.to_string())),
        }
    }

    fn edges_on(&self, from: &str, action: &Action) -> impl Iterator<Item = &Edge<'t>> {
        let edges = self.edges.iter();
        edges.filter(move |edge| edge.from == from && edge.action == *action)
    }

    fn at_node(&self, id: &str, message: String) -> Option<Found> {
        let index = self.ids.first(id)?;
        let node = self.tree.get("nodes")?.items().get(index)?;
        let place = node.get("id").unwrap_or(node).place;
        Some(Found::new(
            place,
            &self.path.key("nodes").index(index),
            message,
        ))
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
