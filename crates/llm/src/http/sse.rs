//! An incremental parser for lines and [server-sent
//! events](https://html.spec.whatwg.org/multipage/server-sent-events.html). A line is decoded once
//! it is complete, so the input may be split anywhere, even within a character.

/// A server-sent event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    /// The event type. Empty if there is none.
    pub(crate) name: String,
    /// The data lines, joined by line breaks.
    pub(crate) data: String,
}

/// The error for a line or an event that exceeds the limit.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

/// Splits bytes into lines that end in LF, CR or CRLF.
pub(crate) struct Lines {
    line: Vec<u8>,
    /// The last byte was a CR that ended a line, so a following LF belongs to it.
    after_cr: bool,
    /// No line has ended yet. The first line may begin with a byte order mark.
    at_start: bool,
    limit: usize,
}

impl Lines {
    /// Creates a splitter for lines of at most `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            line: Vec::new(),
            after_cr: false,
            at_start: true,
            limit,
        }
    }

    /// Calls `take` with every line that ends in `bytes`, and buffers the rest.
    pub(crate) fn feed(
        &mut self,
        bytes: &[u8],
        mut take: impl FnMut(&str) -> Result<(), TooLong>,
    ) -> Result<(), TooLong> {
        for piece in bytes.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            let (line, end) = match piece.split_last() {
                Some((end @ (b'\n' | b'\r'), line)) => (line, Some(*end)),
                _ => (piece, None),
            };

            let is_rest_of_crlf = line.is_empty() && end == Some(b'\n');
            if std::mem::take(&mut self.after_cr) && is_rest_of_crlf {
                continue;
            }
            if self.line.len() + line.len() > self.limit {
                return Err(TooLong);
            }

            self.line.extend_from_slice(line);
            if let Some(end) = end {
                self.after_cr = end == b'\r';
                self.end_line(&mut take)?;
            }
        }

        Ok(())
    }

    /// Calls `take` with the last line if it has no line break.
    pub(crate) fn finish(
        &mut self,
        mut take: impl FnMut(&str) -> Result<(), TooLong>,
    ) -> Result<(), TooLong> {
        if self.line.is_empty() {
            Ok(())
        } else {
            self.end_line(&mut take)
        }
    }

    fn end_line(
        &mut self,
        take: &mut impl FnMut(&str) -> Result<(), TooLong>,
    ) -> Result<(), TooLong> {
        let line = String::from_utf8_lossy(&self.line);
        let line = if self.at_start {
            line.strip_prefix('\u{feff}').unwrap_or(&line)
        } else {
            &line
        };

        let taken = take(line);
        self.at_start = false;
        self.line.clear();

        taken
    }
}

/// Assembles events from lines.
pub(crate) struct Events {
    name: String,
    /// The data lines, each followed by a line break. Empty if there were none.
    data: String,
    limit: usize,
}

impl Events {
    /// Creates an assembler for events with at most `limit` bytes of data.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            name: String::new(),
            data: String::new(),
            limit,
        }
    }

    /// Reads one line. Returns the event if the line ends one that has data.
    pub(crate) fn line(&mut self, line: &str) -> Result<Option<Event>, TooLong> {
        if line.is_empty() {
            return Ok(self.end());
        }

        // A comment is a field without a name, and unknown fields are ignored.
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.name),
            "data" if self.data.len() + value.len() > self.limit => return Err(TooLong),
            "data" => {
                self.data.push_str(value);
                self.data.push('\n');
            }
            _ => {}
        }

        Ok(None)
    }

    /// Returns the event so far. The specification discards an event that the end of the stream
    /// truncates, but some servers omit the last empty line. Truncated data is detected when it is
    /// parsed.
    pub(crate) fn end(&mut self) -> Option<Event> {
        let name = std::mem::take(&mut self.name);
        let mut data = std::mem::take(&mut self.data);
        data.pop().map(|_| Event { name, data })
    }
}
