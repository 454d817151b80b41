//! Reads some of the lines of a run from a database.

use std::ops::Range;

use super::count;
use super::place::RunPlace;
use crate::error::Kind;
use crate::line::{Chain, Text, too_long};
use crate::{RecordedEntry, StoreError};

/// Checks the lines of some entries. The line before the first one is read, too: the checksum of a
/// line covers that of the line before it.
pub(crate) struct EntryReader<'a> {
    place: &'a RunPlace,
    before: i64,
    last: i64,
    chain: Option<Chain>,
    number: i64,
    entries: Vec<RecordedEntry>,
}

impl<'a> EntryReader<'a> {
    pub(crate) fn new(place: &'a RunPlace, range: &Range<u64>) -> Self {
        // Lines are counted from 1, and the first one is the header.
        let before = count(range.start).saturating_add(1);
        let last = count(range.end).saturating_add(1);

        Self {
            place,
            before,
            last,
            chain: None,
            number: before,
            entries: Vec::new(),
        }
    }

    /// Returns the number of the line before the first entry.
    pub(crate) fn before(&self) -> i64 {
        self.before
    }

    /// Returns the number of the line of the last entry.
    pub(crate) fn last(&self) -> i64 {
        self.last
    }

    /// Reads the next line, which is in a row with this number. `text` is `None` if the line is too
    /// long. `at` is the time in the row, if there is one.
    pub(crate) fn add(
        &mut self,
        number: i64,
        text: Option<&[u8]>,
        at: Option<u64>,
    ) -> Result<(), StoreError> {
        let place = self.place;
        if number != self.number {
            let problem = format!("it is missing: the next line has the number {number}");
            return Err(place.problem(Kind::Damaged, self.number, &problem));
        }

        let Some(text) = text else {
            let problem = too_long("the line", place.max_line);
            return Err(place.problem(Kind::TooLarge, number, &problem));
        };

        let damaged = |problem| place.damaged_line(number, problem, text);
        self.number += 1;
        let Some(chain) = &mut self.chain else {
            self.chain = Some(Chain::after(text).map_err(damaged)?);
            return Ok(());
        };

        let mut line = chain.entry(Text::Bytes(text)).map_err(damaged)?;
        line.at = line.at.or(at);

        let index = u64::try_from(number.saturating_sub(2)).unwrap_or_default();
        self.entries.push(RecordedEntry::new(index, line));
        Ok(())
    }

    pub(crate) fn finish(self) -> Vec<RecordedEntry> {
        self.entries
    }
}
