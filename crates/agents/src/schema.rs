//! The JSON Schema of files, which consists of a fixed part and the settings of providers and node
//! types.

use cogwork_thinking::settings::Registered;
use cogwork_thinking::settings::schema_of;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value as Json, json};

use crate::Loader;
use crate::check::{ENVIRONMENT, NOUN, TAG};
use crate::load::{Graph, ServerSettings};
use crate::loader::{NodeType, Provider};
use crate::settings::{RequestSettings, properties};

const REQUEST: &str = "request";

/// The keys of a file.
#[derive(JsonSchema)]
#[schemars(extend("required" = ["nodes"], "additionalProperties" = false))]
#[expect(
    dead_code,
    reason = "only for the schema: a file is read piece by piece"
)]
struct FlowFile {
    /// The name of the flow, for drawings and errors. Default: flow.
    #[schemars(length(min = 1, max = 200), extend("x-environment" = false))]
    name: Option<String>,
    /// Where the tools come from that nodes can name, in addition to those of the program.
    tools: Option<ToolSources>,
    #[schemars(flatten)]
    graph: Graph,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "only for the schema")]
struct ToolSources {
    /// Servers that speak the Model Context Protocol. They are started with the run.
    mcp: Option<Vec<ServerSettings>>,
}

pub(crate) fn of_file(loader: &Loader) -> Json {
    let mut definitions = Map::new();
    definitions.insert("nodes".to_owned(), nodes(loader));
    definitions.insert("tool".to_owned(), tool(loader));
    definitions.insert("thinking".to_owned(), thinking(loader));
    definitions.insert(REQUEST.to_owned(), schema_of::<RequestSettings>());

    for (name, provider) in loader.providers.iter() {
        definitions.insert(format!("provider.{name}"), provider.schema.clone());
    }
    for (name, node_type) in loader.node_types.iter() {
        definitions.insert(format!("settings.{name}"), node_type.schema.clone());
        definitions.insert(format!("config.{name}"), config(name, node_type, loader));
    }

    let mut file = schema_of::<FlowFile>();
    if let Some(file) = file.as_object_mut() {
        let draft = "https://json-schema.org/draft/2020-12/schema";
        // Editors choose the rules of the draft by it.
        file.insert("$schema".to_owned(), draft.into());
        file.insert("title".to_owned(), "A flow of Cogwork".into());
        file.insert("$defs".to_owned(), Json::Object(definitions));
    }
    file
}

/// The nodes of a flow, for a setting.
pub(crate) fn nodes_setting(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"$ref": "#/$defs/nodes"})
}

/// The name of a tool, for a setting.
pub(crate) fn tool_setting(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"$ref": "#/$defs/tool"})
}

/// The names of tools, for a setting.
pub(crate) fn tools_setting(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "array", "items": {"$ref": "#/$defs/tool"}})
}

/// The thinking modes of a node, for a setting.
pub(crate) fn thinking_setting(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"$ref": "#/$defs/thinking"})
}

fn nodes(loader: &Loader) -> Json {
    let types = loader.node_types.iter();
    let branches: Vec<_> = types
        .map(|(name, node_type)| node(name, node_type))
        .collect();
    json!({
        "description": "The nodes of the flow.",
        "type": "array",
        "minItems": 1,
        "items": {"oneOf": branches, TAG: "type", NOUN: "node type"},
    })
}

fn node(name: &str, node_type: &Registered<NodeType>) -> Json {
    // A client has at least one required setting, its provider.
    let needs_config = node_type.value.has_client || node_type.schema.get("required").is_some();
    let mut required = vec!["id", "type"];
    required.extend(needs_config.then_some("config"));

    json!({
        "type": "object",
        "properties": {
            "id": {
                "description": "By what edges, prompts and the result name the node.",
                "type": "string", "minLength": 1, "maxLength": 200, ENVIRONMENT: false
            },
            "type": {"const": name, "description": node_type.summary, ENVIRONMENT: false},
            "config": {"$ref": format!("#/$defs/config.{name}")},
        },
        "required": required,
        "additionalProperties": false,
    })
}

