//! OpenAI's Responses, without state on the server: each request contains the whole conversation, and
//! the items of earlier replies exactly as they were received.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{refused, url, usage};
use crate::wire::json::{Json, object};
use crate::wire::provider_data::unbound;
use crate::wire::{
    self, Added, Api, Assembly, Body, Call, Encoded, Framing, PROVIDER_DATA, Refusable, STRICT,
    decimal, list, text, tools, unreadable,
};
use crate::{
    Block, ChatRequest, ChatResponse, Delta, FinishReason, LlmError, Message, ReplyFormat,
    ToolCall, ToolChoice,
};

pub(super) const ENDPOINT: &str = "/responses";

pub(super) static RESPONSES: Api = Api {
    endpoint: ENDPOINT,
    framing: Framing::Events,
    encode,
    decode,
    assembly: || Box::new(Pieces::default()),
    refusable: &[
        Refusable::omit("max_output_tokens"),
        Refusable::omit("temperature"),
        Refusable::omit("top_p"),
        Refusable::omit("include"),
        Refusable::omit(STRICT),
        Refusable::new("encrypted_content", PROVIDER_DATA, None),
    ],
    data_has_call_ids: true,
};

fn format(format: &ReplyFormat) -> Result<Json<'_>, LlmError> {
    Ok(match format {
        ReplyFormat::Json => json!({"type": "json_object"}).into(),
        ReplyFormat::Schema { name, schema } => object([
            ("type", "json_schema".into()),
            ("name", (&**name).into()),
            ("schema", wire::reply_schema(schema)?.into()),
            ("strict", true.into()),
        ]),
    })
}

fn tool<'a>([name, description, schema]: [Json<'a>; 3], strict: bool) -> Json<'a> {
    object([
        ("type", "function".into()),
        ("name", name),
        ("description", description),
        ("parameters", schema),
        // Sent even if false, because the server's default is true.
        ("strict", strict.into()),
    ])
}

fn encode(call: &Call<'_>) -> Result<Encoded, LlmError> {
    let request = call.request;
    let choice = tools::choice(request).map(|choice| match choice {
        ToolChoice::Auto => json!("auto"),
        ToolChoice::None => json!("none"),
        ToolChoice::Required => json!("required"),
        ToolChoice::Tool(name) => json!({"type": "function", "name": name}),
    });
    let (system, rest) = wire::split_system(request);
    let effort = request
        .effort()
        .map(|effort| object([("effort", effort.as_str().into())]));
    let format = request.format().map(format).transpose()?;

    let mut body = Body::new(call);
    body.set("instructions", system);
    body.set("input", items(call, rest));
    // The conversation is in each request, so any process can continue it.
    body.set("store", false);
    // Without state on the server, its thinking has to travel along, encrypted.
    body.set("include", json!(["reasoning.encrypted_content"]));
    body.set("max_output_tokens", request.max_tokens().map(Value::from));
    body.set("temperature", request.temperature().map(decimal));
    body.set("reasoning", effort);
    body.set("text", format.map(|format| object([("format", format)])));
    body.set("stream", call.stream.then_some(true));
    let tools = tools::definitions(request, || body.allows(STRICT), tool)?;
    body.set("tools", tools);
    body.set("tool_choice", choice);
    body.encoded()
}

/// Returns the messages after the first `skipped` ones as items.
fn items<'a>(call: &Call<'a>, skipped: usize) -> Json<'a> {
    let messages = call.request.messages().iter().zip(&call.returned);
    messages
        .skip(skipped)
        .flat_map(|(message, returned)| {
            let returned = returned.and_then(|data| serde_json::from_str(data).ok());
            let returned: Option<Vec<&RawValue>> = returned;
            match returned {
                Some(items) => items.into_iter().map(Json::from).collect(),
                None => plain_items(message, call.request),
            }
        })
        .collect()
}

fn plain_items<'a>(message: &'a Message, request: &ChatRequest) -> Vec<Json<'a>> {
    if let Some(call_id) = message.tool_call_id() {
        return vec![object([
            ("type", "function_call_output".into()),
            ("call_id", call_id.into()),
            ("output", content(message).into()),
        ])];
    }

    let is_said = !message.text().is_empty() || message.tool_calls().is_empty();
    let said = is_said.then(|| {
        let role = message.role().as_str();
        object([("role", role.into()), ("content", content(message).into())])
    });
    let calls = message.tool_calls().iter().map(|call| {
        object([
            ("type", "function_call".into()),
            ("call_id", call.id().into()),
            ("name", tools::name(call, request).into()),
            ("arguments", tools::arguments(call).into()),
        ])
    });
    said.into_iter().chain(calls).collect()
}

