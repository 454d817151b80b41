//! What protocols are told of tools and of the calls that a model made earlier. The tools are the
//! program's, and what is wrong with them is an error. The calls are the model's: whatever it wrote, the
//! program must be able to answer it and go on, so what no server would take is sent in a form it takes.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::RawValue;

use super::braces::Braces;
use super::errors::invalid;
use super::json;
use crate::{ChatRequest, LlmError, ToolCall, ToolDefinition};

/// The longest name of a tool that OpenAI takes, in characters.
const NAME: usize = 64;
/// How deep arguments may be nested: what serde_json reads, and less than other readers fail at.
const DEPTH: usize = 128;

/// A tool as OpenAI and Ollama are told of it.
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
            "the input schema of the tool {name:?} is no JSON object; expected a JSON Schema"
        ))
    })
}

/// The arguments of an earlier call. Some servers read them again and refuse the whole conversation over
/// a call that is no JSON, so one that is not goes as a text in an object.
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

    /// As a text of JSON.
    pub(crate) fn text(&self) -> Result<Cow<'a, str>, LlmError> {
        match self {
            Self::Object(object) => Ok(Cow::Borrowed(object.get())),
            other => json::to_text(other).map(Cow::Owned),
        }
    }
}

/// The name of the tool that an earlier call is of: as it is if there is such a tool, or else with `_`
/// for what a name cannot hold.
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

/// The text as a name or an id: letters, digits, `_` and `-`.
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
