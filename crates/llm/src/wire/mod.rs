//! What the APIs of model servers have in common: the settings of a request, lenient reading, tool
//! calls, and the data that servers want back.

use std::collections::BTreeMap;

use json::{Json, object};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::backend::Adjustment;
use crate::{
    ChatRequest, ChatResponse, Delta, FinishReason, LlmError, LlmErrorKind, Message, Role,
};

pub(crate) mod calls;
pub(crate) mod json;
pub(crate) mod provider_data;
pub(crate) mod tools;

/// Fields by name, unparsed, so that they can be sent back exactly as they were received.
pub(crate) type RawFields = BTreeMap<String, Box<RawValue>>;

/// An API for conversations: how requests are written, and replies are read.
pub(crate) struct Api {
    /// The last part of the path.
    pub(crate) endpoint: &'static str,
    pub(crate) framing: Framing,
    pub(crate) encode: fn(&Call<'_>) -> Result<Encoded, LlmError>,
    /// Reads a complete reply, parsed and as it was received. What the server wants back is
    /// [`unbound`](provider_data::unbound).
    pub(crate) decode: fn(&Value, &[u8]) -> Result<ChatResponse, LlmError>,
    /// Creates an empty reply, which the events of a stream fill.
    pub(crate) assembly: fn() -> Box<dyn Assembly>,
    /// What a server may refuse, and what is done then.
    pub(crate) refusable: &'static [Refusable],
    /// Whether the data that the server wants back contains the ids of calls.
    pub(crate) data_has_call_ids: bool,
}

/// A part of a request that can be left out or replaced if the server refuses it.
pub(crate) struct Refusable {
    /// How the refusal names it.
    pub(crate) named: &'static str,
    pub(crate) setting: &'static str,
    pub(crate) replacement: Option<&'static str>,
    /// Whether later requests are changed in the same way.
    pub(crate) is_remembered: bool,
}

impl Refusable {
    /// Creates a part that refusals call `named`.
    pub(crate) const fn new(
        named: &'static str,
        setting: &'static str,
        replacement: Option<&'static str>,
    ) -> Self {
        Self {
            named,
            setting,
            replacement,
            is_remembered: true,
        }
    }

    pub(crate) const fn omit(setting: &'static str) -> Self {
        Self::new(setting, setting, None)
    }

    pub(crate) fn adjustment(&self) -> Adjustment {
        match self.replacement {
            Some(replacement) => Adjustment::replaced(self.setting, replacement),
            None => Adjustment::omitted(self.setting),
        }
    }
}

/// The adjustment by which no data of the provider is returned.
pub(crate) const PROVIDER_DATA: &str = "provider data";
/// The adjustment by which tools aren't strict.
pub(crate) const STRICT: &str = "strict";

/// How a stream is divided into events.
#[derive(Clone, Copy)]
pub(crate) enum Framing {
    /// Server-sent events.
    Events,
    /// One JSON value per line.
    Lines,
}

/// How long a server keeps the beginning of a conversation for the next request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum CacheTime {
    FiveMinutes,
    Hour,
}

/// The content of a request.
pub(crate) struct Call<'a> {
    pub(crate) model: &'a str,
    pub(crate) request: &'a ChatRequest,
    /// Fields that the settings of the client add.
    pub(crate) extra: &'a Map<String, Value>,
    pub(crate) stream: bool,
    pub(crate) adjustments: &'a [Adjustment],
    /// For each message, the content to return to the server.
    pub(crate) returned: Vec<Option<&'a str>>,
    pub(crate) cache: Option<CacheTime>,
    /// Whether to forbid tool calls by a setting, even if that loses what the server has cached.
    pub(crate) forbids_calls: bool,
}

/// A request body, and what was done to it.
pub(crate) struct Encoded {
    pub(crate) body: Vec<u8>,
    pub(crate) adjustments: Vec<Adjustment>,
}

/// The text of the event that ends a stream of OpenAI's APIs.
pub(crate) const DONE: &str = "[DONE]";

/// The texts in an event, or `None` if it ends the reply.
pub(crate) type Added = Result<Option<Vec<Delta>>, LlmError>;

