//! Reads a reply as it is streamed.

use std::collections::VecDeque;

use futures_util::stream;
use reqwest::Response;
use serde_json::Value;

use super::chat::{ChatConnection, Conversation, Sent};
use super::exchange::Exchange;
use super::failure::{check_error, error_of_text, parse};
use super::sse::{Event, Events, Lines, TooLong};
use crate::wire::calls::CallIds;
use crate::wire::{Api, Assembly, DONE, Decoded, Framing, text, unreadable};
use crate::{ChatResponse, Delta, LlmError, LlmErrorKind, ProviderData, ReplyStream};

/// The maximum size of a line or an event in bytes. Most contain a few words of the reply, and some
/// the data that the server wants back.
const EVENT_BYTES: usize = 2 * ProviderData::MAX_BYTES;

/// Returns the reply in a response with a success status.
pub(super) fn reply(
    connection: ChatConnection,
    conversation: Conversation,
    sent: (Sent, Response),
) -> ReplyStream {
    let reading = Reading {
        part: Part::new(&connection.connection.exchange, &conversation, sent),
        connection,
        conversation,
        deltas: VecDeque::new(),
        taken: 0,
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
    deltas: VecDeque<Delta>,
    /// The size of the reply so far, in bytes.
    taken: usize,
}

impl Reading {
    async fn next(&mut self) -> Result<Delta, LlmError> {
        loop {
            let delta = self.read().await;
            let delta = delta.map_err(|error| self.part.sent.origin.sign(error))?;

            match delta {
                Delta::End(response) => {
                    if let Some(end) = self.end(response).await? {
                        return Ok(Delta::End(end));
                    }
                }
                Delta::ToolCall(_) if self.conversation.hides_calls() => {}
                delta => return Ok(delta),
            }
        }
    }

    /// Reads the next delta of this response.
    async fn read(&mut self) -> Result<Delta, LlmError> {
        let exchange = &self.connection.connection.exchange;
        let delta = loop {
            if let Some(delta) = self.deltas.pop_front() {
                break delta;
            }
            let deltas = self.part.advance(exchange, self.taken).await?;
            self.deltas.extend(deltas);
        };

        self.taken = self.taken.saturating_add(delta.bytes());
        exchange.check_size(self.taken)?;
        self.part.emit(delta)
    }

    /// Ends a response. Returns `None` if the reply goes on in another one.
    async fn end(&mut self, response: ChatResponse) -> Result<Option<ChatResponse>, LlmError> {
        let part = &mut self.part;
        // Nothing is read after the end marker, not even the end of the connection.
        part.response = None;

        let decoded = Decoded {
            response: part.ids.end(response),
            data: part.data.take(),
        };
        let request = &self.conversation.request;
        let finished = self
            .connection
            .finished(request, &part.sent, decoded, &part.ids);
        let response = finished.map_err(|error| part.sent.origin.sign(error))?;

        let whole = self.conversation.take(response, part.has_calls);
        if whole.is_none() {
            let Conversation {
                request, manner, ..
            } = &self.conversation;
            let sent = self.connection.send(request, *manner);
            let exchange = &self.connection.connection.exchange;
            self.part = Part::new(exchange, &self.conversation, sent.await?);
        }
        Ok(whole)
    }
}

/// One response.
struct Part {
    sent: Sent,
    /// `None` once the connection has ended.
    response: Option<Response>,
    frames: Frames,
    body: Body,
    assembly: Box<dyn Assembly>,
    /// What the server wants back, once the response has ended.
    data: Option<String>,
    ids: CallIds,
    has_calls: bool,
    /// The lengths of the text and the reasoning that were emitted.
    emitted: [usize; 2],
}

/// The form of the response body.
enum Body {
    /// Nothing but white space has arrived yet.
    Unknown,
    Events,
    /// One JSON value or a page, from servers and proxies that don't support streaming.
    Whole(Vec<u8>),
}

impl Part {
    fn new(
        exchange: &Exchange,
        conversation: &Conversation,
        (sent, response): (Sent, Response),
    ) -> Self {
        Self {
            response: Some(response),
            frames: Frames::new(sent.api.framing, exchange.max_response_bytes),
            body: Body::Unknown,
            assembly: (sent.api.assembly)(),
            data: None,
            ids: CallIds::of(&conversation.request),
            has_calls: false,
            emitted: [0, 0],
            sent,
        }
    }

    /// Counts a delta, and gives a call its id.
    fn emit(&mut self, delta: Delta) -> Result<Delta, LlmError> {
        let [text, reasoning] = &mut self.emitted;
        match &delta {
            Delta::Text(more) => *text += more.len(),
            Delta::Reasoning(more) => *reasoning += more.len(),
            Delta::ToolCall(call) => {
                self.has_calls = true;
                return self.ids.admit(call.clone()).map(Delta::ToolCall);
            }
            Delta::End(_) => {}
        }

        Ok(delta)
    }

    /// Reads the next event, or the next chunk, or the end.
    async fn advance(&mut self, exchange: &Exchange, taken: usize) -> Result<Vec<Delta>, LlmError> {
        if let Some(event) = self.frames.unread.pop_front() {
            let deltas = self.read(&event, exchange).map_err(|error| {
                // An event that the end of the connection truncated. The reply is incomplete rather
                // than invalid.
                let is_cut = self.response.is_none() && error.kind() == LlmErrorKind::Decode;
                let error = if is_cut { interrupted() } else { error };
                error.with_body(exchange.secrets.body(event.data.as_bytes()))
            })?;
            exchange.check_size(taken.saturating_add(self.assembly.held()))?;
            return Ok(deltas);
        }

        let Some(response) = &mut self.response else {
            return if self.assembly.is_complete() {
                self.whole(exchange)
            } else {
                Err(interrupted())
            };
        };
        match response.chunk().await {
            Ok(Some(bytes)) => self.feed(&bytes, exchange)?,
            Ok(None) => return self.finish(exchange),
            Err(error) => return Err(exchange.broken_off(&self.sent.origin, error)),
        }
        Ok(Vec::new())
    }

    /// Reads an event. Returns the texts in it, or all that is left if it is the last one.
    fn read(&mut self, event: &Event, exchange: &Exchange) -> Result<Vec<Delta>, LlmError> {
        let secrets = &exchange.secrets;
        let data = event.data.as_str();
        let added = if data.trim() == DONE {
            self.assembly.add(DONE, &Value::Null, data)?
        } else {
            let parsed = parse(self.sent.api.reply, data.as_bytes(), secrets)?;
            check_error(parsed.get("response").unwrap_or(&Value::Null), secrets)?;
            let kind = text(&parsed, "/type").unwrap_or_else(|| event.name.clone());
            if kind == "error" {
                return Err(error_of_text(data, secrets));
            }
            self.assembly.add(&kind, &parsed, data)?
        };

        match added {
            Some(deltas) => Ok(deltas),
            None => self.whole(exchange),
        }
    }

    fn whole(&mut self, exchange: &Exchange) -> Result<Vec<Delta>, LlmError> {
        let decoded = self.assembly.whole(&exchange.secrets)?;
        Ok(self.rest(decoded))
    }

    /// Returns what of a whole reply was not yet emitted.
    fn rest(&mut self, decoded: Decoded) -> Vec<Delta> {
        let response = decoded.response;
        self.data = decoded.data;

        let [text, reasoning] = self.emitted;
        let late = |whole: &str, emitted| {
            let late = whole.get(emitted..).unwrap_or_default().to_owned();
            Some(late).filter(|late| !late.is_empty())
        };
        let reasoning = late(response.reasoning().unwrap_or_default(), reasoning);
        let text = late(response.text(), text);
        let calls = response.tool_calls().to_vec();

        let texts = [reasoning.map(Delta::Reasoning), text.map(Delta::Text)];
        texts
            .into_iter()
            .flatten()
            .chain(calls.into_iter().map(Delta::ToolCall))
            .chain([Delta::End(response)])
            .collect()
    }

    fn feed(&mut self, bytes: &[u8], exchange: &Exchange) -> Result<(), LlmError> {
        if let Body::Unknown = self.body {
            let is_framed_by_events = matches!(self.sent.api.framing, Framing::Events);
            self.body = match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
                None => return Ok(()),
                Some(b'<') => Body::Whole(Vec::new()),
                Some(b'{' | b'[') if is_framed_by_events => Body::Whole(Vec::new()),
                Some(_) => Body::Events,
            };
        }

        let Body::Whole(whole) = &mut self.body else {
            return self.frames.feed(bytes).map_err(|_| self.frames.too_long());
        };
        whole.extend_from_slice(bytes);
        exchange.check_size(whole.len())
    }

    /// Handles the clean end of the connection.
    fn finish(&mut self, exchange: &Exchange) -> Result<Vec<Delta>, LlmError> {
        self.response = None;
        let Body::Whole(whole) = &self.body else {
            let finished = self.frames.finish();
            finished.map_err(|_| self.frames.too_long())?;
            return Ok(Vec::new());
        };

        let secrets = &exchange.secrets;
        let Api { reply, decode, .. } = self.sent.api;
        let decoded = parse(reply, whole, secrets)
            .and_then(|value| decode(&value, whole, secrets))
            .map_err(|error| error.with_body(secrets.body(whole)))?;
        Ok(self.rest(decoded))
    }
}

