//! OpenAI's Responses, without state on the server: each request contains the whole conversation, and
//! the items of earlier replies exactly as they were received.

use std::borrow::Cow;
use std::mem;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::chat::{data_url, refused};
use super::usage;
use crate::http::{Event, Secrets, check_error, error_of_text, parse};
use crate::wire::tools::{self, Arguments};
use crate::wire::{
    self, Api, Call, Decoded, Encoded, Framing, PROVIDER_DATA, Reader, Refusable, STRICT, Settings,
    decimal, list, text, unreadable, with_names,
};
use crate::{
    Block, ChatRequest, ChatResponse, Delta, FinishReason, LlmError, Message, ReplyFormat, Role,
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

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    input: Vec<Item<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Text::is_empty")]
    text: Text<'a>,
    #[serde(flatten)]
    settings: Map<String, Value>,
}

/// The settings of the text, with the format added.
#[derive(Serialize)]
struct Text<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<Format<'a>>,
    #[serde(flatten)]
    settings: Map<String, Value>,
}

impl Text<'_> {
    fn is_empty(&self) -> bool {
        self.format.is_none() && self.settings.is_empty()
    }
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Format<'a> {
    JsonObject,
    JsonSchema {
        name: &'a str,
        schema: &'a RawValue,
        strict: bool,
    },
}

impl<'a> Format<'a> {
    fn of(format: &'a ReplyFormat) -> Result<Self, LlmError> {
        Ok(match format {
            ReplyFormat::Json => Self::JsonObject,
            ReplyFormat::Schema { name, schema } => Self::JsonSchema {
                name,
                schema: wire::reply_schema(schema)?,
                strict: true,
            },
        })
    }
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    parameters: &'a RawValue,
    /// Sent even if false, because the server's default is true.
    strict: bool,
}

fn encode(call: &Call<'_>) -> Result<Encoded, LlmError> {
    let request = call.request;
    let choice = tools::choice(request).map(|choice| match choice {
        ToolChoice::Auto => json!("auto"),
        ToolChoice::None => json!("none"),
        ToolChoice::Required => json!("required"),
        ToolChoice::Tool(name) => json!({"type": "function", "name": name}),
    });
    let is_system = |message: &&Message| message.role() == Role::System;
    let leading = request.messages().iter().take_while(is_system);
    let instructions: Vec<&str> = leading.map(Message::text).collect();
    let instructions = Some(instructions).filter(|texts| !texts.is_empty());

    let mut settings = Settings::new(call);
    let effort = request.effort().map(|effort| json!({"effort": effort}));
    settings.set("store", Some(false));
    settings.set("include", Some(json!(["reasoning.encrypted_content"])));
    settings.set(
        "instructions",
        instructions.as_ref().map(|texts| texts.join("\n\n")),
    );
    settings.set("max_output_tokens", request.max_tokens());
    settings.set("temperature", request.temperature().map(decimal));
    settings.set("reasoning", effort);
    settings.set("tool_choice", choice);
    settings.set("stream", call.stream.then_some(true));
    settings.add_extra(&[("tools", !request.tools().is_empty())]);
    settings.adjust();

    let strict = tools::strictness(request, &mut settings);
    let tools = request.tools().iter().zip(strict).map(|(tool, strict)| {
        Ok(Tool {
            r#type: "function",
            name: tool.name(),
            description: tool.description(),
            parameters: tools::input_schema(tool)?,
            strict,
        })
    });

    let body = Body {
        model: call.model,
        input: items(call, instructions.map_or(0, |texts| texts.len())),
        tools: tools.collect::<Result<_, LlmError>>()?,
        text: Text {
            format: request.format().map(Format::of).transpose()?,
            settings: settings.take("text"),
        },
        settings: settings.fields(),
    };
    settings.encoded(&body)
}

#[derive(Serialize)]
#[serde(untagged)]
enum Item<'a> {
    Message {
        role: Role,
        content: Value,
    },
    FunctionCall {
        r#type: &'static str,
        call_id: &'a str,
        name: Cow<'a, str>,
        arguments: Cow<'a, str>,
    },
    Output {
        r#type: &'static str,
        call_id: &'a str,
        output: Value,
    },
    /// An item of an earlier reply.
    Returned(Box<RawValue>),
}

/// Returns the messages after the first `skipped` ones as items.
fn items<'a>(call: &Call<'a>, skipped: usize) -> Vec<Item<'a>> {
    let messages = call.request.messages().iter().zip(&call.returned);
    messages
        .skip(skipped)
        .flat_map(|(message, returned)| {
            let returned = returned.and_then(|data| serde_json::from_str(data).ok());
            let returned: Option<Vec<Box<RawValue>>> = returned;
            match returned {
                Some(items) => items.into_iter().map(Item::Returned).collect(),
                None => plain_items(message, call.request),
            }
        })
        .collect()
}

fn plain_items<'a>(message: &'a Message, request: &ChatRequest) -> Vec<Item<'a>> {
    let role = message.role();
    let content = content(message);
    if role == Role::Tool {
        return vec![Item::Output {
            r#type: "function_call_output",
            call_id: message.tool_call_id().unwrap_or_default(),
            output: content,
        }];
    }

    let calls = message.tool_calls().iter();
    let is_said = !message.text().is_empty() || message.tool_calls().is_empty();
    let said = is_said.then_some(Item::Message { role, content });
    said.into_iter()
        .chain(calls.map(|call| Item::FunctionCall {
            r#type: "function_call",
            call_id: call.id(),
            name: tools::name(call, request),
            arguments: Arguments::of(call).text(),
        }))
        .collect()
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
    /// The size of the thinking, signed or encrypted, in bytes.
    bytes: usize,
}

impl Said {
    fn add(&mut self, item: &Value) {
        let texts = |pointer: &str, field: &str| -> String {
            let parts = list(item, pointer).iter();
            parts.filter_map(|part| text(part, field)).collect()
        };

        match text(item, "/type").as_deref() {
            Some("message") => {
                self.text.push_str(&texts("/content", "/text"));
                self.refusal.push_str(&texts("/content", "/refusal"));
            }
            Some("reasoning") => {
                self.reasoning.push_str(&texts("/summary", "/text"));
                self.reasoning.push_str(&texts("/content", "/text"));
                self.bytes += item.to_string().len();
            }
            Some("function_call") => self.calls.push(call(item)),
            _ => {}
        }

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
        let reply = match usage(response) {
            Some(usage) => reply.with_usage(usage),
            None => reply,
        };

        Ok(Decoded {
            response: with_names(reply, response),
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
