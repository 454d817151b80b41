//! The lines of a memory file.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

use cogwork_read::charge;
use serde::{Deserialize, Serialize};

use super::kept::Kept;
use super::place::Place;
use crate::memory::words::Items;
use crate::memory::{MemoryError, MemoryLimits};

/// The beginning of a line.
const BEGINNING: &[u8] = b"{\"text\":\"";
/// The maximum number of bytes that a byte of a text takes when it is escaped.
const ESCAPED: u64 = 6;
/// The maximum number of bytes of a line before and after its text.
const AROUND: u64 = 16;
/// The number of bytes that a file may have beyond twice its items, so that a small file is seldom
/// rewritten.
pub(super) const SPARE: u64 = 64 * 1024;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<'a> {
    text: Cow<'a, str>,
}

/// The content of a file.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pub(super) items: Items,
    pub(super) kept: Kept,
    /// The number of lines in the file, including forgotten items.
    pub(super) count: usize,
    /// The end of the last complete line. Anything after it is left from an interrupted write.
    pub(super) end: u64,
}

impl Lines {
    pub(super) fn read(
        file: &File,
        place: &Place,
        limits: MemoryLimits,
    ) -> Result<Self, MemoryError> {
        let mut lines = Self::default();
        let mut reader = BufReader::new(file.take(most_bytes(limits)));
        let mut line = Vec::new();
        let most_of_line = most_bytes_of_line(limits);

        // Only the next line shows whether a line is the last one.
        let mut is_damaged = false;

        loop {
            line.clear();
            let bytes = (&mut reader)
                .take(most_of_line + 1)
                .read_until(b'\n', &mut line)
                .map_err(|source| place.error(source))?;
            if bytes == 0 {
                return Ok(lines);
            }

            charge(bytes);

            if is_damaged {
                return Err(lines.damaged(place));
            }

            if bytes as u64 > most_of_line {
                // Writes that never reached the disk may leave any number of zeros.
                let has_ended = line.ends_with(b"\n");
                let rest = Rest::read(has_ended, &mut reader);
                let rest = rest.map_err(|source| place.error(source))?;
                if rest.is_blank && may_be_left(&line) {
                    return Ok(lines);
                }

                let bytes = bytes as u64 + rest.of_line;
                return Err(lines.too_long(place, bytes, most_of_line));
            }

            match serde_json::from_slice::<Line<'_>>(&line) {
                // A line without its line break may be the beginning of a longer one.
                Ok(item) if line.ends_with(b"\n") && is_object(&line) => {
                    lines.push(&item.text, bytes as u64, limits)
                }
                // No beginning of an item has other fields, so rewriting the file would lose them.
                Err(error) if error.is_data() && is_object(&line) => {
                    return Err(lines.foreign(place, &error));
                }
                _ if may_be_left(&line) => is_damaged = true,
                _ => return Err(lines.damaged(place)),
            }
        }
    }

    fn push(&mut self, text: &str, bytes: u64, limits: MemoryLimits) {
        if limits.check(text).is_ok() {
            self.items.add(text, limits);
            self.kept.push(bytes, self.items.len());
        }

        self.count += 1;
        self.end += bytes;
    }

    fn damaged(&self, place: &Place) -> MemoryError {
        MemoryError::Damaged {
            path: place.path(),
            line: self.count + 1,
        }
    }

    fn foreign(&self, place: &Place, error: &serde_json::Error) -> MemoryError {
        let problem = error.to_string();
        // The position is that within the line.
        let problem = match problem.rsplit_once(" at line ") {
            Some((problem, _)) => problem.to_owned(),
            None => problem,
        };

        MemoryError::Foreign {
            path: place.path(),
            line: self.count + 1,
            problem,
        }
    }

    fn too_long(&self, place: &Place, bytes: u64, most: u64) -> MemoryError {
        MemoryError::TooLong {
            what: format!(
                "line {} of the memory file {}",
                self.count + 1,
                place.path()
            ),
            bytes,
            most,
        }
    }
}

/// What follows the beginning of a line that is too long.
#[derive(Debug)]
struct Rest {
    /// Whether the rest of the file is only zeros and white space.
    is_blank: bool,
    /// The number of bytes until the end of the line.
    of_line: u64,
}

impl Rest {
    /// Reads the rest of a file, keeping none of it.
    fn read(mut has_ended: bool, reader: &mut impl BufRead) -> io::Result<Self> {
        let mut rest = Self {
            is_blank: true,
            of_line: 0,
        };

        loop {
            let bytes = reader.fill_buf()?;
            if bytes.is_empty() {
                return Ok(rest);
            }

            rest.is_blank &= is_blank(bytes);
            if !has_ended {
                let line_break = bytes.iter().position(|byte| *byte == b'\n');
                rest.of_line += line_break.map_or(bytes.len(), |at| at + 1) as u64;
                has_ended = line_break.is_some();
            }
            if has_ended && !rest.is_blank {
                return Ok(rest);
            }

            let read = bytes.len();
            charge(read);
            reader.consume(read);
        }
    }
}

/// Serializes an item.
pub(super) fn line(text: &str) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(&Line { text: text.into() })?;
    line.push(b'\n');
    Ok(line)
}

/// Returns the maximum size of a file: twice the items that are kept, each with every character
/// escaped, and what is appended until the file is rewritten.
pub(super) fn most_bytes(limits: MemoryLimits) -> u64 {
    let items = limits.items() as u64;
    let line = most_bytes_of_line(limits);
    // A single item larger than the total is kept, too.
    let texts = limits.total_bytes().max(limits.item_bytes()) as u64;

    let by_items = 2 * items * line;
    let by_bytes = 2 * (texts * ESCAPED + items * AROUND) + SPARE + line;
    by_items.min(by_bytes)
}

fn most_bytes_of_line(limits: MemoryLimits) -> u64 {
    limits.item_bytes() as u64 * ESCAPED + AROUND
}

/// Returns whether a line may be left from an interrupted write, or from a page that never reached
/// the disk. Any other line wasn't written by a memory, and appending an item would overwrite it.
fn may_be_left(line: &[u8]) -> bool {
    line.starts_with(BEGINNING) || BEGINNING.starts_with(line) || is_blank(line)
}

/// Returns whether the line isn't an array, which serde accepts as a struct, too.
fn is_object(line: &[u8]) -> bool {
    line.trim_ascii_start().starts_with(b"{")
}

fn is_blank(bytes: &[u8]) -> bool {
    bytes
        .iter()
        .all(|byte| *byte == 0 || byte.is_ascii_whitespace())
}
