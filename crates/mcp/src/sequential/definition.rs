//! The name, the description and the schemas of the tool.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use super::arguments::MAX_INTEGER;
use crate::store::SessionId;

pub(super) const NAME: &str = "sequentialthinking";

const DESCRIPTION: &str = include_str!("description.md");

/// The version of JSON Schema that the original names.
const SCHEMA: &str = "http://json-schema.org/draft-07/schema#";

pub(super) fn definition() -> Tool {
    let annotations = ToolAnnotations::new()
        .read_only(false)
        .destructive(false)
        .idempotent(false)
        .open_world(false);

    Tool::new(NAME, DESCRIPTION.trim(), object(input()))
        .with_title("Sequential Thinking")
        .with_raw_output_schema(object(output()))
        .with_annotations(annotations)
}

fn object(schema: Value) -> Arc<JsonObject> {
    match schema {
        Value::Object(schema) => Arc::new(schema),
        _ => Arc::default(),
    }
}

fn input() -> Value {
    json!({
        "$schema": SCHEMA,
        "type": "object",
        "properties": {
            "thought": text("What this step of the reasoning says"),
            "nextThoughtNeeded": boolean("Whether another step follows"),
            "thoughtNumber": integer("The number of this thought, starting from 1"),
            "totalThoughts": integer("How many thoughts will probably be needed in all"),
            "isRevision": boolean("Whether this thought corrects an earlier one"),
            "revisesThought": integer("The number of the thought that is corrected"),
            "branchFromThought": integer("The number of the thought at which the branch starts"),
            "branchId": text("The name of the branch that this thought belongs to"),
            "needsMoreThoughts": boolean("Whether more thoughts are needed than estimated"),
            "sessionId": session(),
        },
        "required": ["thought", "nextThoughtNeeded", "thoughtNumber", "totalThoughts"],
    })
}

fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

/// Some hosts send booleans as text.
fn boolean(description: &str) -> Value {
    json!({ "type": ["boolean", "string"], "description": description })
}

fn integer(description: &str) -> Value {
    json!({
        "type": "integer",
        "minimum": 1,
        "maximum": MAX_INTEGER,
        "description": description,
    })
}

fn session() -> Value {
    let max = SessionId::MAX_CHARS;
    let description = format!(
        "A session to continue or to start: 1 to {max} letters, digits or any of -_.: \
        (optional; by default, the one of this conversation)"
    );
    text(&description)
}

fn output() -> Value {
    json!({
        "$schema": SCHEMA,
        "type": "object",
        "properties": {
            "thoughtNumber": { "type": "number" },
            "totalThoughts": { "type": "number" },
            "nextThoughtNeeded": { "type": "boolean" },
            "branches": { "type": "array", "items": { "type": "string" } },
            "thoughtHistoryLength": { "type": "number" },
        },
        "required": [
            "thoughtNumber",
            "totalThoughts",
            "nextThoughtNeeded",
            "branches",
            "thoughtHistoryLength",
        ],
        "additionalProperties": false,
    })
}
