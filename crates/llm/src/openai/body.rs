use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::turns::Turn;
use crate::http::tools::{self, Tool};
use crate::http::{Call, json};
use crate::{ChatRequest, LlmError, ReplyFormat, ToolChoice};

/// The field that requests usage in a stream.
const STREAM_OPTIONS: &str = "stream_options";

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Turn<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    stop: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<Format<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Choice<'a>>,
    #[serde(flatten)]
    extra: BTreeMap<&'a str, &'a Value>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Format<'a> {
    JsonObject,
    JsonSchema { json_schema: Schema<'a> },
}

#[derive(Serialize)]
struct Schema<'a> {
    name: &'a str,
    schema: &'a RawValue,
    strict: bool,
}

impl<'a> Format<'a> {
    fn of(format: &'a ReplyFormat) -> Result<Self, LlmError> {
        Ok(match format {
            ReplyFormat::Json => Self::JsonObject,
            ReplyFormat::Schema { name, schema } => Self::JsonSchema {
                json_schema: Schema {
                    name,
                    schema: json::schema(schema)?,
                    strict: true,
                },
            },
        })
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum Choice<'a> {
    Word(&'static str),
    Tool {
        r#type: &'static str,
        function: Named<'a>,
    },
}

#[derive(Serialize)]
struct Named<'a> {
    name: &'a str,
}

impl<'a> Choice<'a> {
    fn of(request: &'a ChatRequest) -> Option<Self> {
        Some(match tools::choice(request)? {
            ToolChoice::Auto => Self::Word("auto"),
            ToolChoice::None => Self::Word("none"),
            ToolChoice::Required => Self::Word("required"),
            ToolChoice::Tool(name) => Self::Tool {
                r#type: "function",
                function: Named { name },
            },
        })
    }
}

/// Encodes a request as JSON. Fields of the request take precedence over the same fields in
/// `extra`, which are thus defaults.
pub(super) fn encode(call: &Call<'_>) -> Result<Vec<u8>, LlmError> {
    let request = call.request;
    let extra = call.extra;
    let taken = |name: &str, value: &Value| match name {
        "max_tokens" => request.max_tokens().is_some(),
        "temperature" => request.temperature().is_some(),
        "seed" => request.seed().is_some(),
        "stop" => !request.stop().is_empty(),
        "response_format" => request.format().is_some(),
        "tools" => !request.tools().is_empty(),
        "tool_choice" => !request.tools().is_empty() && request.tool_choice().is_some(),
        // Servers refuse the field without a stream, and some refuse it always.
        STREAM_OPTIONS => !call.stream || value.is_null(),
        _ => false,
    };

    let asks_for_usage = call.stream && !extra.contains_key(STREAM_OPTIONS);
    json::to_bytes(&Body {
        model: call.model,
        messages: Turn::all_of(request)?,
        max_tokens: request.max_tokens(),
        temperature: request.temperature(),
        seed: request.seed(),
        stop: request.stop(),
        stream: call.stream.then_some(true),
        stream_options: asks_for_usage.then_some(StreamOptions {
            include_usage: true,
        }),
        response_format: request.format().map(Format::of).transpose()?,
        tools: Tool::all_of(request)?,
        tool_choice: Choice::of(request),
        extra: extra
            .iter()
            .map(|(name, value)| (name.as_str(), value))
            .filter(|(name, value)| !taken(name, value))
            .collect(),
    })
}
