//! Reads replies of OpenAI's Chat Completions, complete and in pieces, as many servers write them.

use std::mem;

use serde_json::{Map, Value, json};

use super::{refused, usage};
use crate::wire::calls::{Growing, Piece};
use crate::wire::provider_data::unbound;
use crate::wire::{self, Added, Assembly, DONE, count, finish_reason, list, text, unreadable};
use crate::{ChatResponse, Delta, FinishReason, LlmError, LlmErrorKind, ToolCall};

pub(super) const CONTENT: &str = "content";
pub(super) const TOOL_CALLS: &str = "tool_calls";
/// Where Google's servers keep their signatures, in messages and calls.
pub(super) const EXTRA_CONTENT: &str = "extra_content";
/// Where Ollama's server keeps the reasoning.
pub(crate) const THINKING: &str = "thinking";
/// The fields of a message that servers want back, exactly as they sent them.
pub(super) const KEPT: [&str; 5] = [
    "reasoning_content",
    "reasoning",
    THINKING,
    "reasoning_details",
    EXTRA_CONTENT,
];
/// How a text begins that contains thinking.
const THINK: &str = "<think";
/// The number of entries of a list that may grow at the same time in a stream.
const OPEN_ENTRIES: usize = 64;

/// Reads a complete response.
pub(crate) fn decode(completion: &Value, _: &[u8]) -> Result<ChatResponse, LlmError> {
    let choice = list(completion, "/choices").first();
    let choice =
        choice.ok_or_else(|| unreadable("the response has no choices; expected at least one"))?;
    let message = choice.get("message").filter(|message| message.is_object());
    let message = message.ok_or_else(|| unreadable("choices[0] is empty; expected a message"))?;

    let reason = text(choice, "/finish_reason").unwrap_or_default();
    let calls = Piece::all_of(message);
    read(message, calls, &reason, completion)
}

/// Reads a message and its calls. `end` has the names and the usage.
fn read(
    message: &Value,
    calls: Vec<Piece>,
    reason: &str,
    end: &Value,
) -> Result<ChatResponse, LlmError> {
    // Before the calls lose what a `ToolCall` has no field for.
    let data = kept(message, &calls);
    let content = message.get(CONTENT).unwrap_or(&Value::Null);
    let said = wire::content(content);
    let calls = calls.into_iter().filter_map(Piece::into_call);
    let calls: Vec<ToolCall> = calls.collect();

    // A refusal beside a text or calls is only about a part of the reply.
    let is_empty = said.as_deref().unwrap_or_default().is_empty() && calls.is_empty();
    if let Some(refusal) = text(message, "/refusal").filter(|_| is_empty) {
        return Err(refused(&refusal));
    }

    // A reply that is truncated before its first text, such as within the reasoning, has a
    // finish reason that explains it.
    // OpenRouter ends a reply so that its provider failed to finish.
    if reason.eq_ignore_ascii_case("error") {
        let message = "the server ended the reply with an error";
        return Err(LlmError::new(LlmErrorKind::Server, message));
    }
    let reason = finish_reason(reason);
    let has_no_text = !content.is_null() && said.is_none();
    if has_no_text && calls.is_empty() && reason != FinishReason::Length {
        return Err(unreadable(
            "choices[0] has content without text; expected text in at least one part",
        ));
    }

    Ok(ChatResponse {
        text: said.unwrap_or_default(),
        finish_reason: reason,
        reasoning: reasoning(message),
        tool_calls: calls,
        usage: usage(end),
        model: text(end, "/model"),
        id: text(end, "/id"),
        provider_data: data.map(unbound),
        ..ChatResponse::default()
    })
}

/// Returns the reasoning, under the names that servers use, or in parts of the content.
fn reasoning(message: &Value) -> Option<String> {
    // The first one counts, because some servers send the same thinking under two names.
    let mut names = ["/reasoning_content", "/reasoning", "/thinking"].iter();
    let named = names.find_map(|name| text(message, name));
    let in_parts = || {
        let thinking: String = list(message, "/content")
            .iter()
            .flat_map(|part| list(part, "/thinking"))
            .filter_map(|part| text(part, "/text"))
            .collect();
        Some(thinking).filter(|thinking| !thinking.is_empty())
    };

    named.or_else(in_parts)
}

