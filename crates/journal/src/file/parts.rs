//! The lines of a file, which share the large parts in which it is read.

use std::fs::File;
use std::io;
use std::ops::Range;

use memchr::memchr;

use super::ahead::Ahead;
use super::part::Part;
use super::reader::Reader;
use crate::line::Text;

pub(super) struct Parts<'a> {
    file: &'a File,
    source: Source<'a>,
    max_line: usize,
    part: Part,
    /// The current line in the part, without its newline.
    line: Range<usize>,
    /// The start of the next line in the part.
    next: usize,
}

/// Where the parts come from.
enum Source<'a> {
    Here(Reader<'a>),
    Ahead(Ahead),
}

/// The line that was found.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    Complete,
    /// The line has no newline, because the file ends there.
    Incomplete,
    /// Only the beginning of the line was read.
    TooLong,
}

impl<'a> Parts<'a> {
    pub(super) fn of(file: &'a File, max_line: usize) -> Self {
        Self {
            file,
            source: Source::Here(Reader::of(file, max_line)),
            max_line,
            part: Part::EMPTY,
            line: 0..0,
            next: 0,
        }
    }

    /// Returns the current line.
    pub(super) fn line(&self) -> Text<'_> {
        match &self.part {
            Part::Text(text) => Text::In(text, &self.line),
            Part::Bytes(bytes) => Text::Bytes(bytes.get(self.line.clone()).unwrap_or_default()),
        }
    }

    /// Goes to the next line.
    pub(super) fn advance(&mut self) -> io::Result<Found> {
        if self.next == self.part.bytes().len() {
            self.part = self.next_part()?;
            self.next = 0;
        }

        let start = self.next;
        let rest = self.part.bytes().get(start..).unwrap_or_default();
        let newline = memchr(b'\n', rest);
        let length = newline.unwrap_or(rest.len());

        // One byte more than allowed shows that a line is too long.
        self.line = start..start + length.min(self.max_line.saturating_add(1));
        self.next = start + length + usize::from(newline.is_some());

        Ok(match newline {
            _ if length > self.max_line => Found::TooLong,
            Some(_) => Found::Complete,
            None => Found::Incomplete,
        })
    }

    fn next_part(&mut self) -> io::Result<Part> {
        if let Source::Here(reader) = &self.source
            && let Some(rest) = reader.long_rest()?
        {
            let file = self.file.try_clone()?;
            self.source = Source::Ahead(Ahead::start(file, rest, self.max_line)?);
        }

        match &mut self.source {
            Source::Here(reader) => reader.next_part(),
            Source::Ahead(ahead) => ahead.next_part(),
        }
    }
}
