//! Reading the arguments of a call by the schema of their type, with errors that name the argument.

use std::fmt;

use cogwork_strategies::Mistyped;
use cogwork_text::NameList;
use cogwork_tools::schemars::JsonSchema;
use rmcp::model::JsonObject;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::store::SessionId;
use crate::tool::{ToolFailure, schema_of};

/// Other names of arguments, which similar tools have.
const ALIASES: [(&str, &str); 8] = [
    ("action", "operation"),
    ("branchId", "branch"),
    ("branchFrom", "from"),
    ("branchFromThought", "branchFrom"),
    ("branchFromThought", "from"),
    ("completionStatus", "status"),
    ("revisesThought", "revises"),
    ("sessionPurpose", "purpose"),
];

/// Reads the arguments of a call, each of which has at most this many bytes. Others are refused.
///
/// The value null is the same as no argument. Names are found in camel case and in snake case. Since
/// some hosts send every argument as a text, the text of a number, of a boolean, of a list or of an
/// object is accepted as well, and a single text instead of a list of texts.
pub(crate) fn read<T: DeserializeOwned + JsonSchema>(
    arguments: JsonObject,
    max_bytes: usize,
) -> Result<T, ToolFailure> {
    let schema = Value::Object((*schema_of::<T>()).clone());
    let fitted = Reader { max_bytes }.object("", arguments, &schema)?;
    value_of(Value::Object(fitted))
}

/// Reads the arguments that `T` has, and leaves the others.
pub(crate) fn take<T: DeserializeOwned + JsonSchema>(
    arguments: &mut JsonObject,
    max_bytes: usize,
) -> Result<T, ToolFailure> {
    let schema = schema_of::<T>();
    let properties = schema.get("properties").and_then(Value::as_object);
    let is_known = |name: &str| properties.is_some_and(|known| known_name(known, name).is_some());

    let all = std::mem::take(arguments).into_iter();
    let (taken, others): (JsonObject, JsonObject) = all.partition(|(name, _)| is_known(name));
    *arguments = others;
    read(taken, max_bytes)
}

/// Reads the arguments of the variant with this name.
pub(crate) fn read_variant<T: DeserializeOwned + JsonSchema>(
    name: &str,
    arguments: JsonObject,
    max_bytes: usize,
) -> Result<T, ToolFailure> {
    let variants = variants::<T>();
    let schema = variants.get(name).unwrap_or(&Value::Null);
    let fitted = Reader { max_bytes }.object("", arguments, schema)?;
    value_of(json!({name: fitted}))
}

/// Returns the schemas of the variants of an enum by name.
pub(crate) fn variants<T: JsonSchema>() -> Map<String, Value> {
    let schema = schema_of::<T>();
    let variants = schema.get("oneOf").and_then(Value::as_array);
    let variants = variants.into_iter().flatten();
    let properties = variants.filter_map(|variant| variant.get("properties")?.as_object());
    properties.flat_map(Clone::clone).collect()
}

/// Returns the failure for an argument with a wrong value.
pub(crate) fn wrong(place: &str, expected: impl fmt::Display, found: &Value) -> ToolFailure {
    failure(Mistyped::of(place, expected, found))
}

/// Returns the failure for an argument that isn't there.
pub(crate) fn missing(place: &str, expected: impl fmt::Display) -> ToolFailure {
    failure(Mistyped::new(place, expected, "missing"))
}

fn failure(fault: Mistyped) -> ToolFailure {
    let message = fault.to_string();
    let data = json!({"error": {
        "kind": "argument",
        "message": message,
        "argument": fault.parameter,
        "expected": fault.expected,
        "found": fault.found,
    }});
    ToolFailure::Described { message, data }
}

fn value_of<T: DeserializeOwned>(fitted: Value) -> Result<T, ToolFailure> {
    serde_json::from_value(fitted).map_err(ToolFailure::message)
}

struct Reader {
    max_bytes: usize,
}

impl Reader {
    /// Returns a value in the form that a schema requires.
    fn fitted(&self, place: &str, value: Value, schema: &Value) -> Result<Value, ToolFailure> {
        let kind = kind(schema);
        let value = match value {
            Value::String(text) if !["string", ""].contains(&kind) => parsed(kind, text),
            value => value,
        };

        match (kind, value) {
            ("object", Value::Object(fields)) => {
                let fields = self.object(&format!("{place}."), fields, schema)?;
                Ok(Value::Object(fields))
            }
            ("array", Value::Array(items)) => self.list(place, items, schema),
            ("array", text @ Value::String(_)) if items_are(schema, "string") => {
                self.list(place, vec![text], schema)
            }
            ("", value) => Ok(value),
            (_, value) if !is_accepted(&value, schema) => {
                Err(wrong(place, expected(schema), &value))
            }
            ("string", Value::String(text)) => {
                self.check_bytes(place, text.len())?;
                Ok(Value::String(text))
            }
            ("integer", value) => Ok(value.as_f64().map_or(value, integer)),
            (_, value) => Ok(value),
        }
    }

    fn object(
        &self,
        prefix: &str,
        mut fields: JsonObject,
        schema: &Value,
    ) -> Result<JsonObject, ToolFailure> {
        fields.retain(|_, value| !value.is_null());
        let no_properties = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object);
        let properties = properties.unwrap_or(&no_properties);
        if schema.get("additionalProperties") == Some(&Value::Bool(true)) {
            self.check_bytes(prefix.trim_end_matches('.'), length(&fields))?;
            return Ok(fields);
        }

