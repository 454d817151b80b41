use serde::Deserialize;
use serde_json::value::RawValue;

use crate::http::calls::arguments;
use crate::http::json::{self, count, finish_reason, parse, parse_object};
use crate::http::{Secrets, failure};
use crate::response::Reported;
use crate::{ChatResponse, FinishReason, LlmError, LlmErrorKind, ToolCall, Usage};

/// Only the fields that are needed are typed; the others are raw. A stream begins with one of
/// these, without content.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Reply<'a> {
    error: Option<&'a RawValue>,
    content: Option<Vec<&'a RawValue>>,
    stop_reason: Option<&'a RawValue>,
    pub(super) usage: Option<&'a RawValue>,
    pub(super) model: Option<&'a RawValue>,
    pub(super) id: Option<&'a RawValue>,
}

/// A content block, or a piece of one. Blocks of other types, such as server tools or redacted
/// thinking, have none of these fields.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Block<'a> {
    #[serde(rename = "type")]
    kind: Option<&'a RawValue>,
    text: Option<&'a RawValue>,
    thinking: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    name: Option<&'a RawValue>,
    input: Option<&'a RawValue>,
    partial_json: Option<&'a RawValue>,
}

impl Block<'_> {
    pub(super) fn text(&self) -> Option<String> {
        json::text(self.text)
    }

    pub(super) fn thinking(&self) -> Option<String> {
        json::text(self.thinking)
    }

    /// Returns more input of a call.
    pub(super) fn more_input(&self) -> Option<String> {
        json::text(self.partial_json)
    }

    /// Returns the call; in a stream, as far as it is known at the beginning.
    pub(super) fn call(&self) -> Option<ToolCall> {
        let is_call = json::text(self.kind).is_some_and(|kind| kind == "tool_use");
        let part = |raw| json::text(raw).unwrap_or_default();
        let input = || self.input.map(arguments).unwrap_or_default();

        is_call.then(|| ToolCall::new(part(self.id), part(self.name), input()))
    }
}

/// Decodes a response with a success status.
pub(super) fn decode(body: &[u8], secrets: &Secrets) -> Result<ChatResponse, LlmError> {
    let reply: Reply<'_> = json::read("message", body, secrets)?;
    failure::check(reply.error, secrets)?;

    let wrong = |message: &str| LlmError::new(LlmErrorKind::Decode, message);
    let content = reply
        .content
        .ok_or_else(|| wrong("the response has no content; expected an array of blocks"))?;
    let mut text = String::new();
    let mut reasoning = String::new();
    let mut calls = Vec::new();

    for block in content.into_iter().filter_map(parse_object::<Block<'_>>) {
        text.push_str(&block.text().unwrap_or_default());
        reasoning.push_str(&block.thinking().unwrap_or_default());
        calls.extend(block.call());
    }

    let mut usage = Counts::default();
    usage.add(reply.usage);
    let named = Named {
        model: json::text(reply.model),
        id: json::text(reply.id),
    };
    let has_content = !text.is_empty() || !calls.is_empty();
    let response = ended(
        reply.stop_reason.and_then(parse::<String>),
        has_content,
        usage,
        named,
    )?;

    Ok(response
        .with_text(text)
        .with_reasoning(reasoning)
        .with_tool_calls(calls))
}

/// The names of the model and of the response.
#[derive(Default)]
pub(super) struct Named {
    pub(super) model: Option<String>,
    pub(super) id: Option<String>,
}

/// Returns the response without its texts and calls.
pub(super) fn ended(
    stop_reason: Option<String>,
    has_content: bool,
    usage: Counts,
    named: Named,
) -> Result<ChatResponse, LlmError> {
    let reason = stop_reason.map(finish_reason).unwrap_or_default();
    if reason == FinishReason::ContentFilter && !has_content {
        return Err(LlmError::new(
            LlmErrorKind::ContentFilter,
            "the model refused without a reason",
        ));
    }

    Ok(ChatResponse::default()
        .with_finish_reason(reason)
        .with_reported(Reported {
            usage: usage.total(),
            model: named.model,
            id: named.id,
        }))
}

/// Token counts. A stream reports some at its beginning and some at its end.
#[derive(Clone, Copy, Default)]
pub(super) struct Counts {
    input: Option<u64>,
    written_to_cache: Option<u64>,
    read_from_cache: Option<u64>,
    output: Option<u64>,
}

impl Counts {
    /// Updates the counts that are present. They are totals, so newer ones replace older ones.
    pub(super) fn add(&mut self, raw: Option<&RawValue>) {
        #[derive(Default, Deserialize)]
        #[serde(default, bound(deserialize = "'de: 'a"))]
        struct Wire<'a> {
            input_tokens: Option<&'a RawValue>,
            cache_creation_input_tokens: Option<&'a RawValue>,
            cache_read_input_tokens: Option<&'a RawValue>,
            output_tokens: Option<&'a RawValue>,
        }

        let Some(wire) = raw.and_then(parse_object::<Wire<'_>>) else {
            return;
        };

        self.input = wire.input_tokens.and_then(count).or(self.input);
        self.written_to_cache = wire
            .cache_creation_input_tokens
            .and_then(count)
            .or(self.written_to_cache);
        self.read_from_cache = wire
            .cache_read_input_tokens
            .and_then(count)
            .or(self.read_from_cache);
        self.output = wire.output_tokens.and_then(count).or(self.output);
    }

    /// Returns the sum. The API counts prompt tokens separately by where they come from.
    fn total(self) -> Option<Usage> {
        if self.input.is_none() && self.output.is_none() {
            return None;
        }

        let cached = self.read_from_cache.unwrap_or_default();
        let prompt = [self.input, self.written_to_cache]
            .into_iter()
            .flatten()
            .fold(cached, u64::saturating_add);
        Some(Usage::new(prompt, self.output.unwrap_or_default()).with_cached_tokens(cached))
    }
}