/// Assembles bytes into events.
struct Frames {
    framing: Framing,
    limit: usize,
    lines: Lines,
    events: Events,
    unread: VecDeque<Event>,
}

impl Frames {
    fn new(framing: Framing, max_response_bytes: usize) -> Self {
        let limit = max_response_bytes.min(EVENT_BYTES);
        Self {
            framing,
            limit,
            lines: Lines::new(limit),
            events: Events::new(limit),
            unread: VecDeque::new(),
        }
    }

    fn too_long(&self) -> LlmError {
        let limit = self.limit;
        unreadable(format!(
            "an event of the stream is over the limit of {limit} bytes"
        ))
    }

    fn feed(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        let framing = self.framing;
        self.lines.feed(bytes, |line| {
            self.unread.extend(event(framing, &mut self.events, line)?);
            Ok(())
        })
    }

    fn finish(&mut self) -> Result<(), TooLong> {
        let framing = self.framing;
        self.lines.finish(|line| {
            self.unread.extend(event(framing, &mut self.events, line)?);
            Ok(())
        })?;

        self.unread.extend(self.events.end());
        Ok(())
    }
}

/// Returns the event that a line completes.
fn event(framing: Framing, events: &mut Events, line: &str) -> Result<Option<Event>, TooLong> {
    match framing {
        Framing::Events => events.line(line),
        Framing::Lines if line.trim().is_empty() => Ok(None),
        Framing::Lines => Ok(Some(Event {
            name: String::new(),
            data: line.to_owned(),
        })),
    }
}

fn interrupted() -> LlmError {
    let message = "the reply broke off: the stream ended without its end marker";
    LlmError::new(LlmErrorKind::InterruptedStream, message)
}
