//! The lines of a memory file.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

use cogwork_read::charge;
use serde::{Deserialize, Serialize};

use super::place::Place;
use crate::memory::words::Items;
use crate::memory::{MemoryError, MemoryLimits};

#[derive(Serialize, Deserialize)]
struct Line<'a> {
    text: Cow<'a, str>,
}

/// The content of a file.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pub(super) items: Items,
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

        // Only the next line shows whether a line is the last one.
        let mut is_damaged = false;

        loop {
            line.clear();
            let bytes = reader
                .read_until(b'\n', &mut line)
                .map_err(|source| place.error(source))?;
            if bytes == 0 {
                return Ok(lines);
            }

            charge(bytes);

            if is_damaged {
                return Err(lines.damaged(place));
            }

            match serde_json::from_slice::<Line<'_>>(&line) {
                // A line without its line break may be the beginning of a longer one.
                Ok(item) if line.ends_with(b"\n") => lines.push(&item.text, bytes as u64, limits),
                _ if may_be_left(&line) => is_damaged = true,
                _ => return Err(lines.damaged(place)),
            }
        }
    }

    fn push(&mut self, text: &str, bytes: u64, limits: MemoryLimits) {
        if limits.check(text).is_ok() {
            self.items.add(text, limits);
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
}

/// Serializes an item.
pub(super) fn line(text: &str) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(&Line { text: text.into() })?;
    line.push(b'\n');
    Ok(line)
}

/// Returns the maximum size of a file: twice the items, each with every character escaped.
pub(super) fn most_bytes(limits: MemoryLimits) -> u64 {
    let line = (limits.item_bytes() as u64)
        .saturating_mul(6)
        .saturating_add(16);
    line.saturating_mul(limits.items() as u64).saturating_mul(2)
}

/// Returns whether a line may be left from an interrupted write, or from a page that never reached
/// the disk. Any other line wasn't written by a memory, and appending an item would overwrite it.
fn may_be_left(line: &[u8]) -> bool {
    const BEGINNING: &[u8] = b"{\"text\":\"";

    line.starts_with(BEGINNING)
        || BEGINNING.starts_with(line)
        || line
            .iter()
            .all(|byte| *byte == 0 || byte.is_ascii_whitespace())
}
