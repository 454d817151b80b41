//! Reads a run from a database.

use std::ops::Range;
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, Row};

use super::database::Database;
use super::failure::Failure;
use crate::RecordedEntry;
use crate::keep::{RecordedRun, Wanted};
use crate::rows::{LineRow, RowReader, RunPlace, count, numbers};

#[derive(Clone)]
pub(super) struct Run {
    pub(super) database: Arc<Database>,
    pub(super) place: RunPlace,
    /// The name of the lock file.
    pub(super) lock: String,
}

/// The record of a run, and the key of its row.
pub(super) struct ReadRun {
    pub(super) key: i64,
    pub(super) record: RecordedRun,
}

/// The row of a run in `runs`.
struct Found {
    key: i64,
    /// The number of lines that were written.
    lines: i64,
}

impl Run {
    /// Reads the lines one by one. Returns `None` if the run doesn't exist.
    pub(super) fn read(
        &self,
        reader: &Connection,
        wanted: &Wanted,
    ) -> Result<Option<ReadRun>, Failure> {
        let Some(found) = self.find(reader)? else {
            return Ok(None);
        };

        // A line that is too long isn't read.
        let mut lines = reader.prepare_cached(
            "SELECT number, CASE WHEN octet_length(line) <= ?2 THEN line END, at FROM lines
             WHERE run = ?1 ORDER BY number",
        )?;
        let max_line = count(self.place.max_line);
        let mut rows = lines.query((found.key, max_line))?;

        let mut read = RowReader::of_run(&self.place);
        while let Some(row) = rows.next()? {
            add(&mut read, row)?;
        }

        let record = read.record(wanted, found.lines)?;
        let key = found.key;
        Ok(record.map(|record| ReadRun { key, record }))
    }

    /// Reads entries. Returns `None` if the run doesn't exist.
    pub(super) fn read_entries(
        &self,
        reader: &Connection,
        range: &Range<u64>,
    ) -> Result<Option<Vec<RecordedEntry>>, Failure> {
        let Some(found) = self.find(reader)? else {
            return Ok(None);
        };

        let mut lines = reader.prepare_cached(
            "SELECT number, CASE WHEN octet_length(line) <= ?2 THEN line END, at FROM lines
             WHERE run = ?1 AND number BETWEEN ?3 AND ?4 ORDER BY number",
        )?;
        let max_line = count(self.place.max_line);
        let (first, last) = numbers(range);
        let mut read = RowReader::of_entries(&self.place, first);
        let mut rows = lines.query((found.key, max_line, first, last))?;

        while let Some(row) = rows.next()? {
            add(&mut read, row)?;
        }

        Ok(Some(read.entries()))
    }

    fn find(&self, reader: &Connection) -> rusqlite::Result<Option<Found>> {
        let mut find = reader.prepare_cached("SELECT key, lines FROM runs WHERE id = ?1")?;
        let found = find.query_row([&self.place.run_id], |row| {
            Ok(Found {
                key: row.get(0)?,
                lines: row.get(1)?,
            })
        });

        found.optional()
    }
}

fn add(read: &mut RowReader<'_>, row: &Row<'_>) -> Result<(), Failure> {
    let text = row.get_ref(1)?.as_str_or_null();
    read.add(&LineRow {
        number: row.get(0)?,
        text: text.map_err(rusqlite::Error::from)?,
        at: row.get(2)?,
    })?;

    Ok(())
}
