//! Writes the lines of a run.

use cogwork_files::LockFile;
use cogwork_text::Name;
use serde::Serialize;

use super::connect::Open;
use super::failure::Failure;
use super::query::Columns;
use super::run::{Record, Run};
use super::turns::Row;
use crate::StoreError;
use crate::behind::{Edit, Job, Write};
use crate::error::Kind;
use crate::header::Header;
use crate::line::{Chain, Joins};
use crate::summary::Standing;
use crate::waits::WaitChange;

/// Writes a run that is locked.
pub(super) struct Writer {
    run: Run,
    header: Header,
    row: Option<Row>,
    /// The number of lines.
    lines: i64,
    chain: Chain,
    standing: Standing,
    /// The current columns of the run.
    columns: Columns,
    /// Held until the last line is written.
    lock: LockFile,
}

/// The change of a run in one transaction.
struct Change {
    run: Run,
    /// The row of the run, if it exists.
    row: Option<Row>,
    /// The number of lines before the change.
    before: i64,
    flow: String,
    started: i64,
    /// Whether the lines replace all earlier ones.
    replaces: bool,
    /// The number of lines after the change.
    all: i64,
    /// The new lines, which are the last of them.
    lines: Vec<String>,
    waits: Vec<WaitChange>,
    /// The columns with the status, if they change.
    columns: Option<Columns>,
}

impl Writer {
    /// Creates a run.
    pub(super) fn start(run: Run, header: Header, lock: LockFile) -> Result<Self, StoreError> {
        let mut writer = Self {
            run,
            header,
            row: None,
            lines: 0,
            chain: Chain::default(),
            standing: Standing::default(),
            columns: Columns::open(),
            lock,
        };

        writer.put(Edit::replace(Vec::new()))?;
        Ok(writer)
    }

    /// Continues a run that was read.
    pub(super) fn resume(run: Run, record: &Record, lock: LockFile) -> Self {
        let mut standing = Standing::default();
        for entry in &record.entries {
            standing.add(entry);
        }

        Self {
            run,
            header: record.header.clone(),
            row: Some(record.row),
            lines: count(record.entries.len()).saturating_add(1),
            chain: record.chain,
            columns: Columns::of(&standing),
            standing,
            lock,
        }
    }

    pub(super) fn put(&mut self, edit: Edit) -> Result<(), StoreError> {
        self.check_lock()?;

        let change = self.change(edit)?;
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

    fn change(&mut self, edit: Edit) -> Result<Change, StoreError> {
        let before = self.lines;
        let place = self.run.line(self.lines + 1);
        let max_line = self.run.max_line;
        let replaces = edit.replacement.is_some();
        let mut lines = Vec::new();
        let mut waits = Vec::new();

        if replaces {
            self.chain = Chain::default();
            self.standing = Standing::default();
            self.lines = 0;
            waits.push(WaitChange::AllEnded);
            lines.push(line(&mut self.chain, &self.header, max_line, &place)?);
        }

        let replacement = edit.replacement.into_iter().flatten();
        for entry in replacement.chain(edit.appended) {
            lines.push(line(&mut self.chain, &entry, max_line, &place)?);
            waits.extend(self.standing.add(&entry));
        }

        self.lines = self.lines.saturating_add(count(lines.len()));
        let columns = self.new_columns();
        Ok(Change {
            run: self.run.clone(),
            row: self.row,
            before,
            flow: self.header.flow.clone(),
            started: count(self.header.started),
            replaces,
            all: self.lines,
            lines,
            waits,
            columns,
        })
    }

    /// Returns the columns if they changed. Most of the time they don't, which saves updating their
    /// index.
    fn new_columns(&mut self) -> Option<Columns> {
        let columns = Columns::of(&self.standing);
        if columns == self.columns {
            return None;
        }

        self.columns = columns.clone();
        Some(columns)
    }
}

impl Change {
    fn write(self, open: &Open) -> Result<Row, Failure> {
        let database = &open.connection;
        let row = self.take_row(open)?;
        let key = row.key;

        if self.replaces {
            database
                .prepare_cached("DELETE FROM lines WHERE run = ?1")?
                .execute([key])?;
        }

        let before = self.all.saturating_sub(count(self.lines.len()));
        let sql = "INSERT INTO lines (run, number, line) VALUES (?1, ?2, ?3)";
        let mut insert = database.prepare_cached(sql)?;

        for (number, line) in (before.saturating_add(1)..).zip(&self.lines) {
            insert.execute((key, number, line))?;
        }

        for change in self.waits {
            change.write(database, key)?;
        }

        if let Some(columns) = self.columns {
            columns.write(database, key)?;
        }

        Ok(row)
    }

    /// Updates the number of lines in the row of the run. The row must be as this runner left it: a
    /// second runner may have opened the run after the lock file was removed, and the key may
    /// belong to a different run after the database was replaced.
    fn take_row(&self, open: &Open) -> Result<Row, Failure> {
        let run_id = &self.run.run_id;
        let database = open.seen.database();
        let Some(row) = self.row else {
            let sql = "INSERT INTO runs (id, flow, started, lines, status) VALUES (?1, ?2, ?3, ?4, 'open')";
            let mut insert = open.connection.prepare_cached(sql)?;
            let key = insert.insert((run_id, &self.flow, self.started, self.all))?;
            return Ok(Row { key, database });
        };

        if row.database != database {
            return Err(StoreError::gone(self.run.database.place()).into());
        }

        let sql = "UPDATE runs SET lines = ?4 WHERE key = ?1 AND id = ?2 AND lines = ?3";
        let mut update = open.connection.prepare_cached(sql)?;
        if update.execute((row.key, run_id, self.before, self.all))? == 1 {
            return Ok(row);
        }

        let place = self.run.database.place();
        let run_id = Name(run_id);
        let text = format!(
            "{place}: the run `{run_id}` was removed, or written by somebody else, while it was at work"
        );

        Err(StoreError::new(Kind::Gone, text).into())
    }
}

impl Write for Writer {
    fn write(&mut self, jobs: Vec<Job>) -> Result<(), StoreError> {
        self.put(Job::merged(jobs))
    }
}

fn line(
    chain: &mut Chain,
    object: &impl Serialize,
    max_line: usize,
    place: &str,
) -> Result<String, StoreError> {
    let mut line = Vec::new();
    chain.append(&mut line, object, Joins::Nothing, max_line, place)?;
    line.pop(); // the newline

    String::from_utf8(line)
        .map_err(|error| StoreError::new(Kind::Other, format_args!("{place}: {error}")))
}

fn count(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}
