//! Reads a reply as it is streamed.

use std::collections::VecDeque;

use futures_util::stream;
use reqwest::Response;

use super::chat::{ChatConnection, Conversation, Sent};
use super::exchange::{Exchange, Origin};
use super::sse::{Event, Events, Lines, TooLong};
use crate::wire::calls::CallIds;
use crate::wire::{Api, Framing, Reader, unreadable};
use crate::{Adjustment, ChatResponse, Delta, LlmError, LlmErrorKind, ProviderData, ReplyStream};

/// The maximum size of a line or an event in bytes. Most contain a few words of the reply, and some
/// the data that the server wants back.
const EVENT_BYTES: usize = 2 * ProviderData::MAX_BYTES;

/// Returns the reply in a response with a success status.
pub(super) fn reply(
    connection: ChatConnection,
    conversation: Conversation,
    sent: Sent,
) -> ReplyStream {
    let reading = Reading {
        part: Part::new(&connection, &conversation, sent),
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
            let Some(delta) = self.deltas.pop_front() else {
                let exchange = &self.connection.connection.exchange;
                let deltas = self.part.advance(exchange, self.taken).await;
                self.deltas.extend(deltas?);
                continue;
            };

            match delta {
                Delta::End(response) => {
                    if let Some(end) = self.end(response).await? {
                        return Ok(Delta::End(end));
                    }
                }
                Delta::ToolCall(call) => {
                    let call = self.part.ids.admit(call);
                    let call = call.map_err(|error| self.part.origin.sign(error))?;
                    self.take(call.bytes())?;
                    self.part.has_calls = true;
                    if !self.conversation.hides_calls() {
                        return Ok(Delta::ToolCall(call));
                    }
                }
                text => {
                    self.take(text.bytes())?;
                    return Ok(text);
                }
            }
        }
    }

    fn exchange(&self) -> &Exchange {
        &self.connection.connection.exchange
    }

    /// Counts bytes of the reply.
    fn take(&mut self, bytes: usize) -> Result<(), LlmError> {
        self.taken = self.taken.saturating_add(bytes);
        self.part.check_size(self.exchange(), self.taken)
    }

    /// Ends a response. Returns `None` if the reply goes on in another one.
    async fn end(&mut self, response: ChatResponse) -> Result<Option<ChatResponse>, LlmError> {
        let part = &mut self.part;
        // Nothing is read after the end marker, not even the end of the connection.
        part.response = None;

        let data = part.data.take().or_else(|| part.reader.data());
        let response = part.ids.end(response);
        let response = self
            .connection
            .with_data(
                part.api,
                &self.conversation.request,
                response,
                data,
                &part.ids,
            )
            .map_err(|error| part.origin.sign(error))?
            .with_adjustments(std::mem::take(&mut part.adjustments));
        let response = match part.origin.request_id.take() {
            Some(id) => response.with_request_id(id),
            None => response,
        };

        let whole = self.conversation.take(response, part.has_calls);
        if whole.is_none() {
            let Conversation {
                request, manner, ..
            } = &self.conversation;
            let sent = self.connection.send(request, *manner).await?;
            self.part = Part::new(&self.connection, &self.conversation, sent);
        }
        Ok(whole)
    }
}

/// One response.
struct Part {
    api: &'static Api,
    origin: Origin,
    adjustments: Vec<Adjustment>,
    /// `None` once the connection has ended.
    response: Option<Response>,
    frames: Frames,
    body: Body,
    reader: Box<dyn Reader>,
    /// The data of a response that wasn't streamed.
    data: Option<String>,
    ids: CallIds,
    has_calls: bool,
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
    fn new(connection: &ChatConnection, conversation: &Conversation, sent: Sent) -> Self {
        let exchange = &connection.connection.exchange;

        Self {
            api: sent.api,
            origin: sent.origin,
            adjustments: sent.adjustments,
            response: Some(sent.response),
            frames: Frames::new(
                sent.api.framing,
                exchange.max_response_bytes.min(EVENT_BYTES),
            ),
            body: Body::Unknown,
            reader: (sent.api.reader)(),
            data: None,
            ids: CallIds::of(&conversation.request),
            has_calls: false,
        }
    }

