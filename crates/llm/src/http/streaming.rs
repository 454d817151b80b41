use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::stream;
use reqwest::Response;

use super::call_ids::CallIds;
use super::exchange::{Exchange, Origin};
use super::protocol::{Framing, Protocol, Reader};
use super::sse::{Event, Events, Lines, TooLong};
use crate::{Delta, LlmError, LlmErrorKind, ReplyStream};

/// The maximum size of a line or an event in bytes. An event usually contains a few words of the
/// reply.
const EVENT_BYTES: usize = 1024 * 1024;

/// Returns the reply in a response with a success status.
pub(super) fn reply(
    protocol: &'static Protocol,
    exchange: Arc<Exchange>,
    response: Response,
    ids: CallIds,
) -> ReplyStream {
    let limit = exchange.max_response_bytes.min(EVENT_BYTES);
    let reading = Reading {
        protocol,
        origin: Origin::of(&response, exchange.secrets()),
        exchange,
        response: Some(response),
        limit,
        lines: Lines::new(limit),
        events: Events::new(limit),
        body: Body::Unknown,
        reader: (protocol.reader)(),
        unread: VecDeque::new(),
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
    protocol: &'static Protocol,
    exchange: Arc<Exchange>,
    origin: Origin,
    /// `None` once the connection has ended.
    response: Option<Response>,
    /// The maximum size of a line or an event in bytes.
    limit: usize,
    lines: Lines,
    events: Events,
    body: Body,
    reader: Box<dyn Reader>,
    unread: VecDeque<Event>,
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

            let done = if let Some(event) = self.unread.pop_front() {
                self.read(&event)
            } else if let Some(response) = &mut self.response {
                match response.chunk().await {
                    Ok(Some(bytes)) => self.feed(&bytes),
                    Ok(None) => self.finish(),
                    Err(error) => Err(self.origin.sign(self.exchange.broken_off(error))),
                }
            } else {
                let ended = self
                    .reader
                    .end_without_mark(self.exchange.secrets(), &mut self.deltas);
                let ended =
                    ended.and_then(|is_whole| if is_whole { Ok(()) } else { Err(interrupted()) });
                ended.map_err(|error| self.origin.sign(error))
            };

            if let Err(error) = done {
                return Some(Err(error));
            }
        }
    }

    fn read(&mut self, event: &Event) -> Result<(), LlmError> {
        let secrets = self.exchange.secrets();
        self.reader
            .read(event, secrets, &mut self.deltas)
            .map_err(|error| {
                // An event that the end of the connection truncated. The reply is incomplete rather
                // than invalid.
                let is_cut = self.response.is_none() && error.kind() == LlmErrorKind::Decode;
                let error = if is_cut { interrupted() } else { error };
                self.origin
                    .sign(error)
                    .with_body(secrets.body(event.data.as_bytes()))
            })?;

        self.within_bounds(self.reader.held())
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
                Some(b'{' | b'[') if matches!(self.protocol.framing, Framing::Events) => {
                    Body::Whole(Vec::new())
                }
                Some(_) => Body::Events,
            };
        }

        if let Body::Whole(whole) = &mut self.body {
            whole.extend_from_slice(bytes);
            return if whole.len() > self.exchange.max_response_bytes {
                Err(self.too_large())
            } else {
                Ok(())
            };
        }

        let Self {
            protocol,
            lines,
            events,
            unread,
            ..
        } = self;

        let fed = lines.feed(bytes, |line| framed(protocol.framing, events, line, unread));
        fed.map_err(|TooLong| self.too_long())
    }

    /// Handles the clean end of the connection.
    fn finish(&mut self) -> Result<(), LlmError> {
        self.response = None;
        if let Body::Whole(whole) = &self.body {
            let secrets = self.exchange.secrets();
            let response = (self.protocol.decode)(whole, secrets)
                .map_err(|error| self.origin.sign(error).with_body(secrets.body(whole)))?;
            self.deltas.extend(response.into_deltas());
            return Ok(());
        }

        let Self {
            protocol,
            lines,
            events,
            unread,
            ..
        } = self;

        let fed = lines.finish(|line| framed(protocol.framing, events, line, unread));
        fed.map_err(|TooLong| self.too_long())?;
        self.unread.extend(self.events.end());

        Ok(())
    }

    /// Returns the delta if the reply is still within its limits.
    fn checked(&mut self, delta: Delta) -> Result<Delta, LlmError> {
        match delta {
            Delta::End(response) => {
                // Nothing is read after the end marker, not even the end of the connection.
                self.response = None;
                let response = self.ids.end(response);
                Ok(Delta::End(match self.origin.request_id.take() {
                    Some(id) => response.with_request_id(id),
                    None => response,
                }))
            }
            more => {
                self.within_bounds(more.bytes())?;
                self.taken += more.bytes();
                match more {
                    Delta::ToolCall(call) => {
                        let call = self
                            .ids
                            .admit(call)
                            .map_err(|error| self.origin.sign(error))?;
                        Ok(Delta::ToolCall(call))
                    }
                    more => Ok(more),
                }
            }
        }
    }

    fn too_large(&self) -> LlmError {
        self.origin.sign(self.exchange.too_large())
    }

    fn too_long(&self) -> LlmError {
        let message = format!(
            "an event of the stream is over the limit of {} bytes",
            self.limit
        );
        self.origin
            .sign(LlmError::new(LlmErrorKind::Decode, message))
    }
}

/// Assembles one line into an event.
fn framed(
    framing: Framing,
    events: &mut Events,
    line: &str,
    unread: &mut VecDeque<Event>,
) -> Result<(), TooLong> {
    match framing {
        Framing::Events => unread.extend(events.line(line)?),
        Framing::Lines if line.trim().is_empty() => {}
        Framing::Lines => unread.push_back(Event {
            name: String::new(),
            data: line.to_owned(),
        }),
    }

    Ok(())
}

fn interrupted() -> LlmError {
    let message = "the reply broke off: the stream ended without its end marker";
    LlmError::new(LlmErrorKind::InterruptedStream, message)
}