        let mut fitted = JsonObject::new();
        for (given, value) in &fields {
            let Some(name) = known_name(properties, given) else {
                let place = format!("{prefix}{given}");
                let expected = NameList::or(properties.keys());
                let found = "not an argument of this call";
                return Err(failure(Mistyped::new(&place, expected, found)));
            };
            if name != given && fields.contains_key(name) {
                continue;
            }
            let place = format!("{prefix}{name}");
            let schema = properties.get(name).unwrap_or(&Value::Null);
            let value = self.fitted(&place, value.clone(), schema)?;
            fitted.insert(name.to_owned(), value);
        }

        let required = schema.get("required").and_then(Value::as_array);
        let mut required = required.into_iter().flatten().filter_map(Value::as_str);
        match required.find(|name| !fitted.contains_key(*name)) {
            None => Ok(fitted),
            Some(name) => {
                let expected = properties.get(name).map(expected).unwrap_or_default();
                Err(missing(&format!("{prefix}{name}"), expected))
            }
        }
    }

    fn list(&self, place: &str, items: Vec<Value>, schema: &Value) -> Result<Value, ToolFailure> {
        let most = schema.get("maxItems").and_then(Value::as_u64);
        let count = u64::try_from(items.len()).unwrap_or(u64::MAX);
        if let Some(most) = most.filter(|most| count > *most) {
            let expected = format_args!("at most {most} items");
            return Err(wrong(place, expected, &count.into()));
        }

        let item = schema.get("items").unwrap_or(&Value::Null);
        let items = items.into_iter().enumerate();
        let items = items.map(|(index, value)| {
            let place = format!("{place}[{index}]");
            self.fitted(&place, value, item)
        });
        Ok(Value::Array(items.collect::<Result<_, _>>()?))
    }

    fn check_bytes(&self, place: &str, bytes: usize) -> Result<(), ToolFailure> {
        let most = self.max_bytes;
        if bytes <= most {
            return Ok(());
        }
        let expected = format_args!("at most {most} bytes");
        let found = format_args!("{bytes} bytes long");
        Err(failure(Mistyped::new(place, expected, found)))
    }
}

/// Returns the name that an argument has in the schema.
fn known_name<'a>(properties: &'a Map<String, Value>, given: &str) -> Option<&'a str> {
    let known = |name: &str| {
        properties
            .get_key_value(name)
            .map(|(name, _)| name.as_str())
    };
    let camel_case = in_camel_case(given);
    let mut aliases = ALIASES.iter().filter(|(alias, _)| *alias == camel_case);

    let found = known(given).or_else(|| known(&camel_case));
    found.or_else(|| aliases.find_map(|(_, name)| known(name)))
}

/// Returns `sessionId` for `session_id`.
fn in_camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |mut name, word| {
        let mut rest = word.chars();
        name.extend(rest.next().map(|first| first.to_ascii_uppercase()));
        name.push_str(rest.as_str());
        name
    })
}

/// Returns the type, or the first one if others are accepted as well.
fn kind(schema: &Value) -> &str {
    let kind = schema.get("type");
    let first = kind.and_then(|kinds| kinds.get(0)).or(kind);
    first.and_then(Value::as_str).unwrap_or_default()
}

fn items_are(schema: &Value, expected: &str) -> bool {
    schema.get("items").map(kind) == Some(expected)
}

/// Returns the value that a text contains, or the text.
fn parsed(kind: &str, text: String) -> Value {
    let trimmed = text.trim();
    let parsed = match kind {
        "boolean" => text.to_ascii_lowercase().parse().ok().map(Value::Bool),
        "integer" | "number" => trimmed.parse::<f64>().ok().map(Value::from),
        _ => serde_json::from_str(trimmed).ok(),
    };
    parsed
        .filter(|value| !value.is_null())
        .unwrap_or(Value::String(text))
}

/// Whether a value that is no list or object is of the type, one of the choices and within the range.
fn is_accepted(value: &Value, schema: &Value) -> bool {
    let (least, most) = range(schema);
    let is_within = |number: f64| (least..=most).contains(&number);
    let number = value.as_f64();

    match kind(schema) {
        "string" => value.as_str().is_some_and(|text| {
            choices(schema).is_none_or(|choices| choices.contains(&text))
                && (schema.get("pattern").is_none() || SessionId::named(text).is_some())
        }),
        "boolean" => value.is_boolean(),
        "integer" => number.is_some_and(|number| number.fract() == 0.0 && is_within(number)),
        "number" => number.is_some_and(is_within),
        _ => false,
    }
}

fn choices(schema: &Value) -> Option<Vec<&str>> {
    let choices = schema.get("enum")?.as_array()?;
    Some(choices.iter().filter_map(Value::as_str).collect())
}

fn range(schema: &Value) -> (f64, f64) {
    let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
    let least = bound("minimum").unwrap_or(0.0);
    (least, bound("maximum").unwrap_or_else(|| u32::MAX.into()))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is an integer within a range from 0"
)]
fn integer(number: f64) -> Value {
    Value::from(number as u64)
}

fn length(fields: &JsonObject) -> usize {
    serde_json::to_string(fields).map_or(0, |text| text.len())
}

/// Describes what a schema accepts.
fn expected(schema: &Value) -> String {
    if let Some(choices) = choices(schema) {
        return NameList::or(choices).to_string();
    }

    let (least, most) = range(schema);
    match kind(schema) {
        // There is no other pattern than that of these ids.
        "string" if schema.get("pattern").is_some() => SessionId::EXPECTED.to_owned(),
        "string" => "a text".to_owned(),
        "boolean" => "true or false".to_owned(),
        "integer" if schema.get("maximum").is_none() => format!("an integer of at least {least}"),
        "integer" => format!("an integer from {least} to {most}"),
        "number" => format!("a number from {least} to {most}"),
        "array" if items_are(schema, "string") => "a list of texts".to_owned(),
        "array" => "a list of objects".to_owned(),
        _ => "an object".to_owned(),
    }
}
