//! Reads a run from a database.

use std::ops::Range;
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension};

use super::database::Database;
use super::failure::Failure;
use super::turns::Row;
use crate::RecordedEntry;
use crate::keep::Wanted;
use crate::rows::{EntryReader, Record, RowReader, RunPlace, count};

#[derive(Clone)]
pub(super) struct Run {
    pub(super) database: Arc<Database>,
    pub(super) place: RunPlace,
    /// The name of the lock file.
    pub(super) lock: String,
}

/// The record of a run, and its row.
pub(super) struct ReadRun {
    pub(super) row: Row,
    pub(super) record: Record,
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
    ) -> Result<Option<ReadRun>, Failure> {
        let Some(found) = self.find(reader)? else {
            return Ok(None);
        };

        // A line that is too long isn't read.
        let mut lines = reader.prepare_cached(
            "SELECT number, CASE WHEN octet_length(line) <= ?2 THEN line END FROM lines
             WHERE run = ?1 ORDER BY number",
        )?;
        let max_line = count(self.place.max_line);
        let mut rows = lines.query((found.key, max_line))?;

        let mut read = RowReader::new(&self.place, wanted);
        while let Some(row) = rows.next()? {
            let line = row.get_ref(1)?.as_bytes_or_null();
            read.add(row.get(0)?, line.map_err(rusqlite::Error::from)?, None)?;
        }

        let row = Row {
            key: found.key,
            database: None,
        };
        let record = read.finish(found.lines)?;
        Ok(record.map(|record| ReadRun { row, record }))
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
            "SELECT number, CASE WHEN octet_length(line) <= ?2 THEN line END FROM lines
             WHERE run = ?1 AND number BETWEEN ?3 AND ?4 ORDER BY number",
        )?;
        let max_line = count(self.place.max_line);
        let mut read = EntryReader::new(&self.place, range);
        let mut rows = lines.query((found.key, max_line, read.before(), read.last()))?;

        while let Some(row) = rows.next()? {
            let line = row.get_ref(1)?.as_bytes_or_null();
            read.add(row.get(0)?, line.map_err(rusqlite::Error::from)?, None)?;
        }

        Ok(Some(read.finish()))
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
