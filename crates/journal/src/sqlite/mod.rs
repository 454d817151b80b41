//! Many runs in one SQLite database.

mod connect;
mod database;

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use cogwork_text::Name;
use cogwork_text::files::{LockFile, safe_name};
use rusqlite::{Connection, OptionalExtension, Row, params_from_iter};

use self::database::Database;
use crate::backend::{Backend, EVENTS_PART, Edit, Expected, Held, Taken, TextLine, blocking};
use crate::rows::{RunRow, WaitRow, check_number, count, event_line, fork_column, gone, millis};
use crate::waits::WaitChange;
use crate::{EventLine, RunQuery, RunSummary, StoreError, folder, lock};

/// A SQLite database with many runs.
#[derive(Debug, Clone)]
pub(crate) struct Sqlite(Arc<Database>);

impl Sqlite {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self(Arc::new(Database::new(path)))
    }

    fn find(&self, run_id: &str) -> Result<Option<i64>, StoreError> {
        let found = self.0.read(|reader| key(reader, run_id));
        Ok(found?.flatten())
    }

    fn take_now(&self, run_id: &str, expected: Expected) -> Result<Option<Taken>, StoreError> {
        // A failed lookup leaves no lock file.
        if expected == Expected::Existing && self.find(run_id)?.is_none() {
            return Ok(None);
        }

        let folder = folder::create(&self.0.locks)?;
        let lock = lock::take(&folder, &lock_name(run_id), run_id)?;
        let key = self.find(run_id)?;
        let lines = match key {
            Some(_) if expected == Expected::New => {
                return Err(StoreError::already_there(run_id, &self.place()));
            }
            Some(key) => self.lines(run_id, key, &(1..u64::MAX))?,
            None => Vec::new(),
        };

        let held = HeldRow {
            database: self.clone(),
            run_id: run_id.to_owned(),
            key,
            lock: Arc::new(lock),
        };
        Ok(Some(Taken {
            held: Box::new(held),
            lines,
            offered: Vec::new(),
            now: None,
        }))
    }

    fn read_now(
        &self,
        run_id: &str,
        numbers: &Range<u64>,
    ) -> Result<Option<Vec<TextLine>>, StoreError> {
        let key = self.find(run_id)?;
        key.map(|key| self.lines(run_id, key, numbers)).transpose()
    }

    fn lines(
        &self,
        run_id: &str,
        key: i64,
        numbers: &Range<u64>,
    ) -> Result<Vec<TextLine>, StoreError> {
        let rows = self.0.read(|reader| {
            let mut lines = reader.prepare_cached(
                "SELECT number, line, at FROM lines
                 WHERE run = ?1 AND number >= ?2 AND number < ?3 ORDER BY number",
            )?;
            let range = (key, count(numbers.start), count(numbers.end));
            let rows = lines.query_map(range, |row| {
                let at: Option<i64> = row.get(2)?;
                let at = at.and_then(|at| at.try_into().ok());
                let text = row.get(1)?;
                Ok((row.get(0)?, TextLine { text, at }))
            })?;
            rows.collect::<Result<Vec<_>, _>>()
        });

        let rows = rows?.unwrap_or_default().into_iter();
        let lines = rows.zip(numbers.start..).map(|((number, line), expected)| {
            check_number(|| self.line_place(run_id, expected), expected, number)?;
            Ok(line)
        });
        lines.collect()
    }

    fn events(&self, key: i64, from: u64) -> Result<Vec<EventLine>, StoreError> {
        let events = self.0.read(|reader| {
            let sql = "SELECT number, event FROM events
                 WHERE run = ?1 AND number >= ?2 ORDER BY number";
            let mut find = reader.prepare_cached(sql)?;
            let mut rows = find.query((key, count(from)))?;

            let mut events = Vec::new();
            let mut bytes = 0;
            while bytes < EVENTS_PART
                && let Some(row) = rows.next()?
            {
                let event = event_line(row.get(0)?, row.get(1)?);
                bytes += event.json.len();
                events.push(event);
            }
            Ok(events)
        });
        Ok(events?.unwrap_or_default())
    }

    async fn run<T: Send + 'static>(
        &self,
        run_id: &str,
        work: impl FnOnce(&Self, &str) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let store = self.clone();
        let run_id = run_id.to_owned();
        blocking(self.place(), move || work(&store, &run_id)).await
    }
}

fn lock_name(run_id: &str) -> String {
    format!("{}.lock", safe_name(run_id))
}

fn key(connection: &Connection, run_id: &str) -> rusqlite::Result<Option<i64>> {
    let mut find = connection.prepare_cached("SELECT key FROM runs WHERE id = ?1")?;
    find.query_row([run_id], |row| row.get(0)).optional()
}

#[async_trait]
impl Backend for Sqlite {
    fn place(&self) -> String {
        self.0.place()
    }

