use serde::Deserialize;
use serde_json::value::RawValue;

use crate::http::calls::Piece;
use crate::http::json::{self, count, finish_reason, parse};
use crate::http::{Event, Reader, Secrets, failure};
use crate::response::Reported;
use crate::{ChatResponse, Delta, LlmError, LlmErrorKind, ToolCall, Usage};

/// A complete reply, or one line of a stream.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Reply<'a> {
    error: Option<&'a RawValue>,
    message: Option<Said<'a>>,
    done: Option<&'a RawValue>,
    done_reason: Option<&'a RawValue>,
    prompt_eval_count: Option<&'a RawValue>,
    eval_count: Option<&'a RawValue>,
    model: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Said<'a> {
    content: Option<&'a RawValue>,
    thinking: Option<&'a RawValue>,
    /// Complete calls, in any line of a stream.
    tool_calls: Option<&'a RawValue>,
}

impl<'a> Reply<'a> {
    fn read(body: &'a [u8], secrets: &Secrets) -> Result<Self, LlmError> {
        let reply: Self = json::read("chat reply", body, secrets)?;
        failure::check(reply.error, secrets)?;

        Ok(reply)
    }

    fn is_done(&self) -> bool {
        self.done.and_then(parse::<bool>).unwrap_or_default()
    }

    fn text(&self) -> Option<String> {
        self.message
            .as_ref()
            .and_then(|said| json::text(said.content))
    }

    fn thinking(&self) -> Option<String> {
        self.message
            .as_ref()
            .and_then(|said| json::text(said.thinking))
    }

    fn calls(&self) -> impl Iterator<Item = ToolCall> {
        let calls = self.message.as_ref().and_then(|said| said.tool_calls);
        Piece::all_of(calls).filter_map(Piece::into_call)
    }

    /// Returns the response without its texts and calls.
    fn end(&self) -> ChatResponse {
        let reason = self
            .done_reason
            .and_then(parse::<String>)
            .map(finish_reason);

        // The count is missing if the whole prompt was cached.
        let prompt = self.prompt_eval_count.and_then(count);
        let completion = self.eval_count.and_then(count);
        let usage = (prompt.is_some() || completion.is_some())
            .then(|| Usage::new(prompt.unwrap_or_default(), completion.unwrap_or_default()));
        ChatResponse::default()
            .with_finish_reason(reason.unwrap_or_default())
            .with_reported(Reported {
                usage,
                model: json::text(self.model),
                id: None,
            })
    }
}

/// Decodes a response with a success status.
pub(super) fn decode(body: &[u8], secrets: &Secrets) -> Result<ChatResponse, LlmError> {
    let reply = Reply::read(body, secrets)?;
    if reply.message.is_none() {
        let message = "the response has no message; expected an object with content";
        return Err(LlmError::new(LlmErrorKind::Decode, message));
    }

    let text = reply.text().unwrap_or_default();
    let thinking = reply.thinking().unwrap_or_default();
    Ok(reply
        .end()
        .with_text(text)
        .with_reasoning(thinking)
        .with_tool_calls(reply.calls()))
}

/// Reads the lines of a stream. The last one contains everything but the texts and calls, so there
/// is no state.
pub(super) struct Pieces;

impl Reader for Pieces {
    fn read(&mut self, event: &Event, secrets: &Secrets) -> Result<Vec<Delta>, LlmError> {
        let reply = Reply::read(event.data.as_bytes(), secrets)?;
        let reasoning = reply.thinking().map(Delta::Reasoning);
        let text = reply.text().map(Delta::Text);
        let calls = reply.calls().map(Delta::ToolCall);
        let end = reply.is_done().then(|| Delta::End(reply.end()));

        Ok(reasoning
            .into_iter()
            .chain(text)
            .chain(calls)
            .chain(end)
            .collect())
    }
}
