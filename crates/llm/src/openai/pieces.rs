use std::mem;

use super::reply::{Choice, Completion, refused, usage};
use crate::http::calls::Growing;
use crate::http::json::{self, count, finish_reason, parse};
use crate::http::{Event, Reader, Secrets, failure};
use crate::response::Reported;
use crate::{ChatResponse, Delta, FinishReason, LlmError};

/// What the chunks of a stream contained in addition to the text.
#[derive(Default)]
pub(super) struct Pieces {
    finish_reason: Option<FinishReason>,
    reported: Reported,
    refusal: String,
    calls: Growing,
    has_text: bool,
}

impl Pieces {
    /// Returns the calls, and the response without its texts and calls.
    fn end(&mut self, secrets: &Secrets) -> Result<Vec<Delta>, LlmError> {
        if !self.has_text && self.calls.is_empty() && !self.refusal.is_empty() {
            return Err(refused(&self.refusal, secrets));
        }

        let response = ChatResponse::default()
            .with_finish_reason(self.finish_reason.take().unwrap_or_default())
            .with_reported(mem::take(&mut self.reported));
        let calls = self.calls.finish().map(Delta::ToolCall);

        Ok(calls.chain([Delta::End(response)]).collect())
    }

    fn choice(&mut self, choice: Choice<'_>) -> Result<Vec<Delta>, LlmError> {
        let mut deltas = Vec::new();

        let reason = choice.finish_reason.and_then(parse::<String>);
        if let Some(reason) = reason.filter(|reason| !reason.is_empty()) {
            self.finish_reason = Some(finish_reason(reason));
        }

        if let Some(said) = &choice.delta {
            deltas.extend(said.reasoning().map(Delta::Reasoning));
            self.refusal.push_str(&said.refusal().unwrap_or_default());
            said.calls()
                .into_iter()
                .try_for_each(|piece| self.calls.add(piece))?;
        }

        let content = choice.delta.and_then(|said| said.content).or(choice.text);
        let text = content.and_then(|content| content.0);
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            self.has_text = true;
            deltas.push(Delta::Text(text));
        }

        Ok(deltas)
    }
}

impl Reader for Pieces {
    fn read(&mut self, event: &Event, secrets: &Secrets) -> Result<Vec<Delta>, LlmError> {
        if event.data.trim() == "[DONE]" {
            return self.end(secrets);
        }

        let chunk: Completion<'_> =
            json::read("chunk of a chat completion", event.data.as_bytes(), secrets)?;
        failure::check(chunk.error, secrets)?;

        if event.name == "error" {
            return Err(failure::of_text(&event.data, secrets));
        }

        // With continuous usage, each chunk contains the totals so far.
        let reported = &mut self.reported;
        reported.usage = chunk.usage.and_then(usage).or(reported.usage);
        if reported.model.is_none() {
            reported.model = json::text(chunk.model);
        }
        if reported.id.is_none() {
            reported.id = json::text(chunk.id);
        }

        // If several choices were requested, only the first is used.
        let is_first = |choice: &Choice<'_>| choice.index.and_then(count).unwrap_or_default() == 0;
        let choices = chunk.choices.into_iter().flat_map(|choices| choices.0);
        match choices.take(1).find(is_first) {
            Some(choice) => self.choice(choice),
            None => Ok(Vec::new()),
        }
    }

    fn held(&self) -> usize {
        self.refusal.len() + self.calls.bytes()
    }

    fn end_without_mark(&mut self, secrets: &Secrets) -> Result<Option<Vec<Delta>>, LlmError> {
        if self.finish_reason.is_none() {
            return Ok(None);
        }

        self.end(secrets).map(Some)
    }
}