    fn line_place(&self, run_id: &str, number: u64) -> String {
        format!("{}, run `{}`, line {number}", self.place(), Name(run_id))
    }

    async fn take(&self, run_id: &str, expected: Expected) -> Result<Option<Taken>, StoreError> {
        let take = move |store: &Self, run_id: &str| store.take_now(run_id, expected);
        self.run(run_id, take).await
    }

    async fn read(
        &self,
        run_id: &str,
        numbers: Range<u64>,
    ) -> Result<Option<Vec<TextLine>>, StoreError> {
        let read = move |store: &Self, run_id: &str| store.read_now(run_id, &numbers);
        self.run(run_id, read).await
    }

    async fn read_events(
        &self,
        run_id: &str,
        from: u64,
    ) -> Result<Option<Vec<EventLine>>, StoreError> {
        let read = move |store: &Self, run_id: &str| {
            let key = store.find(run_id)?;
            key.map(|key| store.events(key, from)).transpose()
        };
        self.run(run_id, read).await
    }

    async fn list(&self, query: RunQuery) -> Result<Vec<RunSummary>, StoreError> {
        let database = Arc::clone(&self.0);
        let listed = blocking(self.place(), move || {
            database.read(|reader| list(reader, &query))
        });
        Ok(listed.await?.unwrap_or_default())
    }

    async fn remove(&self, run_id: &str) -> Result<bool, StoreError> {
        let locked = self.run(run_id, |store, run_id| {
            if store.find(run_id)?.is_none() {
                return Ok(None);
            }
            let folder = folder::create(&store.0.locks)?;
            let lock = lock::take(&folder, &lock_name(run_id), run_id)?;
            Ok(Some((folder, lock)))
        });
        let Some((folder, lock)) = locked.await? else {
            return Ok(false);
        };

        let id = run_id.to_owned();
        let removed = self.0.write(move |connection| {
            // The other tables follow through their foreign keys.
            let sql = "DELETE FROM runs WHERE id = ?1 RETURNING key";
            let mut remove = connection.prepare_cached(sql)?;
            remove.query_row([id], |row| row.get(0)).optional()
        });
        let removed = removed.await?;
        lock::remove(&folder, &lock_name(run_id), lock);
        Ok(removed.is_some())
    }

    async fn is_in_use(&self, run_id: &str) -> Result<Option<bool>, StoreError> {
        let is_in_use = |store: &Self, run_id: &str| match store.find(run_id)? {
            Some(_) => {
                let folder = folder::create(&store.0.locks)?;
                lock::is_taken(&folder, &lock_name(run_id), run_id).map(Some)
            }
            None => Ok(None),
        };
        self.run(run_id, is_in_use).await
    }
}

/// A run that is locked.
struct HeldRow {
    database: Sqlite,
    run_id: String,
    /// The key of its row, if it exists.
    key: Option<i64>,
    lock: Arc<LockFile>,
}

#[async_trait]
impl Held for HeldRow {
    async fn write(&mut self, edit: Edit) -> Result<(), StoreError> {
        let key = self.key;
        let run_id = self.run_id.clone();
        // A change that is queued is written even if nobody waits for it.
        let lock = Arc::clone(&self.lock);
        let written = self.database.0.write(move |connection| {
            let written = write(connection, key, &run_id, &edit);
            drop(lock);
            written
        });

        self.key = written.await?;
        match self.key {
            Some(_) => Ok(()),
            None => Err(gone(&self.database.place(), &self.run_id)),
        }
    }

    async fn write_events(&mut self, events: Vec<String>) -> Result<(), StoreError> {
        let Some(key) = self.key else {
            return Ok(());
        };
        let lock = Arc::clone(&self.lock);
        let write = move |connection: &Connection| {
            write_events(connection, key, &events)?;
            drop(lock);
            Ok(Some(key))
        };
        self.database.0.write_behind(write).await.map(drop)
    }
}

/// Writes a change. Returns the key of the run, or `None` if its rows aren't as they were left.
fn write(
    connection: &Connection,
    key: Option<i64>,
    run_id: &str,
    edit: &Edit,
) -> rusqlite::Result<Option<i64>> {
    let Some(key) = take_row(connection, key, run_id, edit)? else {
        return Ok(None);
    };

    let sql = "INSERT INTO lines (run, number, line, at) VALUES (?1, ?2, ?3, ?4)";
    let mut insert = connection.prepare_cached(sql)?;
    for (number, line) in (edit.first..).zip(&edit.lines) {
        let at = (number > 1).then(|| count(line.at.unwrap_or_else(crate::time::now)));
        insert.execute((key, count(number), &line.text, at))?;
    }

    for change in &edit.waits {
        write_wait(connection, key, change)?;
    }
    if let Some(status) = edit.status {
        let sql = "UPDATE runs SET status = ?2 WHERE key = ?1";
        connection.prepare_cached(sql)?.execute((key, status))?;
    }

    Ok(Some(key))
}

