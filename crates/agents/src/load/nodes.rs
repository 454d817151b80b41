//! Creates the nodes of a flow, either of a file or inside a node.

use std::collections::HashMap;

use cogwork_flow::Flow;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value as Json;

use super::wiring::{END, Edge, Wiring};
use super::{Loading, items_at, text_at};
use crate::names::{Name, NameList, did_you_mean, nearest};
use crate::problems::{below, item};
use crate::schema::{keys_of, nodes_setting};
use crate::{FlowState, Made, Template};

/// The maximum number of nodes of a flow, including its subflows.
const MAX_NODES: usize = 2_000;

/// The names of slots and of the end, which are reserved and can't be used as node ids.
const RESERVED: [&str; 3] = ["input", "last", END];

/// The type of a node whose nodes run side by side.
pub(crate) const BRANCHES: &str = "branches";

/// The settings of a flow, in a file or inside a node.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Graph {
    #[serde(default)]
    #[schemars(schema_with = "nodes_setting")]
    pub(crate) nodes: Option<Json>,
    /// The edges between the nodes. A node without any ends the flow, by whatever action; as soon as it has one, each of its actions needs one.
    #[serde(default)]
    pub(crate) edges: Vec<Edge>,
    /// The answer of the flow, with slots: {input}, {last}, and the id of any node. Default: {last}, the last output.
    pub(crate) answer: Option<String>,
    /// The id of the node where a run begins. Default: the first node.
    #[schemars(extend("x-environment" = false))]
    pub(crate) start: Option<String>,
}

/// A flow and its answer.
pub(crate) struct Assembled {
    pub(crate) flow: Flow<FlowState>,
    pub(crate) answer: Template,
}

/// Flows that run side by side, by the ids of their nodes, and their answer.
pub(crate) struct SideBySide {
    pub(crate) flows: Vec<(String, Flow<FlowState>)>,
    pub(crate) answer: Template,
}

/// The ids of the nodes of a flow, in order and by name.
pub(crate) struct NodeIds<'v> {
    nodes: &'v [Json],
    in_order: Vec<&'v str>,
    /// The first node with each id.
    first: HashMap<&'v str, usize>,
}

impl<'v> NodeIds<'v> {
    fn of(nodes: &'v [Json]) -> Self {
        let in_order: Vec<&str> = nodes.iter().map(|node| text_at(node, "id")).collect();
        let mut first = HashMap::new();
        for (index, id) in in_order.iter().enumerate() {
            first.entry(*id).or_insert(index);
        }

        Self {
            nodes,
            in_order,
            first,
        }
    }

    /// Returns the keys that the output of a node may have, if its settings list them.
    pub(crate) fn keys(&self, id: &str) -> Option<Vec<&'v str>> {
        let node = self.nodes.get(self.first(id)?)?;
        let config = node.get("config")?;
        if text_at(node, "type") == BRANCHES && config.get("answer").is_none() {
            let nodes = items_at(config, "nodes").iter();
            return Some(nodes.map(|node| text_at(node, "id")).collect());
        }

        keys_of(config.pointer("/output/schema")?)
    }

    pub(crate) fn contains(&self, id: &str) -> bool {
        self.first.contains_key(id)
    }

    /// Returns the position of the first node with this id.
    pub(super) fn first(&self, id: &str) -> Option<usize> {
        self.first.get(id).copied()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &'v str> + Clone {
        self.in_order.iter().copied()
    }
}

