//! Reads a file in large parts of whole lines.

use std::fs::File;
use std::io::{self, Read};
use std::mem;
use std::ops::Range;

use memchr::memrchr;

use super::part::Part;

/// The size of the first part, in bytes. The first line is mostly in it.
const FIRST: usize = 64 << 10;

/// The maximum size of the other parts, in bytes, unless a line is longer.
const SIZE: usize = 4 << 20;

/// Reads the parts of a file, in order.
pub(super) struct Reader<'a> {
    file: &'a File,
    max_line: usize,
    size: usize,
    /// The number of bytes that were read.
    read: u64,
    /// The start of a line whose end wasn't read.
    incomplete: Vec<u8>,
}

impl<'a> Reader<'a> {
    pub(super) fn of(file: &'a File, max_line: usize) -> Self {
        Self {
            file,
            max_line,
            size: FIRST,
            read: 0,
            incomplete: Vec::new(),
        }
    }

    /// Returns the lines that weren't returned yet, if they are several parts and not the first ones.
    pub(super) fn long_rest(&self) -> io::Result<Option<Range<u64>>> {
        if self.read == 0 || self.left()? <= SIZE as u64 {
            return Ok(None);
        }

        let start = self.read - self.incomplete.len() as u64;
        Ok(Some(start..self.file.metadata()?.len()))
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
        let read = self.file.take(size as u64).read_to_end(bytes)?;
        self.read += read as u64;
        Ok(read)
    }

    /// Returns the number of bytes that weren't read yet.
    fn left(&self) -> io::Result<u64> {
        let length = self.file.metadata()?.len();
        Ok(length.saturating_sub(self.read))
    }
}