fn write_events(connection: &Connection, key: i64, events: &[String]) -> rusqlite::Result<()> {
    let sql = "SELECT coalesce(max(number) + 1, 0) FROM events WHERE run = ?1";
    let first: i64 = connection
        .prepare_cached(sql)?
        .query_one([key], |row| row.get(0))?;

    // Nothing is inserted if the run was removed.
    let sql = "INSERT INTO events (run, number, event) SELECT key, ?2, ?3 FROM runs WHERE key = ?1";
    let mut insert = connection.prepare_cached(sql)?;
    for (number, event) in (first..).zip(events) {
        insert.execute((key, number, event))?;
    }
    Ok(())
}

/// Inserts the row of a new run, or checks that the rows are as this runner left them.
fn take_row(
    connection: &Connection,
    key: Option<i64>,
    run_id: &str,
    edit: &Edit,
) -> rusqlite::Result<Option<i64>> {
    let Some(key) = key else {
        let Some(header) = &edit.replaces else {
            return Ok(None);
        };
        let sql =
            "INSERT INTO runs (id, flow, started, status, fork) VALUES (?1, ?2, ?3, 'open', ?4)";
        let values = (
            run_id,
            &header.flow,
            count(header.started),
            fork_column(header),
        );
        return connection.prepare_cached(sql)?.insert(values).map(Some);
    };

    let sql = "SELECT coalesce(max(number), 0) FROM lines
               WHERE run = ?1 AND EXISTS (SELECT 1 FROM runs WHERE key = ?1)";
    let last: i64 = connection
        .prepare_cached(sql)?
        .query_one([key], |row| row.get(0))?;
    if last == 0 || edit.replaces.is_none() && last + 1 != count(edit.first) {
        return Ok(None);
    }

    if edit.replaces.is_some() {
        let sql = "DELETE FROM lines WHERE run = ?1";
        connection.prepare_cached(sql)?.execute([key])?;
    }
    Ok(Some(key))
}

fn write_wait(connection: &Connection, key: i64, change: &WaitChange) -> rusqlite::Result<usize> {
    match change {
        WaitChange::Began { line, event, until } => {
            let sql = "INSERT INTO waits (run, line, event, until) VALUES (?1, ?2, ?3, ?4)";
            let values = (key, count(*line), event, until.map(millis));
            connection.prepare_cached(sql)?.execute(values)
        }
        WaitChange::Ended { line } => {
            let sql = "DELETE FROM waits WHERE run = ?1 AND line = ?2";
            connection.prepare_cached(sql)?.execute((key, count(*line)))
        }
        WaitChange::AllEnded => {
            let sql = "DELETE FROM waits WHERE run = ?1";
            connection.prepare_cached(sql)?.execute([key])
        }
    }
}

fn list(reader: &Connection, query: &RunQuery) -> rusqlite::Result<Vec<RunSummary>> {
    let conditions = query.conditions();
    let all: String = conditions
        .iter()
        .map(|(condition, _)| format!(" AND {condition}"))
        .collect();
    let values = conditions.iter().map(|(_, value)| value);

    let sql = format!(
        "SELECT key, id, flow, started, status, fork, number, line, at
         FROM runs JOIN lines ON run = key
             AND number = (SELECT max(number) FROM lines WHERE run = key)
         WHERE true{all} ORDER BY {} LIMIT {} OFFSET {}",
        query.order(),
        query.limit,
        query.offset
    );
    let mut find = reader.prepare_cached(&sql)?;
    let runs = find.query_map(params_from_iter(values), |row| summary(reader, row))?;
    runs.collect()
}

fn summary(reader: &Connection, row: &Row<'_>) -> rusqlite::Result<RunSummary> {
    let status: String = row.get("status")?;
    let waits = if status == "paused" {
        waits_of(reader, row.get("key")?)?
    } else {
        Vec::new()
    };

    let row = RunRow {
        run_id: row.get("id")?,
        flow: row.get("flow")?,
        fork: row.get("fork")?,
        started: row.get("started")?,
        status,
        lines: row.get("number")?,
        last: row.get("line")?,
        updated: row.get("at")?,
        waits,
    };
    Ok(row.summary())
}

fn waits_of(reader: &Connection, key: i64) -> rusqlite::Result<Vec<WaitRow>> {
    let mut find = reader.prepare_cached(
        "SELECT lines.line, until FROM waits JOIN lines
             ON lines.run = waits.run AND number = waits.line
         WHERE waits.run = ?1 ORDER BY number",
    )?;
    let waits = find.query_map([key], |row| {
        Ok(WaitRow {
            line: row.get(0)?,
            until: row.get(1)?,
        })
    })?;
    waits.collect()
}
