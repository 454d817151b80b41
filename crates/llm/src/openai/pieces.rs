use std::collections::VecDeque;

use super::reply::{Completion, refused, usage};
use crate::http::calls::Growing;
use crate::http::json::{self, count, finish_reason, parse};
use crate::http::{Event, Reader, Secrets, failure};
use crate::{ChatResponse, Delta, FinishReason, LlmError, Usage};

/// What the chunks of a stream contained in addition to the text.
#[derive(Default)]
pub(super) struct Pieces {
    finish_reason: Option<FinishReason>,
    usage: Option<Usage>,
    model: Option<String>,
    refusal: String,
    calls: Growing,
    has_text: bool,
}

impl Pieces {
    /// Appends the calls, and the response without its texts and calls.
    fn end(&mut self, secrets: &Secrets, deltas: &mut VecDeque<Delta>) -> Result<(), LlmError> {
        if !self.has_text && self.calls.is_empty() && !self.refusal.is_empty() {
            return Err(refused(&self.refusal, secrets));
        }

        let response = ChatResponse::default()
            .with_finish_reason(self.finish_reason.take().unwrap_or_default())
            .with_told(self.usage, self.model.take());
        deltas.extend(self.calls.finish().map(Delta::ToolCall));
        deltas.push_back(Delta::End(response));

        Ok(())
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
            return self.end(secrets, deltas);
        }

        let chunk: Completion<'_> =
            json::read("chunk of a chat completion", event.data.as_bytes(), secrets)?;
        if let Some(error) = chunk.error.filter(|error| !failure::says_nothing(error)) {
            return Err(failure::of_value(error, secrets));
        }

        if event.name == "error" {
            return Err(failure::of_text(&event.data, secrets));
        }

        // With continuous usage, each chunk contains the totals so far.
        self.usage = chunk.usage.and_then(usage).or(self.usage);
        if self.model.is_none() {
            self.model = json::text(chunk.model);
        }

        // If several choices were requested, only the first is used.
        let Some(choice) = chunk
            .choices
            .and_then(|choices| choices.0.into_iter().next())
        else {
            return Ok(());
        };

        if choice.index.and_then(count).is_some_and(|index| index > 0) {
            return Ok(());
        }

        if let Some(reason) = choice
            .finish_reason
            .and_then(parse::<String>)
            .filter(|reason| !reason.is_empty())
        {
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
        if let Some(text) = content
            .and_then(|content| content.0)
            .filter(|text| !text.is_empty())
        {
            self.has_text = true;
            deltas.push_back(Delta::Text(text));
        }

        Ok(())
    }

    fn held(&self) -> usize {
        self.refusal.len() + self.calls.bytes()
    }

    fn end_without_mark(
        &mut self,
        secrets: &Secrets,
        deltas: &mut VecDeque<Delta>,
    ) -> Result<bool, LlmError> {
        let is_whole = self.finish_reason.is_some();
        if is_whole {
            self.end(secrets, deltas)?;
        }

        Ok(is_whole)
    }
}
