//! Writing the lines of a run.

use cogwork_flow::Entry;
use rusqlite::Connection;
use serde::Serialize;

use super::query::Columns;
use super::run::{Record, Run};
use crate::StoreError;
use crate::behind::{Job, Write};
use crate::error::Kind;
use crate::header::Header;
use crate::line::Chain;
use crate::lock::Lock;
use crate::summary::Standing;
use crate::waits::WaitChange;

/// A run that is ours.
pub(super) struct Writer {
    run: Run,
    header: Header,
    key: Option<i64>,
    /// How many lines there are.
    lines: i64,
    chain: Chain,
    standing: Standing,
    /// What the row of the run says.
    columns: Columns,
    /// The run is ours until the last line is written.
    _lock: Lock,
}

/// What one transaction does to a run.
struct Change {
    /// The key of the run, or what its row begins with.
    key: Result<i64, (String, String, i64)>,
    /// Whether the lines stand in place of all there are.
    replaces: bool,
    /// How many lines stay before those that are added.
    before: i64,
    lines: Vec<String>,
    waits: Vec<WaitChange>,
    /// How the run stands, where that is new.
    columns: Option<Columns>,
}

impl Writer {
    /// A run that is not there yet.
    pub(super) fn start(run: Run, header: Header, lock: Lock) -> Result<Self, StoreError> {
        let mut writer = Self {
            run,
            header,
            key: None,
            lines: 0,
            chain: Chain::default(),
            standing: Standing::default(),
            columns: Columns::open(),
            _lock: lock,
        };
        writer.put(Some(Vec::new()), Vec::new())?;
        Ok(writer)
    }

    /// A run that was read.
    pub(super) fn resume(run: Run, record: &Record, lock: Lock) -> Self {
        let mut standing = Standing::default();
        for entry in &record.entries {
            standing.add(entry);
        }
        Self {
            run,
            header: record.header.clone(),
            key: Some(record.key),
            lines: count(record.entries.len()).saturating_add(1),
            chain: record.chain,
            columns: Columns::of(&standing),
            standing,
            _lock: lock,
        }
    }

    /// Writes entries: some in place of all there are, if any; and more after them.
    pub(super) fn put(&mut self, anew: Option<Vec<Entry>>, more: Vec<Entry>) -> Result<(), StoreError> {
        let change = self.change(anew, more)?;
        let key = self.run.database.write(move |database| change.write(database))?;
        self.key = Some(key);
        Ok(())
    }

    fn change(&mut self, anew: Option<Vec<Entry>>, more: Vec<Entry>) -> Result<Change, StoreError> {
        let place = self.run.line(self.lines + 1);
        let max_line = self.run.max_line;
        let replaces = anew.is_some();
        let mut lines = Vec::new();
        let mut waits = Vec::new();

        if replaces {
            self.chain = Chain::default();
            self.standing = Standing::default();
            self.lines = 0;
            waits.push(WaitChange::AllEnded);
            lines.push(line(&mut self.chain, &self.header, max_line, &place)?);
        }
        for entry in anew.into_iter().flatten().chain(more) {
            lines.push(line(&mut self.chain, &entry, max_line, &place)?);
            waits.extend(self.standing.add(&entry));
        }

        let before = self.lines;
        self.lines = before.saturating_add(count(lines.len()));
        let key = self.key.ok_or_else(|| {
            (self.header.run_id.clone(), self.header.flow.clone(), count(self.header.started))
        });
        Ok(Change { key, replaces, before, lines, waits, columns: self.new_columns() })
    }

    /// How the run stands, where the row says something else: its index is left alone most of the time.
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
    /// Answers the key of the run.
    fn write(self, database: &Connection) -> rusqlite::Result<i64> {
        let key = match self.key {
            Ok(key) => key,
            Err(run) => {
                let sql =
                    "INSERT INTO runs (id, flow, started, lines, status) VALUES (?1, ?2, ?3, 0, 'open')";
                database.prepare_cached(sql)?.insert(run)?
            }
        };
        if self.replaces {
            database.prepare_cached("DELETE FROM lines WHERE run = ?1")?.execute([key])?;
        }

        let all = self.before.saturating_add(count(self.lines.len()));
        let mut insert =
            database.prepare_cached("INSERT INTO lines (run, number, line) VALUES (?1, ?2, ?3)")?;
        for (number, line) in (self.before.saturating_add(1)..).zip(&self.lines) {
            insert.execute((key, number, line))?;
        }
        database.prepare_cached("UPDATE runs SET lines = ?2 WHERE key = ?1")?.execute((key, all))?;

        for change in self.waits {
            change.write(database, key)?;
        }
        if let Some(columns) = self.columns {
            columns.write(database, key)?;
        }
        Ok(key)
    }
}

impl Write for Writer {
    fn write(&mut self, jobs: Vec<Job>) -> Result<(), StoreError> {
        let (anew, more) = Job::settled(jobs);
        self.put(anew, more)
    }
}

fn line(
    chain: &mut Chain,
    object: &impl Serialize,
    max_line: usize,
    place: &str,
) -> Result<String, StoreError> {
    let mut line = Vec::new();
    chain.append(&mut line, object, max_line, place)?;
    line.pop(); // the newline
    String::from_utf8(line).map_err(|error| StoreError::new(Kind::Other, format_args!("{place}: {error}")))
}

fn count(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}
