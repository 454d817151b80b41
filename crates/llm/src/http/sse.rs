//! Bytes in, events out: [server-sent events](https://html.spec.whatwg.org/multipage/server-sent-events.html),
//! and the lines they are made of. Pure, and right wherever the bytes are cut: a line is decoded
//! once it is whole, so no character is ever split.

/// One event of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    /// The kind of the event; empty if it has none.
    pub(crate) name: String,
    /// Its lines of data, joined by line ends.
    pub(crate) data: String,
}

/// A line or an event is longer than the limit.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

/// Cuts bytes into lines that end in LF, CR or both.
pub(crate) struct Lines {
    line: Vec<u8>,
    /// The last byte was a CR that ended a line, so an LF now belongs to it.
    after_cr: bool,
    /// No line has ended yet; the first may begin with a byte order mark.
    at_start: bool,
    limit: usize,
}

impl Lines {
    /// Takes lines of at most `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            line: Vec::new(),
            after_cr: false,
            at_start: true,
            limit,
        }
    }

    /// Gives every line that ends in `bytes` to `take`, and keeps the rest.
    pub(crate) fn feed(
        &mut self,
        mut bytes: &[u8],
        mut take: impl FnMut(&str) -> Result<(), TooLong>,
    ) -> Result<(), TooLong> {
        while let Some(first) = bytes.first() {
            if std::mem::take(&mut self.after_cr) && *first == b'\n' {
                bytes = bytes.get(1..).unwrap_or_default();
                continue;
            }

            let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let (part, rest) = bytes
                .split_at_checked(end.unwrap_or(bytes.len()))
                .unwrap_or_default();
            if self.line.len() + part.len() > self.limit {
                return Err(TooLong);
            }

            self.line.extend_from_slice(part);
            let Some((mark, rest)) = rest.split_first() else {
                break;
            };

            self.after_cr = *mark == b'\r';
            bytes = rest;
            self.end_line(&mut take)?;
        }

        Ok(())
    }

    /// Gives the line that the end of the stream cut off, if there is one.
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

/// Makes events of lines.
pub(crate) struct Events {
    name: String,
    /// Each line of data with a line end after it. Empty: none came.
    data: String,
    limit: usize,
}

impl Events {
    /// Takes events of at most `limit` bytes of data.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            name: String::new(),
            data: String::new(),
            limit,
        }
    }

    /// Reads one line; the event that it ends, if it ends one with data.
    pub(crate) fn line(&mut self, line: &str) -> Result<Option<Event>, TooLong> {
        if line.is_empty() {
            return Ok(self.end());
        }

        // A comment is a field without a name, and unknown fields are passed over.
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

    /// The event so far. The specification drops one that the stream's end cut off; some servers
    /// leave the last empty line out, and whether the data is whole shows when it is read.
    pub(crate) fn end(&mut self) -> Option<Event> {
        let name = std::mem::take(&mut self.name);
        let mut data = std::mem::take(&mut self.data);
        data.pop().map(|_| Event { name, data })
    }
}