    /// Reads the next event, or the next chunk, or the end.
    async fn advance(&mut self, exchange: &Exchange, taken: usize) -> Result<Vec<Delta>, LlmError> {
        if let Some(event) = self.frames.unread.pop_front() {
            let deltas = self.read(&event, exchange)?;
            self.check_size(exchange, taken.saturating_add(self.reader.held()))?;
            return Ok(deltas);
        }

        let Some(response) = &mut self.response else {
            return self.end_without_mark(exchange);
        };
        match response.chunk().await {
            Ok(Some(bytes)) => self.feed(&bytes, exchange)?,
            Ok(None) => return self.finish(exchange),
            Err(error) => return Err(self.origin.sign(exchange.broken_off(&self.origin, error))),
        }
        Ok(Vec::new())
    }

    fn read(&mut self, event: &Event, exchange: &Exchange) -> Result<Vec<Delta>, LlmError> {
        self.reader.read(event, &exchange.secrets).map_err(|error| {
            // An event that the end of the connection truncated. The reply is incomplete rather than
            // invalid.
            let is_cut = self.response.is_none() && error.kind() == LlmErrorKind::Decode;
            let error = if is_cut { interrupted() } else { error };
            let body = exchange.secrets.body(event.data.as_bytes());

            self.origin.sign(error).with_body(body)
        })
    }

    fn end_without_mark(&mut self, exchange: &Exchange) -> Result<Vec<Delta>, LlmError> {
        self.reader
            .end_without_mark(&exchange.secrets)
            .and_then(|deltas| deltas.ok_or_else(interrupted))
            .map_err(|error| self.origin.sign(error))
    }

    fn check_size(&self, exchange: &Exchange, bytes: usize) -> Result<(), LlmError> {
        if bytes > exchange.max_response_bytes {
            return Err(self.origin.sign(exchange.too_large()));
        }

        Ok(())
    }

    fn feed(&mut self, bytes: &[u8], exchange: &Exchange) -> Result<(), LlmError> {
        if let Body::Unknown = self.body {
            let is_framed_by_events = matches!(self.api.framing, Framing::Events);
            self.body = match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
                None => return Ok(()),
                Some(b'<') => Body::Whole(Vec::new()),
                Some(b'{' | b'[') if is_framed_by_events => Body::Whole(Vec::new()),
                Some(_) => Body::Events,
            };
        }

        let Body::Whole(whole) = &mut self.body else {
            let fed = self.frames.feed(bytes);
            return fed.map_err(|error| self.too_long(error));
        };
        whole.extend_from_slice(bytes);
        let length = whole.len();
        self.check_size(exchange, length)
    }

    /// Handles the clean end of the connection.
    fn finish(&mut self, exchange: &Exchange) -> Result<Vec<Delta>, LlmError> {
        self.response = None;
        let Body::Whole(whole) = &self.body else {
            let finished = self.frames.finish();
            finished.map_err(|error| self.too_long(error))?;
            return Ok(Vec::new());
        };

        let secrets = &exchange.secrets;
        let decoded = (self.api.decode)(whole, secrets)
            .map_err(|error| self.origin.sign(error).with_body(secrets.body(whole)))?;
        self.data = decoded.data;
        Ok(Delta::all_of(decoded.response).collect())
    }

    fn too_long(&self, TooLong: TooLong) -> LlmError {
        let limit = self.frames.limit;
        let message = format!("an event of the stream is over the limit of {limit} bytes");
        self.origin.sign(unreadable(message))
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
    fn new(framing: Framing, limit: usize) -> Self {
        Self {
            framing,
            limit,
            lines: Lines::new(limit),
            events: Events::new(limit),
            unread: VecDeque::new(),
        }
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
