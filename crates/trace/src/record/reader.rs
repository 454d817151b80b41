use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use cogwork_text::files::{Access, Folder};
use serde::Deserialize;

use super::error::{RecordError, RecordErrorKind};
use super::event::RecordedEvent;
use super::header::{FORMAT, Header};

/// Reads a record line by line. Only one line is in memory at a time, of at most 16 MiB.
///
/// It is an iterator over the events. An [error of one line](RecordError::is_of_line) doesn't end
/// it. A last line without an end, as a crash leaves it, is dropped; see [`torn`](Self::torn).
/// Empty lines are ignored, and so are unknown fields.
///
/// ```
/// use cogwork_trace::RecordReader;
///
/// let record = "\
/// {\"cogwork_record\":1,\"run\":\"order-17\",\"flow\":\"shop\",\"started\":1763875000.5}
/// {\"at\":0.0,\"type\":\"run_started\"}
/// {\"at\":0.1,\"type\":\"step_ente";
///
/// let mut reader = RecordReader::new(record.as_bytes())?;
/// assert_eq!(reader.header().run, "order-17");
///
/// let names: Vec<_> = reader.by_ref().flatten().map(|event| event.name).collect();
/// assert_eq!(names, ["run_started"]);
/// assert_eq!(reader.torn(), Some(27));
/// # Ok::<(), cogwork_trace::RecordError>(())
/// ```
#[derive(Debug)]
pub struct RecordReader<R> {
    lines: Lines<R>,
    header: Header,
    is_done: bool,
}

impl RecordReader<BufReader<File>> {
    /// Opens the record in a file. Links and named pipes are refused.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be opened, or if it doesn't begin with the header of a
    /// record.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, RecordError> {
        let file = open(path.as_ref());
        let file = file.map_err(|error| RecordError::new(1, RecordErrorKind::Io(error)))?;

        Self::new(BufReader::new(file))
    }
}

fn open(path: &Path) -> io::Result<File> {
    let (folder, name) = Folder::of_file(path)?;
    Ok(folder.open_file(name, Access::Read)?)
}

impl<R: BufRead> RecordReader<R> {
    /// Reads the header.
    ///
    /// # Errors
    ///
    /// Returns an error if the source doesn't begin with the header of a record, or if the record
    /// is of a newer version.
    pub fn new(source: R) -> Result<Self, RecordError> {
        let mut lines = Lines {
            source,
            line: Vec::new(),
            number: 0,
            bytes: 0,
            torn: None,
        };

        let header = if lines.advance()? {
            read_header(&lines.line)
        } else if lines.torn.is_some() {
            Err(not_a_record("the line is incomplete"))
        } else {
            Err(not_a_record("the record is empty"))
        };

        Ok(Self {
            header: header.map_err(|kind| RecordError::new(1, kind))?,
            lines,
            is_done: false,
        })
    }

    /// Returns the header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns the number of the line that was read last, from 1.
    pub fn line(&self) -> u64 {
        self.lines.number
    }

    /// Returns the JSON of the line that was read last.
    pub fn json(&self) -> &[u8] {
        &self.lines.line
    }

    /// Returns the number of bytes of complete lines that were read so far.
    pub fn bytes(&self) -> u64 {
        self.lines.bytes
    }

    /// Returns the number of bytes of an incomplete last line, which was dropped. `None` before the
    /// end, or if the last line is complete.
    pub fn torn(&self) -> Option<u64> {
        self.lines.torn
    }

    fn read_event(&mut self) -> Result<Option<RecordedEvent>, RecordError> {
        while self.lines.advance()? {
            let line = &self.lines.line;
            if line.trim_ascii().is_empty() {
                continue;
            }

            let event = RecordedEvent::from_json(line);
            return event.map(Some).map_err(|error| {
                let reason = reason_of(&error);
                self.lines.error(RecordErrorKind::Damaged { reason })
            });
        }

        Ok(None)
    }
}

impl<R: BufRead> Iterator for RecordReader<R> {
    type Item = Result<RecordedEvent, RecordError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_done {
            return None;
        }

        let event = self.read_event();
        self.is_done = match &event {
            Ok(event) => event.is_none(),
            Err(error) => !error.is_of_line(),
        };

        event.transpose()
    }
}

/// The part of a header that every version has.
#[derive(Deserialize)]
struct Version {
    cogwork_record: u64,
}

fn read_header(line: &[u8]) -> Result<Header, RecordErrorKind> {
    let version: Version = serde_json::from_slice(line).map_err(unreadable)?;
    let format = version.cogwork_record;

    if format > u64::from(FORMAT) {
        return Err(RecordErrorKind::Newer { format });
    }
    if format == 0 {
        return Err(not_a_record("there is no format 0"));
    }

    serde_json::from_slice(line).map_err(unreadable)
}

fn unreadable(error: serde_json::Error) -> RecordErrorKind {
    not_a_record(&reason_of(&error))
}

fn not_a_record(reason: &str) -> RecordErrorKind {
    RecordErrorKind::NotARecord {
        reason: reason.to_owned(),
    }
}

/// Returns the reason without the number of the line, which is always 1 inside a line.
fn reason_of(error: &serde_json::Error) -> String {
    error.to_string().replace(" at line 1 column", " at column")
}

/// The maximum number of bytes of a line.
pub(crate) const MAX_LINE: usize = 16 * 1024 * 1024;

/// Reads complete lines, within limits.
#[derive(Debug)]
struct Lines<R> {
    source: R,
    line: Vec<u8>,
    /// The number of the current line.
    number: u64,
    /// The number of bytes of the complete lines so far.
    bytes: u64,
    torn: Option<u64>,
}

/// What a part of the source is.
struct Piece {
    bytes: usize,
    ends_line: bool,
}

impl<R: BufRead> Lines<R> {
    /// Reads the next line, without its end. Returns `false` at the end of the source, and for a
    /// line without an end.
    fn advance(&mut self) -> Result<bool, RecordError> {
        self.line.clear();
        self.number += 1;

        let mut length = 0_u64;
        loop {
            let piece = self.read_piece(length)?;
            length = length.saturating_add(piece.bytes as u64);

            if piece.bytes == 0 {
                self.torn = Some(length).filter(|length| *length > 0);
                self.line.clear();
                return Ok(false);
            }
            if piece.ends_line {
                break;
            }
        }

        self.bytes = self.bytes.saturating_add(length);
        let is_long = length > MAX_LINE as u64 + 1;
        if is_long {
            return Err(self.error(RecordErrorKind::LongLine { max: MAX_LINE }));
        }

        Ok(true)
    }

    /// Reads what is in the buffer, up to the end of the line. Of a line that is too long, nothing
    /// more is kept.
    fn read_piece(&mut self, length: u64) -> Result<Piece, RecordError> {
        let available = loop {
            match self.source.fill_buf() {
                Ok(available) => break available,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    return Err(RecordError::new(self.number, RecordErrorKind::Io(error)));
                }
            }
        };

        let end = memchr::memchr(b'\n', available);
        let kept = available.get(..end.unwrap_or(available.len()));
        let kept = kept.unwrap_or_default();
        let fits = length.saturating_add(kept.len() as u64) <= MAX_LINE as u64;

        if fits {
            self.line.extend_from_slice(kept);
        }

        let bytes = kept.len() + usize::from(end.is_some());
        self.source.consume(bytes);

        Ok(Piece {
            bytes,
            ends_line: end.is_some(),
        })
    }

    fn error(&self, kind: RecordErrorKind) -> RecordError {
        RecordError::new(self.number, kind)
    }
}
