//! Writes the lines of a run.

use cogwork_files::LockFile;
use rusqlite::Connection;

use super::connect::Open;
use super::failure::Failure;
use super::run::{ReadRun, Run};
use super::turns::Row;
use crate::StoreError;
use crate::behind::{Edit, Job, Write};
use crate::keep::NewRun;
use crate::rows::{Columns, RowChange, Rows, count, fork_column};
use crate::time::now;

/// Writes a run that is locked.
pub(super) struct Writer {
    run: Run,
    row: Option<Row>,
    rows: Rows,
    /// Held until the last line is written.
    lock: LockFile,
}

/// The change of a run in one transaction.
struct Change {
    run: Run,
    /// The row of the run, if it exists.
    row: Option<Row>,
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
            row: None,
            rows,
            lock,
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
            row: Some(read.row),
            rows,
            lock,
        }
    }

    pub(super) fn put(&mut self, edit: Edit) -> Result<(), StoreError> {
        let started = Some(self.rows.header().started);
        let updated = edit.last().map_or(started, |line| line.at);
        let change = self.rows.change(edit)?;
        self.write_rows(change, updated)
    }

    fn write_rows(&mut self, rows: RowChange, updated: Option<u64>) -> Result<(), StoreError> {
        self.check_lock()?;
        let updated = updated.map(count);

        let header = self.rows.header();
        let change = Change {
            run: self.run.clone(),
            row: self.row,
            flow: header.flow.clone(),
            started: count(header.started),
            fork: fork_column(header),
            updated,
            rows,
        };

        let row = self
            .run
            .database
            .write(self.row.is_none(), move |open| change.write(open))?;
        self.row = Some(row);

        Ok(())
    }

    /// Checks that nobody else can have opened the run, since a lock file that was removed locks
    /// nothing. The id of the database isn't enough, as a different database may get the same one.
    fn check_lock(&self) -> Result<(), StoreError> {
        let path = self.lock.path();

        match self.lock.is_still_there() {
            Ok(true) => Ok(()),
            Ok(false) => Err(StoreError::gone(path.display())),
            Err(error) => Err(StoreError::io(
                format_args!("{}: cannot be read", path.display()),
                error.into(),
            )),
        }
    }
}

impl Change {
    fn write(self, open: &Open) -> Result<Row, Failure> {
        let database = &open.connection;
        let row = self.take_row(open)?;
        let key = row.key;

        if self.rows.replaces {
            database
                .prepare_cached("DELETE FROM lines WHERE run = ?1")?
                .execute([key])?;
        }

        let sql = "INSERT INTO lines (run, number, line) VALUES (?1, ?2, ?3)";
        let mut insert = database.prepare_cached(sql)?;

        for (number, line) in (self.rows.first()..).zip(&self.rows.lines) {
            insert.execute((key, number, line))?;
        }

        for change in self.rows.waits {
            change.write(database, key)?;
        }

        if let Some(columns) = self.rows.columns {
            columns.write(database, key)?;
        }

        Ok(row)
    }

    /// Updates the number of lines in the row of the run. The row must be as this runner left it: a
    /// second runner may have opened the run after the lock file was removed, and the key may
    /// belong to a different run after the database was replaced.
    fn take_row(&self, open: &Open) -> Result<Row, Failure> {
        let place = &self.run.place;
        let run_id = &place.run_id;
        let database = open.seen.database();
        let all = self.rows.all;

        let Some(row) = self.row else {
            let sql = "INSERT INTO runs (id, flow, started, lines, status, updated, fork) VALUES (?1, ?2, ?3, ?4, 'open', ?3, ?5)";
            let mut insert = open.connection.prepare_cached(sql)?;
            let key = insert.insert((run_id, &self.flow, self.started, all, &self.fork))?;
            return Ok(Row { key, database });
        };

        if row.database != database {
            return Err(StoreError::gone(self.run.database.place()).into());
        }

        let sql =
            "UPDATE runs SET lines = ?4, updated = ?5 WHERE key = ?1 AND id = ?2 AND lines = ?3";
        let mut update = open.connection.prepare_cached(sql)?;
        let columns = (row.key, run_id, self.rows.before, all, self.updated);
        if update.execute(columns)? == 1 {
            return Ok(row);
        }

        Err(place.gone().into())
    }
}

impl Write for Writer {
    fn write(&mut self, jobs: Vec<Job>) -> Result<(), StoreError> {
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
