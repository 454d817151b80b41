//! Tools and earlier tool calls in the form that servers accept. Tools come from the program, so an
//! invalid one is an error. Calls come from the model: the program must be able to answer any call
//! and continue, so invalid ones are rewritten into a form that servers accept.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::RawValue;

use super::braces::Braces;
use super::errors::invalid;
use super::json;
use crate::{ChatRequest, LlmError, ToolCall, ToolChoice, ToolDefinition};

/// The maximum length of a tool name for OpenAI, in characters.
const NAME: usize = 64;
/// The maximum nesting of arguments: the limit of serde_json, and below that of other parsers.
const DEPTH: usize = 128;

/// A tool in the format of OpenAI and Ollama.
#[derive(Serialize)]
pub(crate) struct Tool<'a> {
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    parameters: &'a RawValue,
}

impl<'a> Tool<'a> {
    pub(crate) fn all_of(request: &'a ChatRequest) -> Result<Vec<Self>, LlmError> {
        let tools = request.tools().iter().map(|tool| {
            let name = tool.name();
            let description = tool.description();
            let parameters = input_schema(tool)?;
            Ok(Self {
                r#type: "function",
                function: Function {
                    name,
                    description,
                    parameters,
                },
            })
        });
        tools.collect()
    }
}

pub(crate) fn input_schema(tool: &ToolDefinition) -> Result<&RawValue, LlmError> {
    json::object(tool.input_schema()).ok_or_else(|| {
        let name = tool.name();
        invalid(format!(
            "the input schema of the tool {name:?} isn't a JSON object; expected a JSON Schema"
        ))
    })
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
        let mut braces = Braces::default();
        braces.feed(call.arguments());
        match json::object(call.arguments()).filter(|_| braces.deepest() <= DEPTH) {
            Some(object) => Self::Object(object),
            None if call.arguments().trim().is_empty() => Self::Empty {},
            None => Self::Other {
                invalid_json: call.arguments(),
            },
        }
    }

    /// Returns the arguments as JSON text.
    pub(crate) fn text(&self) -> Result<Cow<'a, str>, LlmError> {
        match self {
            Self::Object(object) => Ok(Cow::Borrowed(object.get())),
            other => json::to_text(other).map(Cow::Owned),
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