fn tool(loader: &Loader) -> Json {
    let names: Vec<_> = loader.tools.names().collect();
    // Those of the servers in the file aren't known here, so any text may be one.
    let name = [json!({"type": "string"}), json!({"enum": names})];
    json!({"anyOf": name, ENVIRONMENT: false})
}

fn thinking(loader: &Loader) -> Json {
    let mut mode = loader.modes.schema();
    if let Some(mode) = mode.as_object_mut() {
        mode.insert("type".to_owned(), "object".into());
        mode.insert(TAG.to_owned(), "type".into());
        mode.insert(NOUN.to_owned(), "mode".into());
    }

    json!({
        "description": "The thinking around the agent's visit: a mode, or several, in the order in which their hooks are called.",
        "anyOf": [mode, {"type": "array", "items": mode, "maxItems": 20}],
    })
}

/// Returns the settings of a node, with one schema per provider, so that editors suggest the
/// settings of the selected provider. Each setting is defined once and referenced.
fn config(name: &str, node_type: &Registered<NodeType>, loader: &Loader) -> Json {
    if !node_type.value.has_client {
        return json!({"$ref": format!("#/$defs/settings.{name}")});
    }

    let request = schema_of::<RequestSettings>();
    let branch = |(provider, registered): (&str, &Registered<Provider>)| {
        let parts = [
            (&registered.schema, format!("provider.{provider}")),
            (&request, REQUEST.to_owned()),
            (&node_type.schema, format!("settings.{name}")),
        ];

        let mut all = Map::new();
        let mut required = vec![json!("provider")];
        for (schema, part) in &parts {
            for key in properties(schema).into_iter().flat_map(Map::keys) {
                // A custom provider may have any names of settings.
                let escaped = key.replace('~', "~0").replace('/', "~1");
                let reference = format!("#/$defs/{part}/properties/{escaped}");
                all.insert(key.clone(), json!({"$ref": reference}));
            }
            let more = schema.get("required").and_then(Json::as_array);
            required.extend(more.into_iter().flatten().cloned());
        }

        let tag = json!({"const": provider, "description": registered.summary, ENVIRONMENT: false});
        all.insert("provider".to_owned(), tag);
        json!({"type": "object", "properties": all, "required": required, "additionalProperties": false})
    };

    json!({"oneOf": loader.providers.iter().map(branch).collect::<Vec<_>>(), TAG: "provider", NOUN: "provider"})
}

/// Returns the keys of the objects of a schema, unless they may have others.
pub(crate) fn keys_of(schema: &Json) -> Option<Vec<&str>> {
    const CLOSED: [&str; 8] = [
        "type",
        "title",
        "description",
        "properties",
        "required",
        "$defs",
        "$schema",
        "additionalProperties",
    ];

    let keywords = schema.as_object()?;
    // Any other keyword may allow more, and so may these if they are given.
    let is_closed = |(keyword, value): (&String, &Json)| match keyword.as_str() {
        "additionalProperties" => *value == false,
        keyword => CLOSED.contains(&keyword),
    };
    if !keywords.iter().all(is_closed) {
        return None;
    }

    let properties = schema.get("properties")?.as_object()?;
    let mut keys: Vec<&str> = properties.keys().map(String::as_str).collect();
    keys.extend(required_keys(schema));
    keys.sort_unstable();
    keys.dedup();
    // A slot has dots between the keys.
    keys.iter().all(|key| !key.contains('.')).then_some(keys)
}

/// Returns the keys that each object of a schema has.
pub(crate) fn required_keys(schema: &Json) -> impl Iterator<Item = &str> {
    let required = schema.get("required").and_then(Json::as_array);
    required.into_iter().flatten().filter_map(Json::as_str)
}
