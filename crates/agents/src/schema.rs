//! The JSON Schema of files, which consists of a fixed part and the settings of providers and node
//! types.

use serde_json::{Map, Value as Json, json};

use crate::check::{ENVIRONMENT, NOUN, TOOL};
use crate::load::ServerSettings;
use crate::settings::{RequestSettings, properties, schema_of};
use crate::{Loader, NodeType, Provider};

const REQUEST: &str = "request";
const SERVER: &str = "mcp_server";

pub(crate) fn of_file(loader: &Loader) -> Json {
    let mut definitions = Map::new();
    definitions.insert("nodes".to_owned(), nodes(loader));
    definitions.insert("edges".to_owned(), edges());
    definitions.insert("tool".to_owned(), tool(loader));
    definitions.insert(
        "tools".to_owned(),
        json!({"type": "array", "items": {"$ref": "#/$defs/tool"}}),
    );
    definitions.insert(SERVER.to_owned(), schema_of::<ServerSettings>());
    definitions.insert("thinking".to_owned(), thinking(loader));
    definitions.insert(REQUEST.to_owned(), schema_of::<RequestSettings>());

    for provider in loader.providers.values() {
        definitions.insert(
            named("provider", provider.name()),
            provider.schema().clone(),
        );
    }

    for node_type in loader.node_types.values() {
        definitions.insert(
            named("settings", node_type.name()),
            node_type.schema().clone(),
        );
        definitions.insert(config_name(node_type), config(node_type, loader));
    }

    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A flow of Cogwork",
        "type": "object",
        "properties": {
            "name": {
                "description": "The name of the flow, for drawings and errors. Default: flow.",
                "type": "string", "minLength": 1, "maxLength": 200, ENVIRONMENT: false
            },
            "start": {
                "description": "The id of the node where a run begins. Default: the first node.",
                "type": "string", ENVIRONMENT: false
            },
            "answer": {
                "description": "What the flow says at its end, with slots: {input}, {last}, and the id of any node. \
                                Default: {last}, what was said last.",
                "type": "string"
            },
            "tools": {
                "description": "Where the tools come from that nodes can name, in addition to those of the program.",
                "type": "object",
                "properties": {"mcp": {
                    "description": "Servers that speak the Model Context Protocol. They are started with the run.",
                    "type": "array",
                    "items": {"$ref": format!("#/$defs/{SERVER}")},
                }},
                "additionalProperties": false,
            },
            "nodes": {"$ref": "#/$defs/nodes"},
            "edges": {"$ref": "#/$defs/edges"},
        },
        "required": ["nodes"],
        "additionalProperties": false,
        "$defs": definitions,
    })
}

fn nodes(loader: &Loader) -> Json {
    let branches: Vec<_> = loader.node_types.values().map(node).collect();
    json!({
        "description": "The nodes of the flow.",
        "type": "array",
        "minItems": 1,
        "items": {"oneOf": branches, NOUN: "node type"},
    })
}

fn node(node_type: &NodeType) -> Json {
    let needs_config = node_type.has_client() || node_type.schema().get("required").is_some();
    let mut required = vec!["id", "type"];
    required.extend(needs_config.then_some("config"));

    json!({
        "type": "object",
        "properties": {
            "id": {
                "description": "By what edges, prompts and the result name the node.",
                "type": "string", "minLength": 1, "maxLength": 200, ENVIRONMENT: false
            },
            "type": {"const": node_type.name(), "description": node_type.summary(), ENVIRONMENT: false},
            "config": {"$ref": format!("#/$defs/{}", config_name(node_type))},
        },
        "required": required,
        "additionalProperties": false,
    })
}

fn edges() -> Json {
    json!({
        "description": "The edges between the nodes. A node without any ends the flow, by whatever action; \
                        as soon as it has one, each of its actions needs one.",
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "from": {"description": "The id of a node.", "type": "string", ENVIRONMENT: false},
                "action": {
                    "description": "The action by which the node is left. Default: default.",
                    "type": "string", ENVIRONMENT: false
                },
                "to": {
                    "description": "The id of the node that follows, or end.",
                    "type": "string", ENVIRONMENT: false
                },
            },
            "required": ["from", "to"],
            "additionalProperties": false,
        },
    })
}

fn tool(loader: &Loader) -> Json {
    let names: Vec<_> = loader.tools.names().collect();
    // Those of the servers in the file aren't known here.
    let name = [json!({"enum": names}), json!({"type": "string"})];
    json!({"anyOf": name, NOUN: "tool", TOOL: true, ENVIRONMENT: false})
}

fn thinking(loader: &Loader) -> Json {
    let mut mode = loader.modes.schema();
    if let Some(mode) = mode.as_object_mut() {
        mode.insert("type".to_owned(), "object".into());
        mode.insert(NOUN.to_owned(), "mode".into());
    }

    json!({
        "description": "The thinking around the agent's visit: a mode, or several, in the order in which their hooks are called.",
        "anyOf": [mode, {"type": "array", "items": mode, "maxItems": 20}],
    })
}

/// Returns the name of a definition, without `/` and `~`, which have a meaning in references.
fn named(kind: &str, name: &str) -> String {
    let part = |c: char| {
        if c.is_alphanumeric() || matches!(c, '_' | '-') {
            c
        } else {
            '.'
        }
    };
    format!("{kind}.{}", name.chars().map(part).collect::<String>())
}

fn config_name(node_type: &NodeType) -> String {
    named("config", node_type.name())
}

/// Returns the settings of a node, with one schema per provider, so that editors suggest the
/// settings of the selected provider. Each setting is defined once and referenced.
fn config(node_type: &NodeType, loader: &Loader) -> Json {
    if !node_type.has_client() {
        return json!({"$ref": format!("#/$defs/{}", named("settings", node_type.name()))});
    }

    let request = schema_of::<RequestSettings>();
    let branch = |provider: &Provider| {
        let parts = [
            (provider.schema(), named("provider", provider.name())),
            (&request, REQUEST.to_owned()),
            (node_type.schema(), named("settings", node_type.name())),
        ];

        let mut all = Map::new();
        for (schema, name) in &parts {
            for key in properties(schema).into_iter().flat_map(Map::keys) {
                let escaped = key.replace('~', "~0").replace('/', "~1");
                all.insert(
                    key.clone(),
                    json!({"$ref": format!("#/$defs/{name}/properties/{escaped}")}),
                );
            }
        }

        let tag = json!({"const": provider.name(), "description": provider.summary(), ENVIRONMENT: false});
        all.insert("provider".to_owned(), tag);
        let required = parts
            .iter()
            .filter_map(|(part, _)| part.get("required")?.as_array())
            .flatten();
        let required: Vec<_> = [json!("provider")]
            .into_iter()
            .chain(required.cloned())
            .collect();

        json!({"type": "object", "properties": all, "required": required, "additionalProperties": false})
    };

    json!({"oneOf": loader.providers.values().map(branch).collect::<Vec<_>>(), NOUN: "provider"})
}
