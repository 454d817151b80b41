//! Schemas of arguments and results.

use std::sync::Arc;

use cogwork_strategies::{Strategies, Strategy};
use rmcp::model::JsonObject;
use serde_json::{Map, Value, json};

use super::report::Report;
use crate::tool::schema_of;

/// Returns the schema of an object with these properties.
pub(crate) fn object(properties: Vec<(&str, Value)>, required: &[&str]) -> Arc<JsonObject> {
    let properties = properties
        .into_iter()
        .map(|(name, schema)| (name.to_owned(), schema));
    let properties: Map<String, Value> = properties.collect();

    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    Arc::new(schema)
}

/// Returns the schema of the name of a strategy.
pub(crate) fn strategy(strategies: &Strategies, description: &str) -> Value {
    let names: Vec<&str> = strategies.iter().flat_map(Strategy::names).collect();
    json!({"type": "string", "enum": names, "description": description})
}

pub(crate) fn session_id() -> Value {
    json!({
        "type": "string",
        "description": "The session. By default, the one that this client used last.",
    })
}

pub(crate) fn purpose() -> Value {
    json!({
        "type": "string",
        "description": "What the session is for, in a line that lists and searches show.",
    })
}

/// Returns the schema of a report, or of a refusal, which has no session if none has begun.
pub(crate) fn report() -> Arc<JsonObject> {
    let mut schema = schema_of::<Report>();
    Arc::make_mut(&mut schema).remove("required");
    schema
}