fn content(message: &Message) -> Value {
    let text = message.text();
    if message.blocks().is_empty() {
        return json!(text);
    }

    let parts = message.blocks().iter().map(|block| match block {
        Block::File { name, .. } => {
            json!({"type": "input_file", "filename": **name, "file_data": url(block)})
        }
        _ => json!({"type": "input_image", "image_url": url(block)}),
    });
    let said = Some(json!({"type": "input_text", "text": text})).filter(|_| !text.is_empty());
    parts.chain(said).collect()
}

/// Reads a complete response.
fn decode(response: &Value, _: &[u8]) -> Result<ChatResponse, LlmError> {
    let items = response.get("output").and_then(Value::as_array);
    let items = items
        .ok_or_else(|| unreadable("the response has no output; expected an array of items"))?;

    let of_kind = |kind: &'static str| {
        let items = items.iter();
        items.filter(move |item| item.get("type").is_some_and(|known| known == kind))
    };
    let messages = || of_kind("message").filter_map(|item| item.get("content"));
    let said: String = messages().filter_map(wire::content).collect();
    let refusal: String = messages()
        .map(|content| texts(content, "/refusal"))
        .collect();
    let calls: Vec<_> = of_kind("function_call").map(call).collect();

    // The summary of the reasoning, and the reasoning itself.
    let thoughts = of_kind("reasoning").flat_map(|item| [item.get("summary"), item.get("content")]);
    let reasoning: String = thoughts
        .flatten()
        .map(|parts| texts(parts, "/text"))
        .collect();

    if said.is_empty() && calls.is_empty() && !refusal.is_empty() {
        return Err(refused(&refusal));
    }

    Ok(ChatResponse {
        text: said,
        finish_reason: finish_reason(response),
        reasoning: Some(reasoning).filter(|text| !text.is_empty()),
        tool_calls: calls,
        usage: usage(response),
        model: text(response, "/model"),
        id: text(response, "/id"),
        provider_data: (!items.is_empty()).then(|| unbound(data(items))),
        ..ChatResponse::default()
    })
}

/// Returns the texts at this pointer in the parts of an item.
fn texts(parts: &Value, pointer: &str) -> String {
    let parts = list(parts, "").iter();
    parts.filter_map(|part| text(part, pointer)).collect()
}

/// Returns the items as the server wants them back: everything but their status.
fn data(items: &[Value]) -> String {
    let mut items = items.to_vec();
    for fields in items.iter_mut().filter_map(Value::as_object_mut) {
        fields.remove("status");
    }
    Value::Array(items).to_string()
}

fn call(item: &Value) -> ToolCall {
    let field = |pointer| text(item, pointer).unwrap_or_default();
    ToolCall::new(field("/call_id"), field("/name"), field("/arguments"))
}

fn finish_reason(response: &Value) -> FinishReason {
    let status = text(response, "/status").unwrap_or_default();
    let details = text(response, "/incomplete_details/reason");

    match (status.as_str(), details) {
        (_, Some(reason)) => wire::finish_reason(&reason),
        ("" | "completed", None) => FinishReason::Stop,
        (_, None) => FinishReason::Other(status),
    }
}

/// A stream, of which only the items and the end are kept: they repeat everything else.
#[derive(Default)]
struct Pieces {
    items: Vec<Value>,
    response: Value,
}

impl Assembly for Pieces {
    fn add(&mut self, kind: &str, event: &Value, _: &str) -> Added {
        let response = event.get("response").unwrap_or(&Value::Null);
        let delta = text(event, "/delta");

        let delta = match kind {
            "response.output_text.delta" => delta.map(Delta::Text),
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                delta.map(Delta::Reasoning)
            }
            "response.output_item.done" => {
                self.items.extend(event.get("item").cloned());
                None
            }
            "response.completed" | "response.incomplete" => {
                self.response = response.clone();
                return Ok(None);
            }
            "response.failed" => {
                return Err(unreadable("the server reports a failure without a reason"));
            }
            _ => None,
        };
        Ok(Some(delta.into_iter().collect()))
    }

    fn whole(&mut self) -> Result<ChatResponse, LlmError> {
        let mut response = self.response.as_object().cloned().unwrap_or_default();
        // Some servers don't repeat the items at the end.
        if !self.items.is_empty() || !response.contains_key("output") {
            response.insert("output".to_owned(), json!(self.items));
        }

        decode(&response.into(), &[])
    }
}
