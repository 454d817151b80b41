//! Reads a run from a database.

use std::sync::Arc;

use cogwork_flow::journal::{Entry, EntryError};
use cogwork_text::Name;
use rusqlite::{Connection, OptionalExtension};

use super::database::Database;
use super::failure::Failure;
use super::turns::Row;
use crate::StoreError;
use crate::error::Kind;
use crate::header::Header;
use crate::keep::Wanted;
use crate::line::{Chain, too_long};

#[derive(Clone)]
pub(super) struct Run {
    pub(super) database: Arc<Database>,
    pub(super) run_id: String,
    /// The name of the lock file.
    pub(super) lock: String,
    pub(super) max_line: usize,
}

/// The record of a run.
pub(super) struct Record {
    pub(super) row: Row,
    pub(super) header: Header,
    pub(super) entries: Vec<Entry>,
    pub(super) chain: Chain,
}

/// The row of a run in `runs`.
struct Found {
    key: i64,
    /// The number of lines that were written.
    lines: i64,
}

impl Run {
    /// Reads the lines one by one and checks each. Returns `None` if the run doesn't exist.
    pub(super) fn read(
        &self,
        reader: &Connection,
        wanted: &Wanted,
    ) -> Result<Option<Record>, Failure> {
        let Some(found) = self.find(reader)? else {
            return Ok(None);
        };

        // A line that is too long isn't read.
        let mut lines = reader.prepare_cached(
            "SELECT number, CASE WHEN octet_length(line) <= ?2 THEN line END FROM lines
             WHERE run = ?1 ORDER BY number",
        )?;
        let max_line = i64::try_from(self.max_line).unwrap_or(i64::MAX);
        let mut rows = lines.query((found.key, max_line))?;

        let mut chain = Chain::default();
        let mut header = None;
        let mut entries = Vec::new();
        let mut number: i64 = 0;
        let mut line = Vec::new();

        while let Some(row) = rows.next()? {
            number += 1;
            line.clear();
            line.extend_from_slice(self.text(row, number)?);

            if header.is_some() {
                let entry = chain.entry(&mut line);
                entries.push(entry.map_err(|problem| self.damaged_line(number, problem, &line))?);
            } else {
                let read = chain.header(&mut line);
                let read = read.map_err(|problem| self.damaged_line(number, problem, &line))?;
                wanted.check_header(&self.line(number), &self.run_id, &read)?;
                header = Some(read);
            }
        }

        if number != found.lines {
            let expected = found.lines;
            let problem = format!("the run has {number} lines here, and {expected} were written");
            return Err(self.problem(Kind::Damaged, number + 1, &problem).into());
        }

        wanted.check_end(&self.run_id, entries.last())?;

        let row = Row {
            key: found.key,
            database: None,
        };
        Ok(header.map(|header| Record {
            row,
            header,
            entries,
            chain,
        }))
    }

    fn find(&self, reader: &Connection) -> rusqlite::Result<Option<Found>> {
        let mut find = reader.prepare_cached("SELECT key, lines FROM runs WHERE id = ?1")?;
        let found = find.query_row([&self.run_id], |row| {
            Ok(Found {
                key: row.get(0)?,
                lines: row.get(1)?,
            })
        });

        found.optional()
    }

    /// Returns the text of the line with this number.
    fn text<'a>(&self, row: &'a rusqlite::Row<'_>, number: i64) -> Result<&'a [u8], Failure> {
        let found: i64 = row.get(0)?;
        if found != number {
            let problem = format!("it is missing: the next line has the number {found}");
            return Err(self.problem(Kind::Damaged, number, &problem).into());
        }

        let text = row.get_ref(1)?.as_bytes_or_null();
        let text = text.map_err(rusqlite::Error::from)?;

        text.ok_or_else(|| {
            let problem = too_long("the line", self.max_line);
            self.problem(Kind::TooLarge, number, &problem).into()
        })
    }

    /// Returns the error for an entry that cannot follow the entries before it.
    pub(super) fn out_of_place(&self, error: EntryError) -> StoreError {
        // The first line is the header, and lines are counted from 1.
        let index = i64::try_from(error.index).unwrap_or(i64::MAX);
        self.problem(Kind::Damaged, index.saturating_add(2), &error.problem)
    }

    fn problem(&self, kind: Kind, number: i64, problem: &str) -> StoreError {
        StoreError::new(kind, format_args!("{}: {problem}", self.line(number)))
    }

    fn damaged_line(&self, number: i64, problem: String, line: &[u8]) -> StoreError {
        let text = format!("{}: {problem}", self.line(number));
        let number = u64::try_from(number).unwrap_or_default();
        StoreError::line(Kind::Damaged, text, number, line)
    }

    /// Names a line, for messages.
    pub(super) fn line(&self, number: i64) -> String {
        let place = self.database.place();
        let run_id = Name(&self.run_id);
        format!("{place}, run `{run_id}`, line {number}")
    }
}
