//! Bounds for the schemas of servers.

use serde_json::{Map, Value};

/// The maximum nesting depth of a schema.
const MAX_DEPTH: usize = 32;

/// The maximum length of a schema, in bytes.
const MAX_BYTES: usize = 16 * 1024;

/// Returns the input schema as text, or what is wrong with it.
pub(super) fn input_schema(schema: Option<&Value>) -> Result<String, String> {
    let fields = match schema {
        Some(Value::Object(fields)) => fields,
        Some(_) => return Err("its input schema isn't a JSON object".to_owned()),
        None => return Err("it has no input schema".to_owned()),
    };

    match fields.get("type") {
        None => {}
        Some(Value::String(name)) if name == "object" => {}
        Some(_) => return Err("its input schema isn't that of an object".to_owned()),
    }

    if !fields.values().all(|value| is_flat(value, MAX_DEPTH - 1)) {
        return Err(format!(
            "its input schema is nested deeper than {MAX_DEPTH} levels"
        ));
    }

    let text = as_text(fields);
    if text.len() > MAX_BYTES {
        let length = text.len();
        return Err(format!(
            "its input schema has {length} bytes; expected at most {MAX_BYTES}"
        ));
    }

    Ok(text)
}

/// Adds a missing type, and removes the address of the dialect, which some servers of models refuse.
fn as_text(fields: &Map<String, Value>) -> String {
    let mut fields = fields.clone();
    fields.remove("$schema");
    fields
        .entry("type")
        .or_insert_with(|| Value::from("object"));

    Value::Object(fields).to_string()
}

/// Returns whether a value has at most this many levels.
fn is_flat(value: &Value, levels: usize) -> bool {
    let is_nested = value.is_array() || value.is_object();
    let Some(below) = levels.checked_sub(1) else {
        return !is_nested;
    };

    match value {
        Value::Array(items) => items.iter().all(|item| is_flat(item, below)),
        Value::Object(fields) => fields.values().all(|field| is_flat(field, below)),
        _ => true,
    }
}