impl Loading<'_> {
    /// Returns the flow that the mapping at a path describes, or reports its problems and returns
    /// `None`. The mapping has been checked against the schema.
    pub(crate) fn flow(&mut self, value: &Json, path: &str) -> Option<Assembled> {
        let ids = NodeIds::of(items_at(value, "nodes"));
        let made = self.nodes(&ids, &ids, path)?;
        let answer = self.answer(value, &ids, path);

        let wiring = Wiring::new(value, path, &ids, &self.source.problems);
        // Built even if nodes are missing, so that problems of the edges are told in the same pass.
        let flow = wiring.build(made, &mut self.source.problems)?;
        let is_sound = self.source.problems.found.is_empty();
        is_sound.then_some(Assembled { flow, answer })
    }

    /// Returns a flow for each node of a mapping, and its answer, or reports its problems and returns
    /// `None`.
    pub(crate) fn flows(&mut self, value: &Json, path: &str) -> Option<SideBySide> {
        let ids = NodeIds::of(items_at(value, "nodes"));
        // No node sees the output of another one, since all run at the same time.
        let made = self.nodes(&ids, &NodeIds::of(&[]), path)?;
        let answer = self.answer(value, &ids, path);
        // Unlike a flow, branches have no edges that could be checked without all nodes.
        let made = made.into_iter().collect::<Option<Vec<Made>>>();
        let made = made.filter(|_| self.source.problems.found.is_empty())?;

        let flows = ids.iter().zip(made).map(|(id, Made { actions, add })| {
            let builder = add(Flow::builder(id).start(id), id.to_owned());
            let actions = actions.into_iter();
            let builder = actions.fold(builder, |builder, action| builder.end(id, action));
            Some((id.to_owned(), builder.build().ok()?))
        });
        Some(SideBySide {
            flows: flows.collect::<Option<_>>()?,
            answer,
        })
    }

    /// Returns the nodes that could be made. Their prompts have slots for those that are `visible`.
    fn nodes(
        &mut self,
        ids: &NodeIds<'_>,
        visible: &NodeIds<'_>,
        path: &str,
    ) -> Option<Vec<Option<Made>>> {
        let path = below(path, "nodes");
        let nodes = ids.nodes;
        self.check_ids(nodes, ids, &path);

        // Counted over all files, because a file may be named again and again.
        self.nodes = self.nodes.saturating_add(nodes.len());
        if self.nodes > MAX_NODES {
            let message = format!(
                "the flow has more than {MAX_NODES} nodes, with all its subflows; expected fewer"
            );
            self.push(&path, message);
            return None;
        }

        let mut made = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            let path = item(&path, index);
            // A node whose settings have been refused can't be read as its type.
            let is_sound = !self.source.problems.any_in(&path) && !self.source.problems.is_full();
            let node = is_sound.then(|| self.node(node, visible, &path));
            made.push(node.flatten());
        }

        Some(made)
    }

    fn check_ids(&mut self, nodes: &[Json], ids: &NodeIds<'_>, path: &str) {
        for (index, node) in nodes.iter().enumerate() {
            let path = below(&item(path, index), "id");
            let Some(id) = node.get("id").and_then(Json::as_str) else {
                continue;
            };

            let first = ids.first(id).filter(|first| *first != index);
            if RESERVED.contains(&id) {
                self.push(&path, format!("`{id}` is reserved; choose another node id"));
            } else if id.contains(['{', '}']) {
                let message =
                    "an id with a brace cannot be a slot of a prompt; choose an id without braces";
                self.push(&path, message);
            } else if let Some(first) = first {
                // The first one may be several lines above, and its line is what people look for.
                let first = path.replace(&format!("[{index}].id"), &format!("[{first}].id"));
                let line = self.source.problems.place(&first).line;
                let id = Name(id);
                let message =
                    format!("line {line} already has a node with the id `{id}`; choose another id");
                self.push(&path, message);
            }
        }
    }

    fn answer(&mut self, value: &Json, ids: &NodeIds<'_>, path: &str) -> Template {
        let Some(answer) = value.get("answer").and_then(Json::as_str) else {
            return Template::default();
        };

        self.template(answer, ids, &below(path, "answer"))
    }

    /// Parses the template at a path. Reports what is wrong with it.
    pub(super) fn template(&mut self, text: &str, ids: &NodeIds<'_>, path: &str) -> Template {
        let message = match Template::new(text) {
            Err(error) => error.to_string(),
            Ok(template) => match template.unknown_slot(ids) {
                None => return template,
                Some((slot, known)) => self.unknown_slot(slot, &known, path),
            },
        };

        self.push(path, message);
        Template::default()
    }

    fn unknown_slot(&self, slot: &str, known: &[String], path: &str) -> String {
        // The slot may be part of a value from the environment.
        if !self.source.problems.variables(path).is_empty() {
            return "an unknown slot, not shown because values from the environment may have braces; expected `{{` for a brace".to_owned();
        }

        let meant = did_you_mean(nearest(slot, known.iter().map(String::as_str)));
        let known = NameList::and(known.iter().map(|slot| format!("{{{slot}}}")));
        let slot = Name(slot);
        format!("unknown slot `{{{slot}}}`; known slots: {known}, and `{{{{` for a brace{meant}")
    }
}
