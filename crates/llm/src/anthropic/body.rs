use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::turns::{Turn, turns};
use crate::http::{Call, Extra, invalid, json, tools};
use crate::{ChatRequest, LlmError, Message, ReplyFormat, Role, ToolChoice, ToolDefinition};

/// The default token limit, because the API requires one.
const MAX_TOKENS: u32 = 4096;
const OUTPUT_CONFIG: &str = "output_config";

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "String::is_empty")]
    system: String,
    messages: Vec<Turn<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    stop_sequences: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Choice<'a>>,
    #[serde(flatten)]
    extra: BTreeMap<&'a str, &'a Value>,
}

/// The settings in `extra`, with the format added.
#[derive(Serialize)]
struct OutputConfig<'a> {
    format: Format<'a>,
    #[serde(flatten)]
    extra: BTreeMap<&'a str, &'a Value>,
}

impl<'a> OutputConfig<'a> {
    fn of(format: Format<'a>, extra: &'a Extra) -> Self {
        let others = extra.get(OUTPUT_CONFIG).and_then(Value::as_object);
        let others = others
            .into_iter()
            .flatten()
            .map(|(name, value)| (name.as_str(), value))
            .filter(|(name, _)| *name != "format");

        Self {
            format,
            extra: others.collect(),
        }
    }
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Format<'a> {
    JsonSchema { schema: &'a RawValue },
}

impl<'a> Format<'a> {
    fn of(format: &'a ReplyFormat) -> Result<Self, LlmError> {
        match format {
            ReplyFormat::Json => Err(invalid(
                "the Messages API supports JSON only with a schema; expected a schema, or no format",
            )),
            ReplyFormat::Schema { schema, .. } => Ok(Self::JsonSchema {
                schema: json::schema(schema)?,
            }),
        }
    }
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    input_schema: &'a RawValue,
}

impl<'a> Tool<'a> {
    fn of(tool: &'a ToolDefinition) -> Result<Self, LlmError> {
        let input_schema = tools::input_schema(tool)?;
        Ok(Self {
            name: tool.name(),
            description: tool.description(),
            input_schema,
        })
    }
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Choice<'a> {
    Auto,
    None,
    Any,
    Tool { name: &'a str },
}

impl<'a> Choice<'a> {
    fn of(request: &'a ChatRequest) -> Option<Self> {
        Some(match tools::choice(request)? {
            ToolChoice::Auto => Self::Auto,
            ToolChoice::None => Self::None,
            ToolChoice::Required => Self::Any,
            ToolChoice::Tool(name) => Self::Tool { name },
        })
    }
}

/// Encodes a request as JSON. Fields of the request take precedence over the same fields in
/// `extra`.
pub(super) fn encode(call: &Call<'_>) -> Result<Vec<u8>, LlmError> {
    let request = call.request;
    let extra = call.extra;
    let taken = |name: &str| match name {
        "max_tokens" => request.max_tokens().is_some(),
        "temperature" => request.temperature().is_some(),
        "stop_sequences" => !request.stop().is_empty(),
        OUTPUT_CONFIG => request.format().is_some(),
        "tools" => !request.tools().is_empty(),
        "tool_choice" => !request.tools().is_empty() && request.tool_choice().is_some(),
        _ => false,
    };

    let is_system = |message: &&Message| message.role() == Role::System;
    let leading = request.messages().iter().take_while(is_system).count();
    let system = request.messages().iter().take(leading);
    let system: Vec<&str> = system.map(Message::text).collect();

    let default = (!extra.contains_key("max_tokens")).then_some(MAX_TOKENS);
    let format = request.format().map(Format::of).transpose()?;
    json::to_bytes(&Body {
        model: call.model,
        max_tokens: request.max_tokens().or(default),
        system: system.join("\n\n"),
        messages: turns(request, leading)?,
        temperature: request.temperature(),
        stop_sequences: request.stop(),
        stream: call.stream.then_some(true),
        output_config: format.map(|format| OutputConfig::of(format, extra)),
        tools: request
            .tools()
            .iter()
            .map(Tool::of)
            .collect::<Result<_, _>>()?,
        tool_choice: Choice::of(request),
        extra: extra
            .iter()
            .map(|(name, value)| (name.as_str(), value))
            .filter(|(name, _)| !taken(name))
            .collect(),
    })
}
