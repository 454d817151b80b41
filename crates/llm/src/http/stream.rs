//! Reads a reply as it is streamed.

use std::collections::VecDeque;

use futures_util::stream;
use reqwest::Response;
use serde_json::Value;

use super::chat::{ChatConnection, Conversation, Sent};
use super::exchange::Exchange;
use super::failure::{check_error, of_value, parse};
use super::sse::{Event, Events};
use crate::backend::ProviderData;
use crate::wire::calls::CallIds;
use crate::wire::{Assembly, DONE, text};
use crate::{ChatResponse, Delta, LlmError, LlmErrorKind, ReplyStream};

/// The maximum size of a line or an event in bytes. Most contain a few words of the reply, and some
/// the data that the server wants back.
const EVENT_BYTES: usize = 2 * ProviderData::MAX_BYTES;
/// How many bytes of a stream count as one: an event has a few characters of the reply.
const FRAMING: usize = 8;

/// Returns the reply in a response with a success status.
pub(super) fn reply(
    connection: ChatConnection,
    conversation: Conversation,
    sent: (Sent, Response),
) -> ReplyStream {
    let reading = Reading {
        part: Part::new(&connection, &conversation, sent),
        connection,
        conversation,
    };

    ReplyStream::new(stream::unfold(reading, |mut reading| async move {
        let delta = reading.next().await;
        Some((delta, reading))
    }))
}

/// A reply, in one or several responses.
struct Reading {
    connection: ChatConnection,
    conversation: Conversation,
    part: Part,
}

impl Reading {
    async fn next(&mut self) -> Result<Delta, LlmError> {
        loop {
            let exchange = self.connection.exchange();
            let delta = self.part.delta(exchange).await;
            let delta = delta.map_err(|error| exchange.sign(error, &self.part.sent.origin))?;

            match delta {
                Delta::End(response) => {
                    if let Some(end) = self.end(response).await? {
                        return Ok(Delta::End(end));
                    }
                }
                // The caller forbade calls, so the model is asked once more.
                Delta::ToolCall(_) if self.conversation.hides_calls() => {}
                delta => return Ok(delta),
            }
        }
    }

    /// Ends a response. Returns `None` if the reply goes on in another one.
    async fn end(&mut self, response: ChatResponse) -> Result<Option<ChatResponse>, LlmError> {
        let Self {
            connection,
            conversation,
            part,
            ..
        } = self;
        let response = part.ids.end(response);
        let finished = connection.finished(&conversation.request, &part.sent, response, &part.ids);
        let exchange = connection.exchange();
        let response = finished.map_err(|error| exchange.sign(error, &part.sent.origin))?;

        let whole = self.conversation.take(response, part.has_calls);
        if whole.is_none() {
            let sent = self.connection.send(&self.conversation).await?;
            self.part = Part::new(&self.connection, &self.conversation, sent);
        }
        Ok(whole)
    }
}

/// One response.
struct Part {
    sent: Sent,
    /// `None` once the connection has ended.
    response: Option<Response>,
    /// The number of bytes received.
    received: usize,
    events: Events,
    deltas: VecDeque<Delta>,
    assembly: Box<dyn Assembly>,
    ids: CallIds,
    has_calls: bool,
    /// The lengths of the text and the reasoning that were emitted.
    emitted: [usize; 2],
}

impl Part {
    fn new(
        connection: &ChatConnection,
        conversation: &Conversation,
        (sent, response): (Sent, Response),
    ) -> Self {
        let limit = connection.exchange().max_response_bytes.min(EVENT_BYTES);
        Self {
            response: Some(response),
            received: 0,
            events: Events::new(sent.api.framing, limit),
            deltas: VecDeque::new(),
            assembly: (sent.api.assembly)(),
            ids: CallIds::of(&conversation.request),
            has_calls: false,
            emitted: [0, 0],
            sent,
        }
    }

    /// Reads the next delta.
    async fn delta(&mut self, exchange: &Exchange) -> Result<Delta, LlmError> {
        while self.deltas.is_empty() {
            let deltas = self.read(exchange).await?;
            self.deltas.extend(deltas);
        }

        let delta = self.deltas.pop_front().ok_or_else(interrupted)?;
        self.emit(delta)
    }

