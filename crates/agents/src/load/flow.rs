//! Creates the nodes and edges of a flow, either of a file or inside a node.

use cogwork_flow::Flow;
use cogwork_llm::ChatRequest;
use serde_json::Value as Json;

use super::loading::{Assembled, Loading, MAX_NODES, SideBySide, Source};
use super::making::Making;
use super::wiring::{END, NodeIds, Wiring, text_at};
use crate::node_type::Made;
use crate::problem::{Found, Problems};
use crate::quote::Name;
use crate::yaml::{Path, Tree};
use crate::{Template, TemplateError};

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
        let answer = self.answer(tree, &ids, path, found);

        let name = tree.get("name").and_then(Tree::text).unwrap_or("flow");
        let wiring = Wiring::of(tree, path, &ids, found);
        let flow = wiring.build(name, made, found)?;
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
    ) -> Option<SideBySide> {
        let (ids, made) = self.nodes(source, tree, path, found)?;
        let answer = self.answer(tree, &ids, path, found);
        let made = made.into_iter().collect::<Option<Vec<Made>>>();
        let made = made.filter(|_| found.is_empty())?;

        let flows = ids.iter().zip(made).map(|(id, made)| {
            let Made { actions, add } = made;
            let builder = add(Flow::builder(id).start(id), id.to_owned());
            let mut actions = actions.into_iter();
            let builder = actions
                .by_ref()
                .fold(builder, |builder, action| builder.end(id, action));
            Some((id.to_owned(), builder.build().ok()?))
        });
        Some(SideBySide {
            flows: flows.collect::<Option<_>>()?,
            answer,
        })
    }

    /// Returns the ids of the nodes, and the nodes that could be made.
    fn nodes<'t>(
        &mut self,
        source: &Source,
        tree: &'t Tree,
        path: &Path,
        found: &mut Problems,
    ) -> Option<(NodeIds<'t>, Vec<Option<Made>>)> {
        let path = path.key("nodes");
        let nodes = tree.get("nodes").map(Tree::items).unwrap_or_default();
        let ids = NodeIds::of(nodes);
        check_ids(nodes, &ids, &path, found);

        self.nodes = self.nodes.saturating_add(nodes.len());
        if self.nodes > MAX_NODES {
            let message = format!(
                "the flow has more than {MAX_NODES} nodes, with all its subflows; expected fewer"
            );
            found.push(Found::new(tree.place, &path, message));
            return None;
        }

        let mut made = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            let path = path.index(index);
            // If the provider is unknown, the other settings can still be checked.
            let config = path.key("config");
            let of_provider = |found: &Found| {
                let is_here = found.path == config || found.path == config.key("provider");
                found.is_of_tag && is_here
            };
            // Each problem of a node costs a search for similar names.
            let is_sound = found.of(&path).all(of_provider) && !found.is_full();
            let node = is_sound.then(|| self.node(source, node, &ids, &path, found));
            made.push(node.flatten());
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
            let message = self.told(&error);
            found.push(Found::new(answer.place, &path.key("answer"), message));
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
        ids: &NodeIds<'_>,
        path: &Path,
        found: &mut Problems,
    ) -> Option<Made> {
        let node_type = self.loader.node_types.get(text_at(node, "type"))?.clone();
        let path = path.key("config");
        let nothing = Tree {
            place: node.place,
            value: crate::yaml::Value::Map(Vec::new()),
        };
        let config = node.get("config").unwrap_or(&nothing);
        let Json::Object(mut values) = config.to_json() else {
            return None;
        };

        let id = text_at(node, "id");
        let mut making = Making {
            loading: self,
            source,
            id,
            ids,
            config,
            path: &path,
            found,
            client: None,
            request: ChatRequest::default(),
        };
        let mut problems = making.prepare(&node_type, &mut values);
        let made = node_type
            .make(Json::Object(values), &mut making)
            .map_err(|more| problems.extend(more))
            .ok();

        for problem in problems {
            found.push(config.problem(&path, problem));
        }
        made
    }
}

fn check_ids(nodes: &[Tree], ids: &NodeIds<'_>, path: &Path, found: &mut Problems) {
    for (index, (node, id)) in nodes.iter().zip(ids.iter()).enumerate() {
        let Some(tree) = node.get("id").filter(|tree| tree.text().is_some()) else {
            continue;
        };

        let first = ids.first(id).filter(|first| *first != index);
        let message = if RESERVED.contains(&id) {
            format!("`{id}` is reserved; choose another node id")
        } else if id.contains(['{', '}']) {
            "an id with a brace cannot be a slot of a prompt; choose an id without braces"
                .to_owned()
        } else if let Some(first) = first {
            let first = nodes.get(first).and_then(|node| node.get("id"));
            let line = first.map_or(0, |id| id.place.line);
            format!(
                "line {line} already has a node with the id `{}`; choose another id",
                Name(id)
            )
        } else {
            continue;
        };
        found.push(Found::new(
            tree.place,
            &path.index(index).key("id"),
            message,
        ));
    }
}
