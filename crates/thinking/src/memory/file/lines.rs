//! The lines of a memory file.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

use serde::{Deserialize, Serialize};

use super::Place;
use crate::memory::words::Items;
use crate::memory::{MemoryError, MemoryLimits};

#[derive(Serialize, Deserialize)]
struct Line<'a> {
    text: Cow<'a, str>,
}

/// What a file holds.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pub(super) items: Items,
    /// How many lines the file has, forgotten ones included.
    pub(super) count: usize,
    /// Where the last whole line ends. What follows is left of a broken write.
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

        // Whether a line is the last one is known only at the next.
        let mut is_damaged = false;

        loop {
            line.clear();
            let bytes = reader
                .read_until(b'\n', &mut line)
                .map_err(|source| place.error(source))?;
            if bytes == 0 {
                return Ok(lines);
            }

            if is_damaged {
                return Err(lines.damaged(place));
            }

            match serde_json::from_slice::<Line<'_>>(&line) {
                // Without its end a line may be the beginning of another one.
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

/// An item as it is written.
pub(super) fn line(text: &str) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(&Line { text: text.into() })?;
    line.push(b'\n');
    Ok(line)
}

/// Twice the items, each escaped to six times its length at worst.
pub(super) fn most_bytes(limits: MemoryLimits) -> u64 {
    let line = (limits.item_bytes() as u64)
        .saturating_mul(6)
        .saturating_add(16);
    line.saturating_mul(limits.items() as u64).saturating_mul(2)
}

/// Whether a line can be what is left of an item whose write broke off, or of a page that never came to the
/// disk. Any other last line is somebody's, and would be cut off by the next item.
fn may_be_left(line: &[u8]) -> bool {
    const BEGINNING: &[u8] = b"{\"text\":\"";

    line.starts_with(BEGINNING)
        || BEGINNING.starts_with(line)
        || line
            .iter()
            .all(|byte| *byte == 0 || byte.is_ascii_whitespace())
}