    /// Counts a delta, and gives a call its id.
    fn emit(&mut self, delta: Delta) -> Result<Delta, LlmError> {
        let [text, reasoning] = &mut self.emitted;
        match &delta {
            Delta::Text(more) => *text += more.len(),
            Delta::Reasoning(more) => *reasoning += more.len(),
            Delta::ToolCall(call) => {
                self.has_calls = true;
                // Before the caller sees it, since the result refers to this id.
                return self.ids.admit(call.clone()).map(Delta::ToolCall);
            }
            Delta::End(_) => {}
        }

        Ok(delta)
    }

    /// Reads the next event, or the end.
    async fn read(&mut self, exchange: &Exchange) -> Result<Vec<Delta>, LlmError> {
        match self.next(exchange).await? {
            Some(event) => {
                let read = match event.is_whole {
                    true => self.read_whole(&event),
                    false => self.read_event(&event),
                };
                read.map_err(|error| error.with_body(exchange.secrets.body(event.data.as_bytes())))
            }
            // Some servers close the connection without an end marker.
            None if self.assembly.is_complete() => self.whole(),
            None => Err(interrupted()),
        }
    }

    /// Returns the next event, or `None` at the end of the connection.
    async fn next(&mut self, exchange: &Exchange) -> Result<Option<Event>, LlmError> {
        loop {
            if let Some(event) = self.events.next() {
                return Ok(Some(event));
            }
            let Some(response) = &mut self.response else {
                return Ok(None);
            };

            let chunk = response.chunk().await.map_err(|error| {
                let address = &self.sent.origin.address;
                exchange.broken(address, error, LlmErrorKind::InterruptedStream)
            });
            match chunk? {
                Some(bytes) => {
                    self.received += bytes.len();
                    if self.received / FRAMING > exchange.max_response_bytes {
                        return Err(exchange.too_large());
                    }
                    self.events.feed(&bytes)?;
                }
                None => {
                    self.response = None;
                    self.events.finish()?;
                }
            }
        }
    }

    /// Reads a whole reply, from a server or proxy that doesn't support streaming.
    fn read_whole(&mut self, event: &Event) -> Result<Vec<Delta>, LlmError> {
        let body = event.data.as_bytes();
        let response = (self.sent.api.decode)(&parse(body)?, body)?;
        Ok(self.rest(response))
    }

    /// Reads an event. Returns the texts in it, or all that is left if it is the last one.
    fn read_event(&mut self, event: &Event) -> Result<Vec<Delta>, LlmError> {
        let data = event.data.as_str();
        let added = if data.trim() == DONE {
            self.assembly.add(DONE, &Value::Null, data)?
        } else {
            let parsed = parse(data.as_bytes());
            let parsed = parsed.map_err(|error| self.cut(error))?;
            // Responses has the error in the response that failed.
            check_error(parsed.get("response").unwrap_or(&Value::Null))?;
            // Not every server repeats the name of an event in its data, and not every proxy passes
            // the name on.
            let kind = text(&parsed, "/type").unwrap_or_else(|| event.name.clone());
            if kind == "error" {
                return Err(of_value(&parsed));
            }
            self.assembly.add(&kind, &parsed, data)?
        };

        match added {
            Some(deltas) => Ok(deltas),
            None => self.whole(),
        }
    }

    /// Returns the error of an event, which the end of the connection may have truncated. The reply is
    /// incomplete then rather than invalid.
    fn cut(&self, error: LlmError) -> LlmError {
        let is_cut = self.response.is_none() && error.kind() == LlmErrorKind::Decode;
        if is_cut { interrupted() } else { error }
    }

    fn whole(&mut self) -> Result<Vec<Delta>, LlmError> {
        let response = self.assembly.whole()?;
        Ok(self.rest(response))
    }

    /// Returns what of a whole reply was not yet emitted.
    fn rest(&self, response: ChatResponse) -> Vec<Delta> {
        Delta::all_of(response, self.emitted).collect()
    }
}

fn interrupted() -> LlmError {
    let message = "the reply broke off: the stream ended without its end marker";
    LlmError::new(LlmErrorKind::InterruptedStream, message)
}
