use std::collections::VecDeque;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::reply::{Said, refused, usage};
use crate::http::json::{self, Content, First, count, finish_reason, parse};
use crate::http::{Event, Reader, Secrets, failure};
use crate::{ChatResponse, Delta, FinishReason, LlmError, Usage};

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
    /// Empty in the chunk that brings usage.
    #[serde(borrow, default)]
    choices: Option<First<Choice<'a>>>,
    #[serde(borrow, default)]
    usage: Option<&'a RawValue>,
    #[serde(borrow, default)]
    model: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(borrow, default)]
    index: Option<&'a RawValue>,
    #[serde(borrow, default)]
    delta: Option<Said<'a>>,
    /// Where servers of plain completions put the reply.
    #[serde(default)]
    text: Option<Content>,
    #[serde(borrow, default)]
    finish_reason: Option<&'a RawValue>,
}

/// What the chunks of one stream have said besides the text.
#[derive(Default)]
pub(super) struct Pieces {
    finish_reason: Option<FinishReason>,
    usage: Option<Usage>,
    model: Option<String>,
    refusal: String,
    has_text: bool,
}

impl Pieces {
    fn end(&mut self, secrets: &Secrets) -> Result<ChatResponse, LlmError> {
        if !self.has_text && !self.refusal.is_empty() {
            return Err(refused(&self.refusal, secrets));
        }
        let mut response =
            ChatResponse::default().with_finish_reason(self.finish_reason.take().unwrap_or_default());
        if let Some(usage) = self.usage {
            response = response.with_usage(usage);
        }
        if let Some(model) = self.model.take() {
            response = response.with_model(model);
        }
        Ok(response)
    }
}

impl Reader for Pieces {
    fn read(
        &mut self,
        event: &Event,
        secrets: &Secrets,
        deltas: &mut VecDeque<Delta>,
    ) -> Result<(), LlmError> {
        if event.data.trim() == "[DONE]" {
            deltas.push_back(Delta::End(self.end(secrets)?));
            return Ok(());
        }
        let chunk: Chunk<'_> = json::read("chunk of a chat completion", event.data.as_bytes(), secrets)?;
        if let Some(error) = chunk.error.filter(|error| !failure::says_nothing(error)) {
            return Err(failure::of_value(error, secrets));
        }
        if event.name == "error" {
            return Err(failure::of_text(&event.data, secrets));
        }
        // With continuous usage each chunk says what there is so far.
        self.usage = chunk.usage.and_then(usage).or(self.usage);
        if self.model.is_none() {
            self.model = json::text(chunk.model);
        }
        // Where several choices were asked for, only the first is the reply.
        let Some(choice) = chunk.choices.and_then(|choices| choices.0) else { return Ok(()) };
        if choice.index.and_then(count).is_some_and(|index| index > 0) {
            return Ok(());
        }
        if let Some(reason) =
            choice.finish_reason.and_then(parse::<String>).filter(|reason| !reason.is_empty())
        {
            self.finish_reason = Some(finish_reason(reason));
        }
        if let Some(said) = &choice.delta {
            deltas.extend(said.reasoning().map(Delta::Reasoning));
            self.refusal.push_str(&said.refusal().unwrap_or_default());
        }
        let content = choice.delta.and_then(|said| said.content).or(choice.text);
        if let Some(text) = content.and_then(|content| content.0).filter(|text| !text.is_empty()) {
            self.has_text = true;
            deltas.push_back(Delta::Text(text));
        }
        Ok(())
    }

    fn end_without_mark(&mut self, secrets: &Secrets) -> Option<Result<ChatResponse, LlmError>> {
        self.finish_reason.is_some().then(|| self.end(secrets))
    }
}