/// Returns what the server wants back: fields of the message, the content if there is thinking in it,
/// and fields of the calls.
fn kept(message: &Value, calls: &[Piece]) -> Option<String> {
    let mut kept = Map::new();
    for name in KEPT {
        if let Some(value) = message.get(name).filter(|value| !value.is_null()) {
            kept.insert(name.to_owned(), value.clone());
        }
    }

    let is_thinking = |part: &Value| part.get("type").is_some_and(|kind| kind == "thinking");
    let content = message.get(CONTENT).filter(|content| match content {
        Value::Array(parts) => parts.iter().any(is_thinking),
        Value::String(text) => text.trim_start().starts_with(THINK),
        _ => false,
    });
    if let Some(content) = content {
        kept.insert(CONTENT.to_owned(), content.clone());
    }
    if calls.iter().any(|call| call.extra_content.is_some()) {
        let extras = calls.iter().map(|call| call.extra_content.clone());
        kept.insert(TOOL_CALLS.to_owned(), json!(Vec::from_iter(extras)));
    }

    (!kept.is_empty()).then(|| Value::Object(kept).to_string())
}

/// A stream, which is put together to one message.
#[derive(Default)]
pub(crate) struct Pieces {
    message: Map<String, Value>,
    calls: Growing,
    reason: String,
    end: Map<String, Value>,
}

impl Pieces {
    fn choice(&mut self, choice: &Value) -> Result<Vec<Delta>, LlmError> {
        let mut deltas = Vec::new();
        if let Some(reason) = text(choice, "/finish_reason") {
            self.reason = reason;
        }

        // Proxies that don't stream themselves send the message.
        let delta = choice.get("delta").or_else(|| choice.get("message"));
        let delta = delta.unwrap_or(&Value::Null);
        deltas.extend(reasoning(delta).map(Delta::Reasoning));
        for piece in Piece::all_of(delta) {
            self.calls.add(piece)?;
        }
        for name in KEPT.into_iter().chain(["refusal", CONTENT]) {
            if let Some(more) = delta.get(name).filter(|more| !more.is_null()) {
                grow(self.message.entry(name).or_insert(Value::Null), more);
            }
        }

        let said = delta.get(CONTENT).and_then(wire::content);
        deltas.extend(said.filter(|text| !text.is_empty()).map(Delta::Text));
        Ok(deltas)
    }
}

/// Adds a piece of a field to what has arrived of it: texts are continued, and so are the entries of
/// lists. Anything else is replaced.
fn grow(known: &mut Value, more: &Value) {
    match (known, more) {
        (Value::String(known), Value::String(more)) => known.push_str(more),
        (Value::Array(known), Value::Array(more)) => {
            more.iter().for_each(|entry| grow_list(known, entry));
        }
        (Value::Array(known), Value::String(more)) => {
            grow_list(known, &json!({"type": "text", "text": more}));
        }
        (known, more) => *known = more.clone(),
    }
}

/// Adds an entry, or a piece that continues the one with the same index, or the last one of the same
/// type if there are no indices.
fn grow_list(known: &mut Vec<Value>, more: &Value) {
    let index = more.get("index");
    let mut latest = known.iter_mut().rev();
    let same = match index {
        Some(_) => latest
            .take(OPEN_ENTRIES)
            .find(|known| known.get("index") == index),
        None => latest
            .next()
            .filter(|known| known.get("index").is_none() && known.get("type") == more.get("type")),
    };

    let (Some(Value::Object(known)), Value::Object(more)) = (same, more) else {
        known.push(more.clone());
        return;
    };
    for (name, value) in more.iter().filter(|(_, value)| !value.is_null()) {
        let known = known.entry(name.as_str()).or_insert(Value::Null);
        match name.as_str() {
            "text" | "summary" | "data" | "thinking" => grow(known, value),
            _ => *known = value.clone(),
        }
    }
}

impl Assembly for Pieces {
    fn add(&mut self, kind: &str, chunk: &Value, _: &str) -> Added {
        if kind == DONE {
            return Ok(None);
        }

        // With continuous usage, each chunk contains the totals so far.
        if usage(chunk).is_some() {
            self.end.remove("usage");
        }
        for name in ["usage", "model", "id"] {
            if let Some(value) = chunk.get(name).filter(|value| !value.is_null()) {
                self.end.entry(name).or_insert_with(|| value.clone());
            }
        }

        // If several choices were requested, only the first is used.
        let is_first = |choice: &&Value| count(choice, "/index").unwrap_or_default() == 0;
        let choice = list(chunk, "/choices").first().filter(is_first);
        let deltas = choice.map(|choice| self.choice(choice)).transpose()?;
        Ok(Some(deltas.unwrap_or_default()))
    }

    fn is_complete(&self) -> bool {
        !self.reason.is_empty()
    }

    fn whole(&mut self) -> Result<ChatResponse, LlmError> {
        let message = Value::Object(mem::take(&mut self.message));
        let end = Value::Object(mem::take(&mut self.end));
        read(&message, self.calls.finish(), &self.reason, &end)
    }
}
