//! Divides a stream into events: [server-sent
//! events](https://html.spec.whatwg.org/multipage/server-sent-events.html), or one JSON value per line.

use std::collections::VecDeque;
use std::mem::take;

use crate::LlmError;
use crate::wire::{Framing, unreadable};

/// An event of a stream.
pub(super) struct Event {
    /// The event type. Empty if there is none.
    pub(super) name: String,
    pub(super) data: String,
    /// Whether this is the whole body, from a server or proxy that doesn't support streaming.
    pub(super) is_whole: bool,
}

/// Reads events from bytes, which may be split anywhere.
pub(super) struct Events {
    framing: Framing,
    /// `None` until something other than white space has arrived.
    is_whole: Option<bool>,
    /// The maximum size of a line, and of the data of an event, in bytes.
    limit: usize,
    line: Vec<u8>,
    name: String,
    /// The data lines so far, joined by line breaks.
    data: String,
    complete: VecDeque<Event>,
}

impl Events {
    pub(super) fn new(framing: Framing, limit: usize) -> Self {
        Self {
            framing,
            is_whole: None,
            limit,
            line: Vec::new(),
            name: String::new(),
            data: String::new(),
            complete: VecDeque::new(),
        }
    }

    /// Returns the next of the events that have ended.
    pub(super) fn next(&mut self) -> Option<Event> {
        self.complete.pop_front()
    }

    pub(super) fn feed(&mut self, bytes: &[u8]) -> Result<(), LlmError> {
        let is_whole = self.is_whole(bytes);
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            // Checked before it is kept, because a line may never end.
            self.check(self.line.len() + piece.len())?;
            self.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") && !is_whole {
                self.end_line()?;
            }
        }

        Ok(())
    }

    /// Returns whether the body is one JSON value or a page rather than a stream.
    fn is_whole(&mut self, bytes: &[u8]) -> bool {
        if self.is_whole.is_none() {
            // Proxies answer with a page, and some servers with the whole reply, whatever was asked
            // for.
            let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
            self.is_whole = first.map(|byte| match self.framing {
                Framing::Events => matches!(byte, b'<' | b'{' | b'['),
                Framing::Lines => *byte == b'<',
            });
        }

        self.is_whole == Some(true)
    }

    /// Ends the last event. The specification discards an event that the end of the stream truncates,
    /// but some servers omit the last empty line. Truncated data is detected when it is parsed.
    pub(super) fn finish(&mut self) -> Result<(), LlmError> {
        self.end_line()?;
        self.end_event();
        Ok(())
    }

    fn check(&self, bytes: usize) -> Result<(), LlmError> {
        let limit = self.limit;
        if bytes > limit {
            let message = format!("an event of the stream is over the limit of {limit} bytes");
            return Err(unreadable(message));
        }

        Ok(())
    }

    fn end_line(&mut self) -> Result<(), LlmError> {
        let line = take(&mut self.line);
        // Only whole lines are decoded, since a chunk may end within a character.
        let line = String::from_utf8_lossy(&line);
        // The specification allows a byte order mark at the beginning.
        let line = line.trim_start_matches('\u{feff}').trim_end_matches('\n');
        let line = line.strip_suffix('\r').unwrap_or(line);

        match self.framing {
            _ if self.is_whole == Some(true) => self.data.push_str(line),
            // A line may also end with a carriage return alone, though hardly any server does that.
            Framing::Events => line.split('\r').try_for_each(|line| self.field(line))?,
            Framing::Lines => {
                self.data.push_str(line.trim());
                self.end_event();
            }
        }
        Ok(())
    }

    /// Reads a field, or the empty line after an event. A comment is a field without a name, and unknown
    /// fields are ignored.
    fn field(&mut self, line: &str) -> Result<(), LlmError> {
        if line.is_empty() {
            self.end_event();
            return Ok(());
        }

        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        // The specification removes one space; further ones belong to the text.
        let value = value.strip_prefix(' ').unwrap_or(value);

        match field {
            "event" => value.clone_into(&mut self.name),
            "data" => {
                self.check(self.data.len() + value.len())?;
                if !self.data.is_empty() {
                    self.data.push('\n');
                }
                self.data.push_str(value);
            }
            _ => {}
        }
        Ok(())
    }

    fn end_event(&mut self) {
        let name = take(&mut self.name);
        let data = take(&mut self.data);
        if !data.is_empty() {
            let is_whole = self.is_whole == Some(true);
            self.complete.push_back(Event {
                name,
                data,
                is_whole,
            });
        }
    }
}
