//! Reads a record that is being written, line by line, from any place.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

use cogwork_trace::{RecordError, RecordReader};
use serde_json::value::RawValue;

use super::place::RecordFile;

/// The maximum length of a line of a record, in bytes. Longer lines are skipped.
const MAX_LINE: usize = 16 << 20;

/// How much is read at once.
const PART: usize = 256 * 1024;

/// How much is read at once of a line that is too long.
const SKIPPED: usize = 4 << 20;

/// A reader at a place of a record. Its methods block.
#[derive(Debug)]
pub(crate) struct Tail {
    file: RecordFile,
    open: Option<File>,
    /// Where the next line begins.
    at: u64,
    /// Whether the header was checked.
    has_header: bool,
    /// Whether the rest of a line that is too long is being skipped.
    is_skipping: bool,
}

/// A complete line.
#[derive(Debug)]
pub(crate) enum Line {
    /// JSON in one line.
    Json {
        text: String,
        /// Where the next line begins.
        end: u64,
    },
    /// A line that cannot be used.
    Damaged { problem: &'static str, end: u64 },
}

/// Complete lines.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) lines: Vec<Line>,
    /// Whether nothing more is written yet.
    pub(crate) is_end: bool,
}

impl Default for Batch {
    fn default() -> Self {
        Self {
            lines: Vec::new(),
            is_end: true,
        }
    }
}

/// Why a record isn't read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TailError {
    #[error("the record cannot be read: {0}")]
    Io(#[from] io::Error),
    #[error("{0}")]
    Record(#[from] RecordError),
    #[error("the record was replaced while it was read")]
    Replaced,
}

impl Tail {
    /// Creates a reader. A place that isn't the beginning of a line is an error of the first read.
    pub(crate) fn new(file: RecordFile, at: u64) -> Self {
        Self {
            file,
            open: None,
            at,
            has_header: false,
            is_skipping: false,
        }
    }

    /// Closes the file until the next read.
    pub(crate) fn closed(self) -> Self {
        Self { open: None, ..self }
    }

    /// Returns where the next line begins.
    pub(crate) fn at(&self) -> u64 {
        self.at
    }

    /// Returns the next complete lines, of at most one part of the record. There are none if the file
    /// doesn't exist yet.
    pub(crate) fn read(&mut self) -> Result<Batch, TailError> {
        if !self.is_open()? {
            return Ok(Batch::default());
        }

        let mut part = if self.is_skipping { SKIPPED } else { PART };
        loop {
            let text = self.read_part(part)?;
            let lines = self.take_lines(&text);
            let is_end = text.len() < part;
            if !lines.is_empty() || is_end {
                return Ok(Batch { lines, is_end });
            }

            if part >= MAX_LINE || self.is_skipping {
                self.is_skipping = true;
                self.at += text.len() as u64;
                return Ok(Batch { lines, is_end });
            }
            part = (part * 2).min(MAX_LINE.max(PART));
        }
    }

    fn is_open(&mut self) -> Result<bool, TailError> {
        if let Some(file) = &self.open {
            let is_shorter = file.metadata()?.len() < self.at;
            if is_shorter || !self.file.is(file) {
                return Err(TailError::Replaced);
            }
            return Ok(true);
        }

        let Some(file) = self.file.open()? else {
            return Ok(false);
        };
        if !self.has_header {
            if !is_complete_header(&file)? {
                return Ok(false);
            }

            // Checks the version.
            RecordReader::new(BufReader::new(&file))?;
            self.has_header = true;
        }
        if !self.is_at_a_line(&file)? {
            return Err(TailError::Replaced);
        }
        self.open = Some(file);
        Ok(true)
    }

    fn is_at_a_line(&self, mut file: &File) -> io::Result<bool> {
        if self.is_skipping {
            return Ok(true);
        }
        let Some(before) = self.at.checked_sub(1) else {
            return Ok(true);
        };

        let mut byte = [0];
        file.seek(SeekFrom::Start(before))?;
        Ok(file.read(&mut byte)? == 1 && byte == *b"\n")
    }

    fn read_part(&mut self, bytes: usize) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        if let Some(file) = &mut self.open {
            file.seek(SeekFrom::Start(self.at))?;
            file.take(bytes as u64).read_to_end(&mut text)?;
        }
        Ok(text)
    }

    /// Moves behind the complete lines at the beginning of a text.
    fn take_lines(&mut self, text: &[u8]) -> Vec<Line> {
        let mut lines = Vec::new();
        let mut rest = text;

        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (line, after) = rest.split_at(end);
            rest = after.get(1..).unwrap_or_default();
            self.at += line.len() as u64 + 1;

            if std::mem::take(&mut self.is_skipping) || line.len() > MAX_LINE {
                lines.push(self.damaged("it is too long"));
            } else if !line.trim_ascii().is_empty() {
                lines.push(self.line(line));
            }
        }
        lines
    }

    fn line(&self, line: &[u8]) -> Line {
        let Ok(text) = str::from_utf8(line) else {
            return self.damaged("it isn't UTF-8");
        };
        // Events of a stream are single lines, and a lone carriage return ends one, too.
        let text = text.replace('\r', " ");
        if serde_json::from_str::<&RawValue>(&text).is_err() {
            return self.damaged("it isn't JSON");
        }

        let end = self.at;
        Line::Json { text, end }
    }

    fn damaged(&self, problem: &'static str) -> Line {
        let end = self.at;
        Line::Damaged { problem, end }
    }
}

/// Returns whether the first line is written completely, or is longer than any header.
fn is_complete_header(mut file: &File) -> io::Result<bool> {
    let mut start = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    let mut reader = BufReader::new(file.take(MAX_LINE as u64));
    let read = reader.read_until(b'\n', &mut start)?;
    file.seek(SeekFrom::Start(0))?;

    Ok(read == MAX_LINE || start.ends_with(b"\n"))
}
