use serde::Deserialize;
use serde_json::value::RawValue;

use crate::http::calls::Piece;
use crate::http::json::{self, Content, First, count, finish_reason, parse, parse_object};
use crate::http::{Secrets, failure};
use crate::response::Reported;
use crate::{ChatResponse, FinishReason, LlmError, LlmErrorKind, Usage};

/// A complete response, or a chunk of a stream. Only the fields that are needed are typed; the
/// others are raw.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Completion<'a> {
    pub(super) error: Option<&'a RawValue>,
    /// Empty in the chunk with the usage.
    pub(super) choices: Option<First<Choice<'a>, 1>>,
    pub(super) usage: Option<&'a RawValue>,
    pub(super) model: Option<&'a RawValue>,
    pub(super) id: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Choice<'a> {
    pub(super) index: Option<&'a RawValue>,
    message: Option<Said<'a>>,
    /// The counterpart of `message` in a chunk.
    pub(super) delta: Option<Said<'a>>,
    /// The reply of servers with the older completions API.
    pub(super) text: Option<Content>,
    pub(super) finish_reason: Option<&'a RawValue>,
}

/// A message, or a piece of one in a stream.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Said<'a> {
    pub(super) content: Option<Content>,
    /// The name used by DeepSeek, llama.cpp and others.
    reasoning_content: Option<&'a RawValue>,
    /// The name used by OpenRouter, vLLM and Ollama. Some servers send both.
    reasoning: Option<&'a RawValue>,
    refusal: Option<&'a RawValue>,
    tool_calls: Option<&'a RawValue>,
    /// The predecessor of `tool_calls`. Some servers send both.
    function_call: Option<&'a RawValue>,
}

impl Said<'_> {
    pub(super) fn reasoning(&self) -> Option<String> {
        json::text(self.reasoning_content).or_else(|| json::text(self.reasoning))
    }

    pub(super) fn refusal(&self) -> Option<String> {
        json::text(self.refusal)
    }

    pub(super) fn calls(&self) -> Vec<Piece> {
        let mut calls: Vec<_> = Piece::all_of(self.tool_calls).collect();
        if calls.is_empty() {
            calls.extend(self.function_call.and_then(Piece::of));
        }

        calls
    }
}

/// Decodes a response with a success status.
pub(super) fn decode(body: &[u8], secrets: &Secrets) -> Result<ChatResponse, LlmError> {
    let wrong = |message: &str| LlmError::new(LlmErrorKind::Decode, message);
    let completion: Completion<'_> = json::read("chat completion", body, secrets)?;
    failure::check(completion.error, secrets)?;

    let choice = completion
        .choices
        .and_then(|choices| choices.0.into_iter().next());
    let choice =
        choice.ok_or_else(|| wrong("the response has no choices; expected at least one"))?;
    if choice.message.is_none() && choice.text.is_none() {
        return Err(wrong("choices[0] is empty; expected a message or text"));
    }

    let reason = choice
        .finish_reason
        .and_then(parse::<String>)
        .map(finish_reason)
        .unwrap_or_default();

    let said = choice.message.as_ref();
    let reasoning = said.and_then(Said::reasoning).unwrap_or_default();
    let refusal = said.and_then(Said::refusal);
    let calls = said.map(Said::calls).unwrap_or_default();
    let calls: Vec<_> = calls.into_iter().filter_map(Piece::into_call).collect();
    let content = choice.message.and_then(|message| message.content);
    let has_content = content.is_some() || choice.text.is_some();
    let text = [content, choice.text]
        .into_iter()
        .flatten()
        .find_map(|content| content.0);
    let is_empty = text.as_deref().unwrap_or_default().is_empty() && calls.is_empty();

    if let Some(refusal) = refusal.filter(|_| is_empty) {
        return Err(refused(&refusal, secrets));
    }

    // A reply that is truncated before its first text, such as within the reasoning, has a finish
    // reason that explains it.
    if has_content && text.is_none() && calls.is_empty() && reason != FinishReason::Length {
        return Err(wrong(
            "choices[0] has content without text; expected text in at least one part",
        ));
    }

    Ok(ChatResponse::new(text.unwrap_or_default())
        .with_finish_reason(reason)
        .with_reasoning(reasoning)
        .with_tool_calls(calls)
        .with_reported(Reported {
            usage: completion.usage.and_then(usage),
            model: json::text(completion.model),
            id: json::text(completion.id),
        }))
}

pub(super) fn refused(refusal: &str, secrets: &Secrets) -> LlmError {
    let message = format!("the model refused: {}", secrets.line(refusal));
    LlmError::new(LlmErrorKind::ContentFilter, message)
}

/// Reads the token counts that are present. Returns `None` if there are none.
pub(super) fn usage(raw: &RawValue) -> Option<Usage> {
    #[derive(Default, Deserialize)]
    #[serde(default, bound(deserialize = "'de: 'a"))]
    struct Wire<'a> {
        prompt_tokens: Option<&'a RawValue>,
        completion_tokens: Option<&'a RawValue>,
        prompt_tokens_details: Option<&'a RawValue>,
        completion_tokens_details: Option<&'a RawValue>,
    }

    #[derive(Default, Deserialize)]
    #[serde(default, bound(deserialize = "'de: 'a"))]
    struct Details<'a> {
        cached_tokens: Option<&'a RawValue>,
        reasoning_tokens: Option<&'a RawValue>,
    }

    let wire: Wire<'_> = parse_object(raw)?;
    let prompt = wire.prompt_tokens.and_then(count);
    let completion = wire.completion_tokens.and_then(count);
    if prompt.is_none() && completion.is_none() {
        return None;
    }

    let prompt_details = wire
        .prompt_tokens_details
        .and_then(parse_object::<Details<'_>>);
    let cached = prompt_details
        .and_then(|details| details.cached_tokens)
        .and_then(count);
    let completion_details = wire
        .completion_tokens_details
        .and_then(parse_object::<Details<'_>>);
    let reasoning = completion_details
        .and_then(|details| details.reasoning_tokens)
        .and_then(count);

    Some(
        Usage::new(prompt.unwrap_or_default(), completion.unwrap_or_default())
            .with_cached_tokens(cached.unwrap_or_default())
            .with_reasoning_tokens(reasoning.unwrap_or_default()),
    )
}
