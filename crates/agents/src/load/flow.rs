//! Creates the nodes and edges of a flow, either of a file or inside a node.

use cogwork_flow::{Action, Flow};
use serde_json::Value as Json;

use super::ids::NodeIds;
use super::loading::{Assembled, Loading, MAX_NODES, Source};
use super::making::Making;
use super::wiring::{END, Edge, Wiring};
use crate::node_type::Made;
use crate::problem::{Found, Problems};
use crate::quote::{Name, list};
use crate::yaml::{Path, Tree};
use crate::{FlowState, Template, TemplateError};

/// The names of slots and of the end, which are reserved and can't be used as node ids.
const RESERVED: [&str; 3] = ["input", "last", END];

impl Loading<'_> {
    /// Returns the flow that a mapping describes, or adds its problems to `found` and returns
    /// `None`. The mapping has already been checked against the schema.
    pub(crate) fn flow(
        &mut self,
        source: &Source,
        tree: &Tree,
        path: &Path,
        found: &mut Problems,
    ) -> Option<Assembled> {
        let (ids, made) = self.nodes(source, tree, path, found)?;
        let nodes = tree.get("nodes").map(Tree::items).unwrap_or_default();
        let answer = self.answer(tree, &ids, path, found);
        let start = tree.get("start");
        let wiring = Wiring {
            ids: &ids,
            places: nodes
                .iter()
                .map(|node| node.get("id").unwrap_or(node).place)
                .collect(),
            edges: edges(tree, path, found),
            start: start.and_then(Tree::text).or_else(|| ids.iter().next())?,
            start_place: start.unwrap_or(tree).place,
            path,
        };

        let name = tree.get("name").and_then(Tree::text).unwrap_or("flow");
        let flow = wiring.build(name, made, found)?;
        if found.is_empty()
            && let Some(problem) = endless(&flow, &wiring)
        {
            found.push(problem);
        }

        found.is_empty().then_some(Assembled { flow, answer })
    }

    /// Returns a flow for each node of a mapping, and its answer, or adds its problems to `found` and
    /// returns `None`.
    pub(crate) fn flows(
        &mut self,
        source: &Source,
        tree: &Tree,
        path: &Path,
        found: &mut Problems,
    ) -> Option<(Vec<(String, Flow<FlowState>)>, Template)> {
        let (ids, made) = self.nodes(source, tree, path, found)?;
        let answer = self.answer(tree, &ids, path, found);
        let made = made.into_iter().collect::<Option<Vec<Made>>>();
        let made = made.filter(|_| found.is_empty())?;

        let flows = ids.iter().zip(made).map(|(id, made)| {
            let builder = (made.add)(Flow::builder(id).start(id), id.to_owned());
            let builder = made
                .actions
                .into_iter()
                .fold(builder, |builder, action| builder.end(id, action));
            Some((id.to_owned(), builder.build().ok()?))
        });
        Some((flows.collect::<Option<_>>()?, answer))
    }

    /// Returns the ids of the nodes, and the nodes that could be made.
    fn nodes<'t>(
        &mut self,
        source: &Source,
        tree: &'t Tree,
        path: &Path,
        found: &mut Problems,
    ) -> Option<(NodeIds<'t>, Vec<Option<Made>>)> {
        let nodes_path = path.key("nodes");
        let nodes = tree.get("nodes").map(Tree::items).unwrap_or_default();
        let ids = NodeIds::of(nodes.iter().map(|node| text_at(node, "id")));
        check_ids(nodes, &ids, &nodes_path, found);

        self.nodes = self.nodes.saturating_add(nodes.len());
        if self.nodes > MAX_NODES {
            let message = format!(
                "the flow has more than {MAX_NODES} nodes, with all its subflows; expected fewer"
            );
            found.push(Found::new(tree.place, &nodes_path, message));
            return None;
        }

        let mut made = Vec::new();
        for (index, (node, id)) in nodes.iter().zip(ids.iter()).enumerate() {
            let path = nodes_path.index(index);

            // If the provider is unknown, the other settings can still be checked.
            let config = path.key("config");
            let provider = config.key("provider");
            let of_provider =
                |found: &Found| found.is_tag && (found.path == config || found.path == provider);
            let is_sound = found.of(&path).all(of_provider);

            // Each problem of a node costs a search for similar names.
            made.push(if is_sound && !found.is_full() {
                self.node(source, node, id, &ids, &path, found)
            } else {
                None
            });
        }

        Some((ids, made))
    }

    fn answer(
        &self,
        tree: &Tree,
        ids: &NodeIds<'_>,
        path: &Path,
        found: &mut Problems,
    ) -> Template {
        let Some(answer) = tree.get("answer") else {
            return Template::default();
        };

        let read = Template::for_nodes(answer.text().unwrap_or_default(), ids);
        read.unwrap_or_else(|error| {
            found.push(Found::new(
                answer.place,
                &path.key("answer"),
                self.told(&error),
            ));
            Template::default()
        })
    }

    /// Returns the problem of a template. If a value from the environment contains a brace, the
    /// slot may be a part of this value.
    pub(super) fn told(&self, error: &TemplateError) -> String {
        match error {
            TemplateError::UnknownSlot { .. } if self.secrets.hold(['{', '}']) => {
                "an unknown slot, not shown because values from the environment have braces; expected `{{` for a brace"
                    .to_owned()
            }
            error => error.to_string(),
        }
    }

    fn node(
        &mut self,
        source: &Source,
        node: &Tree,
        id: &str,
        ids: &NodeIds<'_>,
        path: &Path,
        found: &mut Problems,
    ) -> Option<Made> {
        let node_type = self.loader.node_type(text_at(node, "type"))?.clone();
        let path = path.key("config");
        let config = node.get("config");
        let mut values = match config.map(Tree::to_json) {
            Some(Json::Object(values)) => values,
            _ => serde_json::Map::new(),
        };
        let nothing = Tree {
            place: node.place,
            value: crate::yaml::Value::Map(Vec::new()),
        };
        let config = config.unwrap_or(&nothing);
        let mut making = Making::new(self, source, id, ids, config, &path, found);
        let mut problems = making.prepare(&node_type, &mut values);
        let made = node_type
            .make(Json::Object(values), &mut making)
            .map_err(|more| problems.extend(more))
            .ok();

        for problem in problems {
            let path = path.below(problem.path());
            found.push(Found::new(
                config
                    .nearest_to(&Path::default().below(problem.path()))
                    .place,
                &path,
                problem.message(),
            ));
        }

        made
    }
}

