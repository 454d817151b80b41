//! OpenAI's Responses, without state on the server: each request contains the whole conversation, and
//! the items of earlier replies exactly as they were received.

use std::mem;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::chat::data_url;
use super::{refused, usage};
use crate::http::{Event, Secrets, check_error, error_of_text, parse};
use crate::wire::json::{Json, object};
use crate::wire::{
    self, Api, Body, Call, Decoded, Encoded, Framing, PROVIDER_DATA, Reader, Refusable, STRICT,
    decimal, list, text, tools, unreadable, with_names, with_usage,
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
    reader: || Box::new(Pieces::default()),
    refusable: &[
        Refusable::omit("max_output_tokens"),
        Refusable::omit("temperature"),
        Refusable::omit("top_p"),
        Refusable::omit("include"),
        Refusable::omit(STRICT),
        Refusable::omit(PROVIDER_DATA).named("encrypted_content"),
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
    body.set("store", false);
    body.set("include", json!(["reasoning.encrypted_content"]));
    body.set("max_output_tokens", request.max_tokens());
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
        Block::Image { media_type, data } => {
            json!({"type": "input_image", "image_url": data_url(media_type, data)})
        }
        Block::ImageUrl { url } => json!({"type": "input_image", "image_url": **url}),
        Block::File {
            name,
            media_type,
            data,
        } => json!({
            "type": "input_file",
            "filename": **name,
            "file_data": data_url(media_type, data),
        }),
    });
    let said = Some(json!({"type": "input_text", "text": text})).filter(|_| !text.is_empty());
    parts.chain(said).collect()
}

/// Reads a complete response.
fn decode(body: &[u8], secrets: &Secrets) -> Result<Decoded, LlmError> {
    let response = parse("response", body, secrets)?;
    check_error(&response, secrets)?;
    if !response.get("output").is_some_and(Value::is_array) {
        return Err(unreadable(
            "the response has no output; expected an array of items",
        ));
    }

    let mut said = Said::default();
    for item in list(&response, "/output") {
        said.add(item);
    }
    said.end(&response, secrets)
}

/// What the items of a reply say.
#[derive(Default)]
struct Said {
    text: String,
    reasoning: String,
    refusal: String,
    calls: Vec<ToolCall>,
    items: Vec<Value>,
    /// The size of the items without what is emitted of them, in bytes.
    bytes: usize,
}

impl Said {
    fn add(&mut self, item: &Value) {
        let texts = |pointer: &str, field: &str| -> String {
            let parts = list(item, pointer).iter();
            parts.filter_map(|part| text(part, field)).collect()
        };

        let emitted = match text(item, "/type").as_deref() {
            Some("message") => {
                let content = item.get("content").and_then(wire::content);
                let content = content.unwrap_or_default();
                self.text.push_str(&content);
                self.refusal.push_str(&texts("/content", "/refusal"));
                content.len()
            }
            Some("reasoning") => {
                self.reasoning.push_str(&texts("/summary", "/text"));
                self.reasoning.push_str(&texts("/content", "/text"));
                0
            }
            Some("function_call") => {
                let call = call(item);
                let bytes = call.bytes();
                self.calls.push(call);
                bytes
            }
            _ => 0,
        };
        self.bytes += item.to_string().len().saturating_sub(emitted);

        let mut item = item.clone();
        if let Some(fields) = item.as_object_mut() {
            fields.remove("status");
        }
        self.items.push(item);
    }

    /// Returns the reply to which the response object belongs.
    fn end(self, response: &Value, secrets: &Secrets) -> Result<Decoded, LlmError> {
        let is_empty = self.text.is_empty() && self.calls.is_empty();
        if is_empty && !self.refusal.is_empty() {
            return Err(refused(&self.refusal, secrets));
        }

        let reply = ChatResponse::new(self.text)
            .with_finish_reason(finish_reason(response))
            .with_reasoning(self.reasoning)
            .with_tool_calls(self.calls);

        Ok(Decoded {
            response: with_usage(with_names(reply, response), usage(response)),
            data: (!self.items.is_empty()).then(|| json!(self.items).to_string()),
        })
    }
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

/// What the events of a stream contained in addition to the deltas that were emitted.
#[derive(Default)]
struct Pieces {
    said: Said,
    /// The length of the text and the reasoning that were emitted.
    emitted: [usize; 2],
    data: Option<String>,
}

impl Pieces {
    /// Takes an item that is complete. Emits its call, and text that didn't come in pieces.
    fn done(&mut self, item: &Value) -> Vec<Delta> {
        let calls = self.said.calls.len();
        self.said.add(item);

        let [text, reasoning] = &mut self.emitted;
        let late = [
            late(&self.said.reasoning, reasoning).map(Delta::Reasoning),
            late(&self.said.text, text).map(Delta::Text),
        ];
        let calls = self.said.calls.iter().skip(calls).cloned();
        late.into_iter()
            .flatten()
            .chain(calls.map(Delta::ToolCall))
            .collect()
    }

    fn end(&mut self, response: &Value, secrets: &Secrets) -> Result<Vec<Delta>, LlmError> {
        let mut deltas = Vec::new();
        if self.said.items.is_empty() {
            for item in list(response, "/output") {
                deltas.extend(self.done(item));
            }
        }

        let decoded = mem::take(&mut self.said).end(response, secrets)?;
        self.data = decoded.data;
        deltas.push(Delta::End(decoded.response));
        Ok(deltas)
    }
}

/// Returns the text that wasn't emitted yet, and counts it as emitted.
fn late(text: &str, emitted: &mut usize) -> Option<String> {
    let late = text.get(*emitted..).unwrap_or_default().to_owned();
    *emitted = text.len().max(*emitted);

    Some(late).filter(|late| !late.is_empty())
}

impl Reader for Pieces {
    fn read(&mut self, event: &Event, secrets: &Secrets) -> Result<Vec<Delta>, LlmError> {
        if event.data.trim() == "[DONE]" {
            return Ok(Vec::new());
        }

        let piece = parse("event of a response", event.data.as_bytes(), secrets)?;
        let kind = text(&piece, "/type").unwrap_or_else(|| event.name.clone());
        let more = || text(&piece, "/delta");
        let nothing = Value::Null;
        let response = piece.get("response").unwrap_or(&nothing);

        match kind.as_str() {
            "error" => Err(error_of_text(&event.data, secrets)),
            "response.output_text.delta" => {
                let more = more();
                self.emitted[0] += more.as_ref().map_or(0, String::len);
                Ok(more.map(Delta::Text).into_iter().collect())
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                let more = more();
                self.emitted[1] += more.as_ref().map_or(0, String::len);
                Ok(more.map(Delta::Reasoning).into_iter().collect())
            }
            "response.output_item.done" => Ok(self.done(piece.get("item").unwrap_or(&nothing))),
            "response.completed" | "response.incomplete" => self.end(response, secrets),
            "response.failed" => {
                check_error(response, secrets)?;
                Err(unreadable("the server reports a failure without a reason"))
            }
            _ => {
                check_error(&piece, secrets)?;
                Ok(Vec::new())
            }
        }
    }

    fn held(&self) -> usize {
        self.said.bytes
    }

    fn data(&mut self) -> Option<String> {
        self.data.take()
    }
}
