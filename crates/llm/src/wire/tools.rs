//! Tools and earlier tool calls in the form that servers accept. Tools come from the program, so an
//! invalid one is an error. Calls come from the model: the program must be able to answer any call
//! and continue, so invalid ones are rewritten into a form that servers accept.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{STRICT, Settings, invalid, schema};
use crate::{ChatRequest, LlmError, ToolCall, ToolChoice, ToolDefinition};

/// The maximum length of a tool name for OpenAI, in characters.
const NAME: usize = 64;
/// The maximum number of strict tools in a request, which is that of Anthropic.
const STRICT_TOOLS: usize = 20;

/// Returns the input schema of a tool.
pub(crate) fn input_schema(tool: &ToolDefinition) -> Result<&RawValue, LlmError> {
    schema(tool.input_schema()).ok_or_else(|| {
        let name = tool.name();
        invalid(format!(
            "the input schema of the tool {name:?} isn't a JSON object; expected a JSON Schema"
        ))
    })
}

/// Returns, for each tool, whether the server shall guarantee that arguments match the schema.
pub(crate) fn strictness(request: &ChatRequest, settings: &mut Settings<'_>) -> Vec<bool> {
    let tools = request.tools();
    let is_strict = |tool: &ToolDefinition| {
        let schema = serde_json::from_str::<Value>(tool.input_schema());
        schema.is_ok_and(|schema| allows_strict(&schema))
    };

    let mut strict: Vec<bool> = tools.iter().map(is_strict).collect();
    let is_too_many = tools.len() > STRICT_TOOLS;
    if strict.contains(&true) && (is_too_many || !settings.allows(STRICT)) {
        strict.fill(false);
    }

    strict
}

/// Returns whether servers can guarantee a schema: every object lists its properties, all of them
/// required, and there are only keywords that servers support in this mode.
fn allows_strict(schema: &Value) -> bool {
    let Value::Object(schema) = schema else {
        return false;
    };

    schema
        .iter()
        .all(|(keyword, value)| match keyword.as_str() {
            "$schema" | "title" | "description" | "enum" | "const" | "$ref" | "required" => true,
            "type" => value != "object" || lists_its_properties(schema),
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

/// The arguments of an earlier call. Some servers parse them again and refuse the whole
/// conversation if they aren't valid JSON, so invalid arguments are sent as a string in an object.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Arguments<'a> {
    Object(&'a RawValue),
    Empty {},
    Other { invalid_json: &'a str },
}

impl<'a> Arguments<'a> {
    pub(crate) fn of(call: &'a ToolCall) -> Self {
        let text = call.arguments();

        // `Value` refuses deep nesting, as the parsers of servers do.
        let is_readable = serde_json::from_str::<Value>(text).is_ok();
        match schema(text).filter(|_| is_readable) {
            Some(object) => Self::Object(object),
            None if text.trim().is_empty() => Self::Empty {},
            None => Self::Other { invalid_json: text },
        }
    }

    /// Returns the arguments as JSON text.
    pub(crate) fn text(&self) -> Cow<'a, str> {
        match self {
            Self::Object(object) => Cow::Borrowed(object.get()),
            Self::Empty {} => Cow::Borrowed("{}"),
            Self::Other { invalid_json } => {
                Cow::Owned(serde_json::json!({ "invalid_json": invalid_json }).to_string())
            }
        }
    }
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