/// A reply that is put together from the events of a stream, and then read like a complete one.
pub(crate) trait Assembly: Send {
    /// Adds an event of this kind, parsed and as it was received.
    fn add(&mut self, kind: &str, event: &Value, received: &str) -> Added;

    /// Returns whether the reply is complete although the connection ended without an end marker.
    fn is_complete(&self) -> bool {
        false
    }

    /// Returns the whole reply.
    fn whole(&mut self) -> Result<ChatResponse, LlmError>;
}

/// The body of a request.
pub(crate) struct Body<'a> {
    fields: Vec<(&'a str, Json<'a>)>,
    call: &'a Call<'a>,
    applied: Vec<Adjustment>,
}

impl<'a> Body<'a> {
    pub(crate) fn new(call: &'a Call<'a>) -> Self {
        Self {
            fields: vec![("model", call.model.into())],
            call,
            applied: Vec::new(),
        }
    }

    /// Adds a field, unless its value is absent.
    pub(crate) fn set(&mut self, name: &'a str, value: impl Into<Json<'a>>) {
        self.fields.push((name, value.into()));
    }

    /// Returns whether a part of the request may be sent, and reports it if not.
    pub(crate) fn allows(&mut self, setting: &str) -> bool {
        let mut adjustments = self.call.adjustments.iter();
        let Some(refused) = adjustments.find(|known| known.setting() == setting) else {
            return true;
        };

        if !self.applied.contains(refused) {
            self.applied.push(refused.clone());
        }
        false
    }

    /// Adds the fields of the client's settings, changes what the server refused before, and returns
    /// the body. Fields of the request take precedence over the settings, also within objects.
    pub(crate) fn encoded(mut self) -> Result<Encoded, LlmError> {
        // An absent field must not keep one of the settings out.
        self.fields.retain(|(_, value)| value.is_present());
        for (name, value) in self.call.extra {
            self.add(name, value);
        }
        // Last, because the settings may add what the server refuses.
        for adjustment in self.call.adjustments {
            self.adjust(adjustment);
        }

        Ok(Encoded {
            body: to_bytes(&object(self.fields))?,
            adjustments: self.applied,
        })
    }

    fn add(&mut self, name: &'a str, value: &'a Value) {
        let mut fields = self.fields.iter_mut();
        let known = fields.find(|(known, _)| *known == name);

        match (known, value) {
            (None, value) => self.fields.push((name, value.clone().into())),
            (Some((_, Json::Object(known))), Value::Object(more)) => {
                known.retain(|(_, value)| value.is_present());
                for (name, value) in more {
                    if known.iter().all(|(known, _)| known != name) {
                        known.push((name, value.clone().into()));
                    }
                }
            }
            (Some(_), _) => {}
        }
    }

    fn adjust(&mut self, adjustment: &'a Adjustment) {
        let mut fields = self.fields.iter_mut();
        let Some(field) = fields.find(|(name, _)| *name == adjustment.setting()) else {
            return;
        };

        match adjustment.replacement() {
            Some(name) => field.0 = name,
            None => field.1 = Json::Absent,
        }
        self.applied.push(adjustment.clone());
    }
}

/// Serializes the body of a request.
pub(crate) fn to_bytes(body: &impl Serialize) -> Result<Vec<u8>, LlmError> {
    serde_json::to_vec(body)
        .map_err(|error| invalid("the request cannot be serialized as JSON").with_source(error))
}

/// Keeps 0.2 as 0.2, which plain widening would turn into 0.20000000298023224.
pub(crate) fn decimal(number: f32) -> Value {
    let widened = number.to_string().parse::<f64>();
    widened.map_or_else(|_| Value::from(number), Value::from)
}

/// Returns an error for a request that cannot be sent.
pub(crate) fn invalid(message: impl Into<String>) -> LlmError {
    LlmError::new(LlmErrorKind::InvalidRequest, message)
}

/// Returns an error for a response that cannot be read.
pub(crate) fn unreadable(message: impl Into<String>) -> LlmError {
    LlmError::new(LlmErrorKind::Decode, message)
}

