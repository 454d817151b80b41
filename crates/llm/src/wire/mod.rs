//! What the APIs of model servers have in common: the settings of a request, lenient reading, tool
//! calls, and the data that servers want back.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::http::{Event, Secrets};
use crate::{Adjustment, ChatRequest, ChatResponse, Delta, FinishReason, LlmError, LlmErrorKind};

pub(crate) mod calls;
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
    /// Reads a complete response with a success status.
    pub(crate) decode: fn(&[u8], &Secrets) -> Result<Decoded, LlmError>,
    /// Creates the reader of a stream.
    pub(crate) reader: fn() -> Box<dyn Reader>,
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
    pub(crate) const fn omit(setting: &'static str) -> Self {
        Self {
            named: setting,
            setting,
            replacement: None,
            is_remembered: true,
        }
    }

    pub(crate) const fn replace(setting: &'static str, replacement: &'static str) -> Self {
        Self {
            named: setting,
            setting,
            replacement: Some(replacement),
            is_remembered: true,
        }
    }

    pub(crate) const fn named(mut self, named: &'static str) -> Self {
        self.named = named;
        self
    }

    pub(crate) const fn once(mut self) -> Self {
        self.is_remembered = false;
        self
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

/// A complete reply.
pub(crate) struct Decoded {
    pub(crate) response: ChatResponse,
    /// What the server wants back with it.
    pub(crate) data: Option<String>,
}

/// Turns the events of one stream into deltas.
pub(crate) trait Reader: Send {
    /// Returns the deltas of one event, with [`Delta::End`] for the end marker.
    fn read(&mut self, event: &Event, secrets: &Secrets) -> Result<Vec<Delta>, LlmError>;

    /// Returns the number of bytes of the reply that were read but not yet emitted.
    fn held(&self) -> usize {
        0
    }

    /// Handles a connection that closed cleanly without the end marker: returns the last deltas if
    /// the reply may be complete nevertheless.
    fn end_without_mark(&mut self, _: &Secrets) -> Result<Option<Vec<Delta>>, LlmError> {
        Ok(None)
    }

    /// Returns what the server wants back with the reply, once it has ended.
    fn data(&mut self) -> Option<String> {
        None
    }
}

/// The simple settings of a request, before they are sent.
pub(crate) struct Settings<'a> {
    fields: Map<String, Value>,
    call: &'a Call<'a>,
    applied: Vec<Adjustment>,
}

impl<'a> Settings<'a> {
    pub(crate) fn new(call: &'a Call<'a>) -> Self {
        Self {
            fields: Map::new(),
            call,
            applied: Vec::new(),
        }
    }

    /// Sets a field if there is a value.
    pub(crate) fn set(&mut self, name: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.fields.insert(name.to_owned(), value.into());
        }
    }

    /// Sets a field that isn't set yet.
    pub(crate) fn set_default(&mut self, name: &str, value: impl Into<Value>) {
        self.fields.entry(name).or_insert_with(|| value.into());
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

    /// Adds the fields that the client's settings add to every request, except those that the body
    /// contains otherwise. Fields of the request take precedence, also within objects.
    pub(crate) fn add_extra(&mut self, taken: &[(&str, bool)]) {
        let is_taken = |name: &str| taken.contains(&(name, true));

        for (name, value) in self.call.extra {
            if is_taken(name) {
                continue;
            }

            match (self.fields.get_mut(name), value) {
                (None, _) => {
                    self.fields.insert(name.clone(), value.clone());
                }
                (Some(Value::Object(set)), Value::Object(more)) => {
                    for (name, value) in more {
                        set.entry(name).or_insert_with(|| value.clone());
                    }
                }
                (Some(_), _) => {}
            }
        }
    }

    /// Changes what the server refused before.
    pub(crate) fn adjust(&mut self) {
        for adjustment in self.call.adjustments {
            let Some(value) = self.fields.remove(adjustment.setting()) else {
                continue;
            };

            if let Some(name) = adjustment.replacement() {
                self.fields.insert(name.to_owned(), value);
            }
            self.applied.push(adjustment.clone());
        }
    }

    /// Removes a field that the body contains in another form, and returns it.
    pub(crate) fn take(&mut self, name: &str) -> Map<String, Value> {
        match self.fields.remove(name) {
            Some(Value::Object(fields)) => fields,
            _ => Map::new(),
        }
    }

    pub(crate) fn fields(&mut self) -> Map<String, Value> {
        std::mem::take(&mut self.fields)
    }

    pub(crate) fn encoded(self, body: &impl Serialize) -> Result<Encoded, LlmError> {
        Ok(Encoded {
            body: to_bytes(body)?,
            adjustments: self.applied,
        })
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

/// Returns the count at a JSON pointer. Some servers write `12.0`; a negative count is read as 0.
pub(crate) fn count(value: &Value, pointer: &str) -> Option<u64> {
    let value = value.pointer(pointer)?;
    value
        .as_u64()
        .or_else(|| value.as_f64().map(|count| count as u64))
}

/// Returns the elements at a JSON pointer; none if there is no array.
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
        let text = text.or_else(|| part.pointer("/text/value")?.as_str());
        text.map(str::to_owned)
    };
    let texts: Vec<String> = parts.iter().filter_map(part).collect();

    (parts.is_empty() || !texts.is_empty()).then(|| texts.concat())
}

/// Parses the JSON Schema of a reply format or a tool.
pub(crate) fn schema(schema: &str) -> Option<&RawValue> {
    let schema: &RawValue = serde_json::from_str(schema).ok()?;
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

/// Adds what a server reports in addition to the reply: the names of the model and the response.
pub(crate) fn with_names(response: ChatResponse, names: &Value) -> ChatResponse {
    let response = match text(names, "/model") {
        Some(model) => response.with_model(model),
        None => response,
    };

    match text(names, "/id") {
        Some(id) => response.with_id(id),
        None => response,
    }
}
