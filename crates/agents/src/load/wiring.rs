//! Connects the nodes of a file, and finds the places of what the flow refuses.

use std::collections::HashMap;

use cogwork_flow::{Action, Flow, WiringProblem};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value as Json;

use super::{NodeIds, items_at};
use crate::names::{Name, NameList};
use crate::problems::{Problems, below, item};
use crate::{FlowState, Made};

/// The `to` of an edge that ends the flow.
pub(super) const END: &str = "end";

/// The graph of a flow as it is in the file.
pub(super) struct Wiring<'v> {
    value: &'v Json,
    path: &'v str,
    ids: &'v NodeIds<'v>,
    /// The edges with their paths.
    edges: Vec<(String, Edge)>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Edge {
    /// The id of a node.
    #[schemars(extend("x-environment" = false))]
    from: String,
    /// The action by which the node is left. Default: default.
    #[serde(default = "default_action")]
    #[schemars(with = "String", extend("x-environment" = false))]
    action: Action,
    /// The id of the node that follows, or end.
    #[schemars(extend("x-environment" = false))]
    to: String,
}

fn default_action() -> Action {
    Action::DEFAULT
}

impl<'v> Wiring<'v> {
    /// Reads the edges, except for malformed ones, which have been reported.
    pub(super) fn new(
        value: &'v Json,
        path: &'v str,
        ids: &'v NodeIds<'v>,
        problems: &Problems,
    ) -> Self {
        let edges = items_at(value, "edges").iter().enumerate();
        let edges = edges.filter_map(|(index, edge)| {
            let path = item(&below(path, "edges"), index);
            // The check has reported why an edge can't be read.
            let edge = Edge::deserialize(edge).ok()?;
            (!problems.any_in(&path)).then_some((path, edge))
        });

        Self {
            value,
            path,
            ids,
            edges: edges.collect(),
        }
    }

    /// Returns the flow, or reports its problems. Nodes that could not be created are replaced by
    /// ones that fit their edges.
    pub(super) fn build(
        &self,
        made: Vec<Option<Made>>,
        problems: &mut Problems,
    ) -> Option<Flow<FlowState>> {
        let text = |key: &str| self.value.get(key).and_then(Json::as_str);
        // A file without `start` begins with its first node, as people read it.
        let start = text("start").or_else(|| self.ids.iter().next())?;
        let mut builder = Flow::builder(text("name").unwrap_or("flow")).start(start);

        let mut leaving: HashMap<&str, Vec<&Action>> = HashMap::new();
        for (_, edge) in &self.edges {
            leaving.entry(&edge.from).or_default().push(&edge.action);
        }

        for (index, (id, made)) in self.ids.iter().zip(made).enumerate() {
            // Another node with the same id is reported as such.
            if self.ids.first(id) != Some(index) {
                continue;
            }

            let leaving = leaving.get(id).map(Vec::as_slice).unwrap_or_default();
            let Made { actions, add } = made.unwrap_or_else(|| Made::placeholder(leaving));
            // A placeholder has the actions of its edges, so that none of them seems wrong.
            builder = add(builder, id.to_owned());
            if leaving.is_empty() {
                let actions = actions.into_iter();
                builder = actions.fold(builder, |builder, action| builder.end(id, action));
            }
        }
        for (_, Edge { from, action, to }) in &self.edges {
            builder = match to.as_str() {
                END => builder.end(from, action),
                to => builder.edge(from, action, to),
            };
        }

        match builder.build() {
            Ok(flow) => {
                // With other problems, edges may be missing that lead there.
                if problems.found.is_empty() {
                    self.check_ends(&flow, problems);
                }
                Some(flow)
            }
            Err(error) => {
                self.report(error.problems(), problems);
                None
            }
        }
    }

    /// Reports nodes from which no edges lead to the end.
    fn check_ends(&self, flow: &Flow<FlowState>, problems: &mut Problems) {
        let nodes = flow.nodes_without_end();
        let Some(first) = nodes.first() else { return };
        let one = match nodes.len() {
            1 => "it",
            _ => "one of them",
        };

        let nodes = NameList::and(&nodes);
        let message = format!(
            "no edges lead from {nodes} to the end; expected an edge with `to: {END}` from {one}"
        );
        self.push_at_node(first, message, problems);
    }

    fn report(&self, found: &[WiringProblem], problems: &mut Problems) {
        // If some edges are wrong, many nodes may seem unreachable.
        let is_about_nodes = |problem: &WiringProblem| {
            matches!(
                problem,
                WiringProblem::Unreachable { .. } | WiringProblem::ActionLeadsNowhere { .. }
            )
        };
        let edges = below(self.path, "edges");
        let is_sound = found.iter().all(is_about_nodes) && !problems.any_in(&edges);

        for problem in found {
            match problem {
                WiringProblem::Unreachable { .. } if !is_sound => {}
                WiringProblem::Unreachable { node }
                | WiringProblem::ActionLeadsNowhere { node, .. } => {
                    self.push_at_node(node, told(problem), problems);
                }
                problem => {
                    if let Some(path) = self.path_of(problem, problems) {
                        problems.push(&path, told(problem));
                    }
                }
            }
        }
    }

    /// Returns the path of a problem. Each edge has a problem of a kind once.
    fn path_of(&self, problem: &WiringProblem, problems: &Problems) -> Option<String> {
        let edge = |key: &str, is_meant: &dyn Fn(&Edge) -> bool| {
            let edges = self.edges.iter().filter(|(_, edge)| is_meant(edge));
            let mut paths = edges.map(|(path, _)| below(path, key));
            // The later of two edges is the repeated one.
            paths.rfind(|path| !problems.any_in(path))
        };

        match problem {
            WiringProblem::UnknownStart { .. } => Some(below(self.path, "start")),
            WiringProblem::UnknownSource { from, action, .. } => {
                edge("from", &|edge| edge.from == *from && edge.action == *action)
            }
            WiringProblem::UnknownTarget {
                from, action, to, ..
            } => edge("to", &|edge| {
                edge.from == *from && edge.action == *action && edge.to == *to
            }),
            WiringProblem::UndeclaredAction { from, action, .. }
            | WiringProblem::DuplicateEdge { from, action } => edge("action", &|edge| {
                edge.from == *from && edge.action == *action
            }),
            _ => Some(self.path.to_owned()),
        }
    }

    fn push_at_node(&self, id: &str, message: String, problems: &mut Problems) {
        let index = self.ids.first(id).unwrap_or_default();
        let path = item(&below(self.path, "nodes"), index);
        let place = problems.place(&below(&path, "id"));
        problems.push_at(place, &path, message);
    }
}

/// Returns the sentence of a problem, and what would have been accepted if it doesn't say so.
fn told(problem: &WiringProblem) -> String {
    let expected = match problem {
        WiringProblem::UnknownTarget { .. } => "; `end` ends the flow".to_owned(),
        WiringProblem::DuplicateEdge { .. } => "; expected one for each action".to_owned(),
        WiringProblem::Unreachable { node } => {
            format!("; expected an edge with `to: {}`", Name(node))
        }
        _ => String::new(),
    };
    format!("{problem}{expected}")
}
