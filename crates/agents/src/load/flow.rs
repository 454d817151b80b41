//! Creates the nodes and edges of a flow, either of a file or inside a node.

use std::collections::HashSet;

use cogwork_flow::{Action, Flow};
use serde_json::Value as Json;

use super::ids::NodeIds;
use super::loading::{Assembled, Loading, MAX_NODES, Source};
use super::making::Making;
use super::wiring::{END, Edge, Part, wire};
use crate::node_type::Made;
use crate::problem::{Found, Problems};
use crate::quote::{Name, list, one_line};
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

        let parts: Vec<_> = nodes
            .iter()
            .zip(ids.iter())
            .zip(&made)
            .map(|((node, id), made)| Part {
                id,
                place: node.get("id").unwrap_or(node).place,
                actions: made.as_ref().map(|made| made.actions.as_slice()),
            })
            .collect();

        let edges = edges(tree, path, found);
        let start = tree
            .get("start")
            .and_then(Tree::text)
            .or_else(|| ids.iter().next());
        let start_place = tree.get("start").unwrap_or(tree).place;
        wire(
            &parts,
            &ids,
            &edges,
            start.map(|start| (start, start_place)),
            path,
            found,
        );

        let answer = self.answer(tree, &ids, path, found);
        if !found.is_empty() {
            return None;
        }

        let flow = build(tree, path, &ids, made, &edges, start?, found)?;
        Some(Assembled { flow, answer })
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

fn build(
    tree: &Tree,
    path: &Path,
    ids: &NodeIds<'_>,
    made: Vec<Option<Made>>,
    edges: &[Edge],
    start: &str,
    found: &mut Problems,
) -> Option<Flow<FlowState>> {
    let mut builder =
        Flow::builder(tree.get("name").and_then(Tree::text).unwrap_or("flow")).start(start);
    let left: HashSet<&str> = edges.iter().map(|edge| edge.from.as_str()).collect();

    for (id, made) in ids.iter().zip(made) {
        let Made { actions, add } = made?;
        builder = add(builder, id.to_owned());
        if !left.contains(id) {
            builder = actions
                .into_iter()
                .fold(builder, |builder, action| builder.end(id, action));
        }
    }

    for Edge {
        from, action, to, ..
    } in edges
    {
        builder = match to.as_str() {
            END => builder.end(from, action),
            to => builder.edge(from, action, to),
        };
    }

    // The previous checks have found every other mistake that a file can contain, with its place.
    let flow = builder
        .build()
        .map_err(|error| found.push(Found::new(tree.place, path, one_line(error.to_string()))))
        .ok()?;

    let without_end = flow.nodes_without_end();
    let Some((first, _)) = without_end.split_first() else {
        return Some(flow);
    };

    let index = ids.first(first)?;
    let nodes = tree.get("nodes").map(Tree::items).unwrap_or_default();
    let node = nodes.get(index)?;
    found.push(Found::new(
        node.get("id").unwrap_or(node).place,
        &path.key("nodes").index(index),
        endless(&without_end),
    ));
    None
}

fn endless(nodes: &[&str]) -> String {
    let from = list(nodes);
    let one = if nodes.len() == 1 {
        "it"
    } else {
        "one of them"
    };

    format!("no edges lead from {from} to the end; expected an edge with `to: {END}` from {one}")
}
