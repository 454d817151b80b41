use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::turns::Turn;
use crate::http::tools::Tool;
use crate::http::{Call, invalid, json};
use crate::{ChatRequest, LlmError, ReplyFormat, ToolChoice};

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Turn<'a>>,
    /// Always sent, because Ollama streams by default.
    stream: bool,
    #[serde(skip_serializing_if = "Map::is_empty")]
    options: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<Format<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(flatten)]
    extra: BTreeMap<&'a str, &'a Value>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Format<'a> {
    Named(&'static str),
    Schema(&'a RawValue),
}

impl<'a> Format<'a> {
    fn of(format: &'a ReplyFormat) -> Result<Self, LlmError> {
        Ok(match format {
            ReplyFormat::Json => Self::Named("json"),
            ReplyFormat::Schema { schema, .. } => Self::Schema(json::schema(schema)?),
        })
    }
}

/// The API has no tool choice. Sending no tools keeps the model from calling one.
fn tools(request: &ChatRequest) -> Result<Vec<Tool<'_>>, LlmError> {
    match request.tool_choice().unwrap_or(&ToolChoice::Auto) {
        ToolChoice::Auto => Tool::all_of(request),
        ToolChoice::None => Ok(Vec::new()),
        _ if request.tools().is_empty() => Ok(Vec::new()),
        ToolChoice::Required | ToolChoice::Tool(_) => Err(invalid(
            "Ollama's API cannot force a tool call; expected the tool choice Auto or None",
        )),
    }
}

/// Encodes a request as JSON. Options of the request take precedence over the same options in
/// `extra`.
pub(super) fn encode(call: &Call<'_>) -> Result<Vec<u8>, LlmError> {
    let request = call.request;
    let options = call.extra.get("options").and_then(Value::as_object);
    let mut options = options.cloned().unwrap_or_default();
    let set = [
        ("num_predict", request.max_tokens().map(Value::from)),
        ("temperature", request.temperature().map(decimal)),
        ("seed", request.seed().map(Value::from)),
        (
            "stop",
            Some(request.stop())
                .filter(|stop| !stop.is_empty())
                .map(Value::from),
        ),
    ];

    for (name, value) in set {
        if let Some(value) = value {
            options.insert(name.to_owned(), value);
        }
    }

    let taken = |name: &str| match name {
        "options" => true,
        "format" => request.format().is_some(),
        "tools" => !request.tools().is_empty(),
        _ => false,
    };

    let extra = call.extra.iter().filter(|(name, _)| !taken(name));
    json::to_bytes(&Body {
        model: call.model,
        messages: Turn::all_of(request)?,
        stream: call.stream,
        options,
        format: request.format().map(Format::of).transpose()?,
        tools: tools(request)?,
        extra: extra.map(|(name, value)| (name.as_str(), value)).collect(),
    })
}

/// Keeps 0.2 as 0.2, which plain widening would turn into 0.20000000298023224.
fn decimal(number: f32) -> Value {
    number
        .to_string()
        .parse::<f64>()
        .map_or_else(|_| Value::from(number), Value::from)
}
