use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::stream;
use reqwest::Response;

use super::call_ids::CallIds;
use super::exchange::{Exchange, Origin};
use super::protocol::{Chat, Framing, Reader};
use super::sse::{Event, Events, Lines, TooLong};
use crate::{ChatResponse, Delta, LlmError, LlmErrorKind, ReplyStream};

/// The maximum size of a line or an event in bytes. An event usually contains a few words of the
/// reply.
const EVENT_BYTES: usize = 1024 * 1024;

/// Returns the reply in a response with a success status.
pub(super) fn reply(
    chat: &'static Chat,
    exchange: Arc<Exchange>,
    response: Response,
    ids: CallIds,
) -> ReplyStream {
    let limit = exchange.max_response_bytes.min(EVENT_BYTES);
    let reading = Reading {
        chat,
        origin: Origin::of(&response, exchange.secrets()),
        exchange,
        response: Some(response),
        limit,
        frames: Frames::new(chat.framing, limit),
        body: Body::Unknown,
        reader: (chat.reader)(),
        deltas: VecDeque::new(),
        taken: 0,
        ids,
    };

    ReplyStream::new(stream::unfold(reading, |mut reading| async move {
        let delta = reading.next().await?;
        Some((delta, reading))
    }))
}

/// The form of the response body.
enum Body {
    /// Nothing but white space has arrived yet.
    Unknown,
    Events,
    /// One JSON value or a page, from servers and proxies that don't support streaming.
    Whole(Vec<u8>),
}

struct Reading {
    chat: &'static Chat,
    exchange: Arc<Exchange>,
    origin: Origin,
    /// `None` once the connection has ended.
    response: Option<Response>,
    /// The maximum size of a line or an event in bytes.
    limit: usize,
    frames: Frames,
    body: Body,
    reader: Box<dyn Reader>,
    deltas: VecDeque<Delta>,
    /// The size of the reply so far, in bytes.
    taken: usize,
    ids: CallIds,
}

impl Reading {
    async fn next(&mut self) -> Option<Result<Delta, LlmError>> {
        loop {
            if let Some(delta) = self.deltas.pop_front() {
                return Some(self.checked(delta));
            }

            if let Err(error) = self.advance().await {
                return Some(Err(error));
            }
        }
    }

    /// Reads the next event, or the next chunk, or the end.
    async fn advance(&mut self) -> Result<(), LlmError> {
        if let Some(event) = self.frames.unread.pop_front() {
            return self.read(&event);
        }

        let Some(response) = &mut self.response else {
            return self.end_without_mark();
        };

        match response.chunk().await {
            Ok(Some(bytes)) => self.feed(&bytes),
            Ok(None) => self.finish(),
            Err(error) => Err(self.origin.sign(self.exchange.broken_off(error))),
        }
    }

    fn read(&mut self, event: &Event) -> Result<(), LlmError> {
        let secrets = self.exchange.secrets();
        let deltas = self.reader.read(event, secrets).map_err(|error| {
            // An event that the end of the connection truncated. The reply is incomplete rather than
            // invalid.
            let is_cut = self.response.is_none() && error.kind() == LlmErrorKind::Decode;
            let error = if is_cut { interrupted() } else { error };
            let body = secrets.body(event.data.as_bytes());
            self.origin.sign(error).with_body(body)
        })?;

        self.deltas.extend(deltas);
        self.within_bounds(self.reader.held())
    }

    fn end_without_mark(&mut self) -> Result<(), LlmError> {
        let deltas = self
            .reader
            .end_without_mark(self.exchange.secrets())
            .and_then(|deltas| deltas.ok_or_else(interrupted))
            .map_err(|error| self.origin.sign(error))?;

        self.deltas.extend(deltas);
        Ok(())
    }

    fn within_bounds(&self, more: usize) -> Result<(), LlmError> {
        let bytes = self.taken.saturating_add(more);
        if bytes > self.exchange.max_response_bytes {
            Err(self.too_large())
        } else {
            Ok(())
        }
    }

    fn feed(&mut self, bytes: &[u8]) -> Result<(), LlmError> {
        if let Body::Unknown = self.body {
            self.body = match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
                None => return Ok(()),
                Some(b'<') => Body::Whole(Vec::new()),
                Some(b'{' | b'[') if matches!(self.chat.framing, Framing::Events) => {
                    Body::Whole(Vec::new())
                }
                Some(_) => Body::Events,
            };
        }

        let Body::Whole(whole) = &mut self.body else {
            return self
                .frames
                .feed(bytes)
                .map_err(|error| self.too_long(error));
        };

        whole.extend_from_slice(bytes);
        if whole.len() > self.exchange.max_response_bytes {
            return Err(self.too_large());
        }

        Ok(())
    }

    /// Handles the clean end of the connection.
    fn finish(&mut self) -> Result<(), LlmError> {
        self.response = None;
        let Body::Whole(whole) = &self.body else {
            return self.frames.finish().map_err(|error| self.too_long(error));
        };

        let secrets = self.exchange.secrets();
        let response = (self.chat.decode)(whole, secrets)
            .map_err(|error| self.origin.sign(error).with_body(secrets.body(whole)))?;

        self.deltas.extend(Delta::all_of(response));
        Ok(())
    }

    /// Returns the delta if the reply is still within its limits.
    fn checked(&mut self, delta: Delta) -> Result<Delta, LlmError> {
        if let Delta::End(response) = delta {
            return Ok(Delta::End(self.ended(response)));
        }

        self.within_bounds(delta.bytes())?;
        self.taken += delta.bytes();

        let Delta::ToolCall(call) = delta else {
            return Ok(delta);
        };

        let call = self.ids.admit(call);
        call.map(Delta::ToolCall)
            .map_err(|error| self.origin.sign(error))
    }

    fn ended(&mut self, response: ChatResponse) -> ChatResponse {
        // Nothing is read after the end marker, not even the end of the connection.
        self.response = None;

        let response = self.ids.end(response);
        match self.origin.request_id.take() {
            Some(id) => response.with_request_id(id),
            None => response,
        }
    }

    fn too_large(&self) -> LlmError {
        self.origin.sign(self.exchange.too_large())
    }

    fn too_long(&self, TooLong: TooLong) -> LlmError {
        let message = format!(
            "an event of the stream is over the limit of {} bytes",
            self.limit
        );
        self.origin
            .sign(LlmError::new(LlmErrorKind::Decode, message))
    }
}

/// Assembles bytes into events.
struct Frames {
    framing: Framing,
    lines: Lines,
    events: Events,
    unread: VecDeque<Event>,
}

impl Frames {
    fn new(framing: Framing, limit: usize) -> Self {
        Self {
            framing,
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
