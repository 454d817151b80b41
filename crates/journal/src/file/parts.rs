//! Reads a file in large parts, which its lines share.

use std::fs::File;
use std::io::{self, Read};
use std::mem;
use std::ops::Range;
use std::sync::Arc;

use memchr::{memchr, memrchr};

use crate::line::Text;

/// The size of the first part, in bytes. The first line is mostly in it.
const FIRST: usize = 64 << 10;

/// The maximum size of the other parts, in bytes, unless a line is longer.
const SIZE: usize = 16 << 20;

pub(super) struct Parts<'a> {
    file: &'a File,
    max_line: usize,
    size: usize,
    /// The number of bytes that were read.
    read: u64,
    part: Part,
    /// The current line in the part, without its newline.
    line: Range<usize>,
    /// The start of the next line in the part.
    next: usize,
    /// The start of a line whose end wasn't read.
    incomplete: Vec<u8>,
}

enum Part {
    Text(Arc<String>),
    /// Bytes that aren't UTF-8.
    Bytes(Vec<u8>),
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
            max_line,
            size: FIRST,
            read: 0,
            part: Part::Bytes(Vec::new()),
            line: 0..0,
            next: 0,
            incomplete: Vec::new(),
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
            self.next_part()?;
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

    /// Reads on. Afterwards, the part has whole lines, or the beginning of one that is incomplete
    /// or too long.
    fn next_part(&mut self) -> io::Result<()> {
        let mut bytes = mem::take(&mut self.incomplete);
        let mut searched = 0;
        while bytes.len() <= self.max_line {
            if self.read_to(&mut bytes)? == 0 {
                break;
            }

            let new = bytes.get(searched..).unwrap_or_default();
            if let Some(newline) = memrchr(b'\n', new) {
                self.incomplete = bytes.split_off(searched + newline + 1);
                break;
            }
            searched = bytes.len();
        }

        self.part = Part::of(bytes);
        self.next = 0;
        Ok(())
    }

    /// Reads up to the size of a part. Returns the number of bytes.
    fn read_to(&mut self, bytes: &mut Vec<u8>) -> io::Result<usize> {
        // Enough to find the end of the file, which may still grow.
        let left = self.file.metadata()?.len().saturating_sub(self.read);
        let left = usize::try_from(left).unwrap_or(usize::MAX);
        let size = left.saturating_add(1).min(self.size);
        self.size = SIZE;

        bytes.reserve_exact(size);
        let read = self.file.take(size as u64).read_to_end(bytes)?;
        self.read += read as u64;
        Ok(read)
    }
}

impl Part {
    /// Lines that aren't all UTF-8 aren't shared, but read one by one.
    fn of(bytes: Vec<u8>) -> Self {
        match String::from_utf8(bytes) {
            Ok(text) => Self::Text(Arc::new(text)),
            Err(error) => Self::Bytes(error.into_bytes()),
        }
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }
}