/// Returns the text at a JSON pointer, if it is a non-empty string.
pub(crate) fn text(value: &Value, pointer: &str) -> Option<String> {
    let text = value.pointer(pointer)?.as_str()?;
    Some(text.to_owned()).filter(|text| !text.is_empty())
}

/// Returns the count at a JSON pointer. Some servers write `12.0` or `"12"`; a negative count is read
/// as 0.
pub(crate) fn count(value: &Value, pointer: &str) -> Option<u64> {
    match value.pointer(pointer)? {
        Value::String(text) => text.trim().parse().ok(),
        value => value.as_u64().or(value.as_f64().map(|count| count as u64)),
    }
}

/// Returns the elements at a JSON pointer; none if it leads to anything but an array.
pub(crate) fn list<'v>(value: &'v Value, pointer: &str) -> &'v [Value] {
    let list = value.pointer(pointer).and_then(Value::as_array);
    list.map(Vec::as_slice).unwrap_or_default()
}

/// Returns the text of a message: a string, or the concatenated text of an array of parts. `None` if
/// there are parts, but none of them has text.
pub(crate) fn content(value: &Value) -> Option<String> {
    let Value::Array(parts) = value else {
        return value.as_str().map(str::to_owned);
    };

    let part = |part: &Value| {
        let text = part.as_str().or_else(|| part.get("text")?.as_str());
        // Some servers wrap the text of a part once more.
        let text = text.or_else(|| part.pointer("/text/value")?.as_str());
        text.map(str::to_owned)
    };
    let texts: Vec<String> = parts.iter().filter_map(part).collect();

    (parts.is_empty() || !texts.is_empty()).then(|| texts.concat())
}

/// Returns the messages as `write` writes each, with what is returned with it, for APIs without images
/// and files in tool results.
pub(crate) fn messages<'a>(
    call: &Call<'a>,
    write: impl Fn(&'a Message, Option<&'a str>) -> Result<Json<'a>, &'static str>,
) -> Result<Json<'a>, LlmError> {
    let messages = call.request.messages().iter().zip(&call.returned);
    let messages = messages.enumerate().map(|(place, (message, returned))| {
        let is_writable = message.role() != Role::Tool || message.blocks().is_empty();
        let written = match is_writable {
            true => write(message, *returned),
            false => Err("images or files; expected them in the role user"),
        };
        written.map_err(|problem| invalid(format!("messages[{place}] has {problem}")))
    });

    messages.collect()
}

/// Returns the system messages at the beginning of a conversation as one text, and their number.
pub(crate) fn split_system(request: &ChatRequest) -> (Option<Value>, usize) {
    let is_system = |message: &&Message| message.role() == Role::System;
    let leading = request.messages().iter().take_while(is_system);
    let texts: Vec<&str> = leading.map(Message::text).collect();

    let system = (!texts.is_empty()).then(|| texts.join("\n\n").into());
    (system, texts.len())
}

/// Parses the JSON Schema of a reply format or a tool.
pub(crate) fn schema(schema: &str) -> Option<&RawValue> {
    let schema: &RawValue = serde_json::from_str(schema).ok()?;
    // `true` is a JSON Schema as well, but servers want an object.
    schema.get().starts_with('{').then_some(schema)
}

/// Parses the JSON Schema of a reply format.
pub(crate) fn reply_schema(text: &str) -> Result<&RawValue, LlmError> {
    schema(text).ok_or_else(|| {
        invalid("the schema of the reply format isn't a JSON object; expected a JSON Schema")
    })
}

/// Reads a finish reason of OpenAI, Anthropic, Google, Mistral or servers of open models.
pub(crate) fn finish_reason(reason: &str) -> FinishReason {
    match reason.to_ascii_lowercase().as_str() {
        // Some servers send an empty reason with a complete reply.
        "stop" | "end_turn" | "eos" | "stop_sequence" | "" => FinishReason::Stop,
        "length"
        | "max_tokens"
        | "max_output_tokens"
        | "model_length"
        | "model_context_window_exceeded" => FinishReason::Length,
        "tool_calls" | "function_call" | "tool_use" => FinishReason::ToolCalls,
        "content_filter" | "safety" | "refusal" => FinishReason::ContentFilter,
        _ => FinishReason::Other(reason.to_owned()),
    }
}
