//! Reads the lines of a run from a database.

use std::ops::Range;

use cogwork_flow::journal::EntryError;
use cogwork_text::Name;
use serde::de::DeserializeOwned;

use super::count;
use crate::error::Kind;
use crate::header::Header;
use crate::keep::{RecordedRun, Wanted};
use crate::line::{Line, too_long};
use crate::{RecordedEntry, StoreError};

/// The location of a run, for messages, and the maximum length of its lines.
#[derive(Debug, Clone)]
pub(crate) struct RunPlace {
    /// The location of the database.
    pub(crate) database: String,
    pub(crate) run_id: String,
    pub(crate) max_line: usize,
}

impl RunPlace {
    /// Names a line.
    pub(crate) fn line(&self, number: i64) -> String {
        let database = &self.database;
        let run_id = Name(&self.run_id);
        format!("{database}, run `{run_id}`, line {number}")
    }

    /// Returns the error for an entry that cannot follow the entries before it.
    pub(crate) fn out_of_place(&self, error: EntryError) -> StoreError {
        // The first line is the header, and lines are counted from 1.
        let number = count(error.index).saturating_add(2);
        self.problem(Kind::Damaged, number, &error.problem)
    }

    /// Returns the error for a run that was removed or written by somebody else.
    pub(crate) fn gone(&self) -> StoreError {
        let place = &self.database;
        let run_id = Name(&self.run_id);
        let text = format_args!(
            "{place}: the run `{run_id}` was removed, or written by somebody else, while it was at work"
        );

        StoreError::new(Kind::Gone, text)
    }

    fn problem(&self, kind: Kind, number: i64, problem: &str) -> StoreError {
        StoreError::new(kind, format_args!("{}: {problem}", self.line(number)))
    }

    fn parse<T: DeserializeOwned>(&self, number: i64, text: &str) -> Result<T, StoreError> {
        serde_json::from_str(text).map_err(|error| {
            let place = self.line(number);
            let problem = format!("{place}: the line isn't one of a journal: {error}");
            let number = u64::try_from(number).unwrap_or_default();
            StoreError::line(Kind::Damaged, problem, number, text.as_bytes())
        })
    }
}

/// A row with a line of a run.
pub(crate) struct LineRow<'a> {
    pub(crate) number: i64,
    /// `None` if the line is too long.
    pub(crate) text: Option<&'a str>,
    /// When it was written, in milliseconds since 1970.
    pub(crate) at: Option<i64>,
}

/// Reads lines of a run, in order.
pub(crate) struct RowReader<'a> {
    place: &'a RunPlace,
    /// The number of the next line.
    number: i64,
    header: Option<Header>,
    entries: Vec<Line>,
}

impl<'a> RowReader<'a> {
    /// Reads all lines.
    pub(crate) fn of_run(place: &'a RunPlace) -> Self {
        Self {
            place,
            number: 1,
            header: None,
            entries: Vec::new(),
        }
    }

    /// Reads the lines of some entries, which have these [numbers](numbers).
    pub(crate) fn of_entries(place: &'a RunPlace, first: i64) -> Self {
        Self {
            number: first,
            ..Self::of_run(place)
        }
    }

    pub(crate) fn add(&mut self, row: &LineRow<'_>) -> Result<(), StoreError> {
        let place = self.place;
        let number = row.number;

        if number != self.number {
            let problem = format!("it is missing: the next line has the number {number}");
            return Err(place.problem(Kind::Damaged, self.number, &problem));
        }

        let Some(text) = row.text else {
            let problem = too_long("the line", place.max_line);
            return Err(place.problem(Kind::TooLarge, number, &problem));
        };

        self.number += 1;
        if number == 1 {
            self.header = Some(place.parse(number, text)?);
            return Ok(());
        }

        self.entries.push(Line {
            entry: place.parse(number, text)?,
            at: row.at.and_then(|at| u64::try_from(at).ok()),
        });
        Ok(())
    }

    /// Returns the record once all lines were read, of which there must be `written`. Returns
    /// `None` if there are none.
    pub(crate) fn record(
        self,
        wanted: &Wanted,
        written: i64,
    ) -> Result<Option<RecordedRun>, StoreError> {
        let place = self.place;
        let read = self.number - 1;

        if read != written {
            let problem = format!("the run has {read} lines here, and {written} were written");
            return Err(place.problem(Kind::Damaged, self.number, &problem));
        }

        let Some(header) = self.header else {
            return Ok(None);
        };
        wanted.check_header(&place.line(1), &place.run_id, &header)?;

        let last = self.entries.last().map(|line| &line.entry);
        wanted.check_end(&place.run_id, last)?;
        Ok(Some(RecordedRun {
            header,
            lines: self.entries,
        }))
    }

    /// Returns the entries that were read.
    pub(crate) fn entries(self) -> Vec<RecordedEntry> {
        let first = self.number - count(self.entries.len());
        let first = u64::try_from(first.saturating_sub(2)).unwrap_or_default();

        let numbered = (first..).zip(self.entries);
        numbered
            .map(|(index, line)| RecordedEntry::new(index, line))
            .collect()
    }
}

/// Returns the numbers of the first and the last line of some entries.
pub(crate) fn numbers(entries: &Range<u64>) -> (i64, i64) {
    // Lines are counted from 1, and the first one is the header.
    let first = count(entries.start).saturating_add(2);
    (first, count(entries.end).saturating_add(1))
}
