//! Writes the lines of a run.

use async_trait::async_trait;
use cogwork_text::files::LockFile;
use rusqlite::Connection;

use super::failure::Failure;
use super::run::{ReadRun, Run};
use crate::StoreError;
use crate::behind::{Edit, Job, Write};
use crate::keep::NewRun;
use crate::rows::{Columns, RowChange, Rows, count, fork_column};
use crate::time::now;

/// Writes a run that is locked.
pub(super) struct Writer {
    run: Run,
    /// The key of its row, if it exists.
    key: Option<i64>,
    rows: Rows,
    /// Held until the last line is written.
    _lock: LockFile,
}

/// The change of a run in one transaction.
struct Change {
    run: Run,
    /// The key of its row, if it exists.
    key: Option<i64>,
    flow: String,
    started: i64,
    /// Where the run was forked from, as JSON.
    fork: Option<String>,
    /// When the last entry was recorded.
    updated: Option<i64>,
    rows: RowChange,
}

impl Writer {
    /// Creates a run.
    pub(super) fn start(run: Run, new: NewRun, lock: LockFile) -> Result<Self, StoreError> {
        let (rows, change) = Rows::start(run.place.clone(), new)?;
        let mut writer = Self {
            run,
            key: None,
            rows,
            _lock: lock,
        };

        let started = writer.rows.header().started;
        writer.write_rows(change, Some(started))?;
        Ok(writer)
    }

    /// Continues a run that was read.
    pub(super) fn resume(run: Run, read: &ReadRun, lock: LockFile) -> Self {
        let rows = Rows::resume(run.place.clone(), &read.record);
        Self {
            run,
            key: Some(read.key),
            rows,
            _lock: lock,
        }
    }

    pub(super) fn put(&mut self, edit: Edit) -> Result<(), StoreError> {
        let started = Some(self.rows.header().started);
        let updated = edit.last().map_or(started, |line| line.at);
        let change = self.rows.change(edit)?;
        self.write_rows(change, updated)
    }

    fn write_rows(&mut self, rows: RowChange, updated: Option<u64>) -> Result<(), StoreError> {
        let updated = updated.map(count);

        let header = self.rows.header();
        let change = Change {
            run: self.run.clone(),
            key: self.key,
            flow: header.flow.clone(),
            started: count(header.started),
            fork: fork_column(header),
            updated,
            rows,
        };

        let database = &self.run.database;
        let key = database.write(move |connection| change.write(connection))?;
        self.key = Some(key);
        Ok(())
    }
}

impl Change {
    fn write(self, connection: &Connection) -> Result<i64, Failure> {
        let key = self.take_row(connection)?;

        if self.rows.replaces {
            connection
                .prepare_cached("DELETE FROM lines WHERE run = ?1")?
                .execute([key])?;
        }

        let sql = "INSERT INTO lines (run, number, line, at) VALUES (?1, ?2, ?3, ?4)";
        let mut insert = connection.prepare_cached(sql)?;
        let lines = self.rows.lines.iter().zip(&self.rows.times);

        for (number, (line, at)) in (self.rows.first()..).zip(lines) {
            insert.execute((key, number, line, at))?;
        }

        for change in self.rows.waits {
            change.write(connection, key)?;
        }

        if let Some(columns) = self.rows.columns {
            columns.write(connection, key)?;
        }

        Ok(key)
    }

    /// Updates the number of lines in the row of the run, or inserts the row. It must be as this
    /// runner left it.
    fn take_row(&self, connection: &Connection) -> Result<i64, Failure> {
        let place = &self.run.place;
        let all = self.rows.all;

        let Some(key) = self.key else {
            let sql = "INSERT INTO runs (id, flow, started, lines, status, updated, fork) VALUES (?1, ?2, ?3, ?4, 'open', ?3, ?5)";
            let mut insert = connection.prepare_cached(sql)?;
            let values = (&place.run_id, &self.flow, self.started, all, &self.fork);
            return Ok(insert.insert(values)?);
        };

        let sql = "UPDATE runs SET lines = ?3, updated = ?4 WHERE key = ?1 AND lines = ?2";
        let mut update = connection.prepare_cached(sql)?;
        if update.execute((key, self.rows.before, all, self.updated))? == 1 {
            return Ok(key);
        }

        Err(place.gone().into())
    }
}

#[async_trait]
impl Write for Writer {
    fn blocks(&self) -> bool {
        true
    }

    async fn write(&mut self, jobs: Vec<Job>) -> Result<(), StoreError> {
        self.put(Job::merged(jobs, Some(now())))
    }
}

impl Columns {
    fn write(self, database: &Connection, key: i64) -> rusqlite::Result<()> {
        let Self {
            status,
            error,
            action,
            steps,
        } = self;

        let sql = "UPDATE runs SET status = ?2, error = ?3, action = ?4, steps = ?5 WHERE key = ?1";
        database
            .prepare_cached(sql)?
            .execute((key, status, error, action, steps))?;
        Ok(())
    }
}
