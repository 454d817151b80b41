//! Reads a file in large parts of whole lines.

use std::borrow::Borrow;
use std::fs::File;
use std::io::{self, Read};
use std::mem;
use std::sync::Arc;

use memchr::memrchr;

/// The size of the first part, in bytes. The first line is mostly in it.
const FIRST: usize = 64 << 10;

/// The maximum size of the other parts, in bytes, unless a line is longer.
const SIZE: usize = 4 << 20;

/// Reads the parts of a file, in order.
pub(super) struct Reader<F> {
    file: F,
    max_line: usize,
    size: usize,
    /// The number of bytes that were read.
    read: u64,
    /// The start of a line whose end wasn't read.
    incomplete: Vec<u8>,
}

/// Whole lines, or the beginning of one that is incomplete or too long.
pub(super) enum Part {
    Text(Arc<String>),
    /// Bytes that aren't UTF-8.
    Bytes(Vec<u8>),
}

impl<F: Borrow<File>> Reader<F> {
    pub(super) fn of(file: F, max_line: usize) -> Self {
        Self {
            file,
            max_line,
            size: FIRST,
            read: 0,
            incomplete: Vec::new(),
        }
    }

    /// Returns a reader of the rest of the file, for another thread. Both share the position in the
    /// file.
    pub(super) fn rest(&mut self) -> io::Result<Reader<File>> {
        Ok(Reader {
            file: self.file.borrow().try_clone()?,
            max_line: self.max_line,
            size: self.size,
            read: self.read,
            incomplete: mem::take(&mut self.incomplete),
        })
    }

    /// Returns whether several more parts follow the first one, so that the next can be read while
    /// one is in use.
    pub(super) fn should_read_ahead(&self) -> io::Result<bool> {
        Ok(self.read > 0 && self.left()? > SIZE as u64)
    }

    /// Reads the next part. It is empty at the end of the file.
    pub(super) fn next_part(&mut self) -> io::Result<Part> {
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

        Ok(Part::of(bytes))
    }

    /// Reads up to the size of a part. Returns the number of bytes.
    fn read_to(&mut self, bytes: &mut Vec<u8>) -> io::Result<usize> {
        // Enough to find the end of the file, which may still grow.
        let left = usize::try_from(self.left()?).unwrap_or(usize::MAX);
        let size = left.saturating_add(1).min(self.size);
        self.size = SIZE;

        bytes.reserve_exact(size);
        let read = self.file.borrow().take(size as u64).read_to_end(bytes)?;
        self.read += read as u64;
        Ok(read)
    }

    /// Returns the number of bytes that weren't read yet.
    fn left(&self) -> io::Result<u64> {
        let length = self.file.borrow().metadata()?.len();
        Ok(length.saturating_sub(self.read))
    }
}

impl Part {
    pub(super) const EMPTY: Self = Self::Bytes(Vec::new());

    /// Lines that aren't all UTF-8 aren't shared, but read one by one.
    fn of(bytes: Vec<u8>) -> Self {
        match String::from_utf8(bytes) {
            Ok(text) => Self::Text(Arc::new(text)),
            Err(error) => Self::Bytes(error.into_bytes()),
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }
}