fn text_at<'t>(tree: &'t Tree, key: &str) -> &'t str {
    tree.get(key).and_then(Tree::text).unwrap_or_default()
}

fn check_ids(nodes: &[Tree], ids: &NodeIds<'_>, path: &Path, found: &mut Problems) {
    for (index, (node, id)) in nodes.iter().zip(ids.iter()).enumerate() {
        let Some(tree) = node.get("id").filter(|tree| tree.text().is_some()) else {
            continue;
        };

        let path = path.index(index).key("id");
        if RESERVED.contains(&id) {
            let message = format!("`{id}` is reserved; choose another node id");
            found.push(Found::new(tree.place, &path, message));
        } else if id.contains(['{', '}']) {
            let message =
                "an id with a brace cannot be a slot of a prompt; choose an id without braces"
                    .to_owned();
            found.push(Found::new(tree.place, &path, message));
        } else if let Some(first) = ids.first(id).filter(|first| *first != index) {
            let first = nodes.get(first).and_then(|node| node.get("id"));
            let line = first.map_or(0, |id| id.place.line);
            let id = Name(id);
            let message =
                format!("line {line} already has a node with the id `{id}`; choose another id");
            found.push(Found::new(tree.place, &path, message));
        }
    }
}

/// Returns the well-formed edges. The others were reported by the check against the schema.
fn edges(tree: &Tree, path: &Path, found: &Problems) -> Vec<Edge> {
    let path = path.key("edges");
    let edges = tree.get("edges").map(Tree::items).unwrap_or_default();
    let edges = edges.iter().enumerate().map(|(index, edge)| {
        let path = path.index(index);
        Edge {
            from: text_at(edge, "from").to_owned(),
            action: edge
                .get("action")
                .and_then(Tree::text)
                .map_or(Action::DEFAULT, Action::new),
            to: text_at(edge, "to").to_owned(),
            places: ["from", "action", "to"].map(|key| edge.get(key).unwrap_or(edge).place),
            path,
        }
    });

    edges.filter(|edge| !found.any_in(&edge.path)).collect()
}

/// Returns the problem of a flow with nodes from which no edges lead to its end.
fn endless(flow: &Flow<FlowState>, wiring: &Wiring<'_>) -> Option<Found> {
    let nodes = flow.nodes_without_end();
    let first = nodes.first()?;
    let one = if nodes.len() == 1 {
        "it"
    } else {
        "one of them"
    };
    let message = format!(
        "no edges lead from {} to the end; expected an edge with `to: {END}` from {one}",
        list(&nodes)
    );

    wiring.at_node(first, message)
}
