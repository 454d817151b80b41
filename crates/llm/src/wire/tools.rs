//! Tools and earlier tool calls in the form that servers accept. Tools come from the program, so an
//! invalid one is an error. Calls come from the model: the program must be able to answer any call
//! and continue, so invalid ones are rewritten into a form that servers accept.

use std::borrow::Cow;

use serde_json::Value;
use serde_json::value::RawValue;

use super::json::Json;
use super::{invalid, list, schema};
use crate::{ChatRequest, LlmError, ToolCall, ToolChoice, ToolDefinition};

/// The maximum length of a tool name for OpenAI, in characters.
const NAME: usize = 64;
/// The maximum number of strict tools in a request, which is that of Anthropic.
const STRICT_TOOLS: usize = 20;

/// Returns the tools of a request as `define` writes them, from their name, their description, their
/// input schema, and whether the server shall guarantee that arguments match it.
pub(crate) fn definitions<'a>(
    request: &'a ChatRequest,
    mut allows_strict: impl FnMut() -> bool,
    define: impl Fn([Json<'a>; 3], bool) -> Json<'a>,
) -> Result<Json<'a>, LlmError> {
    let tools = request.tools();
    if tools.is_empty() {
        return Ok(Json::Absent);
    }

    let mut strict: Vec<bool> = tools.iter().map(is_strict).collect();
    // With one strict tool too many, the server would refuse the whole request.
    if strict.contains(&true) && (tools.len() > STRICT_TOOLS || !allows_strict()) {
        strict.fill(false);
    }

    let tools = tools.iter().zip(strict).map(|(tool, strict)| {
        let name = tool.name();
        let schema = schema(tool.input_schema()).ok_or_else(|| {
            invalid(format!(
                "the input schema of the tool {name:?} isn't a JSON object; expected a JSON Schema"
            ))
        })?;
        let description = Some(tool.description()).filter(|text| !text.is_empty());

        Ok(define(
            [name.into(), description.into(), schema.into()],
            strict,
        ))
    });
    tools.collect()
}

fn is_strict(tool: &ToolDefinition) -> bool {
    let schema = serde_json::from_str::<Value>(tool.input_schema());
    schema.is_ok_and(|schema| allows_strict(&schema))
}

/// Returns whether servers can guarantee a schema: every object lists its properties, all of them
/// required, and there are only keywords that servers support in this mode.
fn allows_strict(schema: &Value) -> bool {
    let Value::Object(schema) = schema else {
        return false;
    };

    // Without a type, anything is allowed, which servers cannot guarantee.
    let says_type = ["type", "$ref", "anyOf"]
        .iter()
        .any(|keyword| schema.contains_key(*keyword));
    if !says_type {
        return false;
    }

    schema
        .iter()
        .all(|(keyword, value)| match keyword.as_str() {
            "$schema" | "title" | "description" | "enum" | "const" | "$ref" | "required" => true,
            "type" => !names_object(value) || lists_its_properties(schema),
            "properties" | "$defs" => value
                .as_object()
                .is_some_and(|schemas| schemas.values().all(allows_strict)),
            "items" => allows_strict(value),
            "anyOf" => value
                .as_array()
                .is_some_and(|schemas| schemas.iter().all(allows_strict)),
            "additionalProperties" => *value == Value::Bool(false),
            _ => false,
        })
}

fn names_object(kind: &Value) -> bool {
    *kind == "object" || list(kind, "").iter().any(|name| name == "object")
}

fn lists_its_properties(object: &serde_json::Map<String, Value>) -> bool {
    let is_closed = object.get("additionalProperties") == Some(&Value::Bool(false));
    let required = object.get("required").and_then(Value::as_array);
    let properties = object.get("properties").and_then(Value::as_object);

    let is_required = |name: &String| {
        required.is_some_and(|names| names.iter().any(|required| required == name.as_str()))
    };
    is_closed && properties.is_some_and(|properties| properties.keys().all(is_required))
}

/// Returns the tool choice, or `None` if the request has no tools, because servers refuse a choice
/// without tools.
pub(crate) fn choice(request: &ChatRequest) -> Option<&ToolChoice> {
    request
        .tool_choice()
        .filter(|_| !request.tools().is_empty())
}

/// Returns the arguments of an earlier call, a JSON object. Some servers parse them again and refuse
/// the whole conversation if they aren't valid, so invalid ones are sent as a text in an object.
pub(crate) fn arguments(call: &ToolCall) -> Cow<'_, str> {
    let text = call.arguments();
    // `Value` refuses deep nesting, as the parsers of servers do.
    let is_readable = serde_json::from_str::<Value>(text).is_ok();

    match schema(text).filter(|_| is_readable) {
        Some(object) => object.get().into(),
        None if text.trim().is_empty() => "{}".into(),
        None => serde_json::json!({"invalid_json": text}).to_string().into(),
    }
}

/// Returns the arguments of an earlier call as JSON, for servers that don't want a text.
pub(crate) fn raw_arguments(call: &ToolCall) -> Json<'static> {
    RawValue::from_string(arguments(call).into_owned()).map_or(Json::Absent, Json::Raw)
}

/// Returns the name of the tool of an earlier call: unchanged if the request contains the tool,
/// otherwise with `_` for characters that a name cannot contain.
pub(crate) fn name<'a>(call: &'a ToolCall, request: &ChatRequest) -> Cow<'a, str> {
    let is_known = request
        .tools()
        .iter()
        .any(|tool| tool.name() == call.name());

    if is_known {
        Cow::Borrowed(call.name())
    } else {
        plain(call.name())
    }
}

/// Returns the text with `_` for everything except letters, digits, `_` and `-`.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');

    match text {
        "" => Cow::Borrowed("_"),
        text if text.len() <= NAME && text.chars().all(is_plain) => Cow::Borrowed(text),
        text => text
            .chars()
            .take(NAME)
            .map(|c| if is_plain(c) { c } else { '_' })
            .collect(),
    }
}
