//! Many runs in one SQLite database.

mod database;

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use cogwork_text::files::{Folder, LockFile, safe_name};
use rusqlite::{Connection, OptionalExtension, Row, params_from_iter};

use self::database::Database;
use crate::backend::{Backend, EVENTS_PART, Edit, Expected, Held, Taken, TextLine, blocking};
use crate::header::now;
use crate::rows::{RunRow, count, event_line, fork_column};
use crate::{EventLine, RunQuery, RunSummary, StoreError, StoreErrorKind, lock};

/// A SQLite database with many runs.
#[derive(Debug, Clone)]
pub(crate) struct Sqlite(Arc<Database>);

impl Sqlite {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self(Arc::new(Database::new(path)))
    }

    fn take_now(&self, run_id: &str, expected: Expected) -> Result<Option<Taken>, StoreError> {
        // Before the lock, so that neither a failed lookup nor a file that is no database leaves one.
        let exists = self.lines(run_id, &(1..1))?.is_some();
        if expected == Expected::Existing && !exists {
            return Ok(None);
        }

        let (_, lock) = self.lock(run_id)?;
        // Read under the lock, since the last process may have written until it let go of it.
        let found = self.lines(run_id, &(1..u64::MAX))?;
        if found.is_some() && expected == Expected::New {
            return Err(StoreError::already_there(run_id, &self.place()));
        }

        let (key, lines) = found.unzip();
        let held = HeldRow {
            database: Arc::clone(&self.0),
            run_id: run_id.to_owned(),
            key,
            lock: Arc::new(lock),
        };
        Ok(Some(Taken {
            held: Box::new(held),
            lines: lines.unwrap_or_default(),
            offered: Vec::new(),
            now: None,
        }))
    }

    fn lock(&self, run_id: &str) -> Result<(Folder, LockFile), StoreError> {
        let folder = lock::create(&self.0.place.locks)?;
        let lock = lock::take(&folder, &lock_name(run_id), run_id)?;
        Ok((folder, lock))
    }

    /// Returns the key of a run and some of its lines, or `None` if it doesn't exist.
    fn lines(
        &self,
        run_id: &str,
        numbers: &Range<u64>,
    ) -> Result<Option<(i64, Vec<TextLine>)>, StoreError> {
        let found = self.0.read(|reader| {
            let Some(key) = key(reader, run_id)? else {
                return Ok(None);
            };

            let sql = "SELECT line, at FROM lines
                 WHERE run = ?1 AND number >= ?2 AND number < ?3 ORDER BY number";
            let mut find = reader.prepare(sql)?;
            let range = (key, count(numbers.start), count(numbers.end));
            let lines = find.query_map(range, |row| {
                let at: Option<i64> = row.get(1)?;
                Ok(TextLine {
                    text: row.get(0)?,
                    at: at.and_then(|at| at.try_into().ok()),
                })
            })?;
            Ok(Some((key, lines.collect::<Result<_, _>>()?)))
        });
        Ok(found?.flatten())
    }

    fn events(&self, run_id: &str, from: u64) -> Result<Option<Vec<EventLine>>, StoreError> {
        let found = self.0.read(|reader| {
            let Some(key) = key(reader, run_id)? else {
                return Ok(None);
            };

            let sql = "SELECT number, event FROM events
                 WHERE run = ?1 AND number >= ?2 ORDER BY number";
            let mut find = reader.prepare(sql)?;
            let mut rows = find.query((key, count(from)))?;
            let mut events = Vec::new();
            let mut bytes = 0;
            // Rows are read one by one, so that a long run isn't in memory as a whole.
            while bytes < EVENTS_PART
                && let Some(row) = rows.next()?
            {
                let event = event_line(row.get(0)?, row.get(1)?);
                bytes += event.json.len();
                events.push(event);
            }
            Ok(Some(events))
        });
        Ok(found?.flatten())
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
    let sql = "SELECT key FROM runs WHERE id = ?1";
    let key = connection.query_row(sql, [run_id], |row| row.get(0));
    key.optional()
}

#[async_trait]
impl Backend for Sqlite {
    fn place(&self) -> String {
        self.0.place.shown()
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
        let read = move |store: &Self, run_id: &str| store.lines(run_id, &numbers);
        let found = self.run(run_id, read).await?;
        Ok(found.map(|(_, lines)| lines))
    }

    async fn read_events(
        &self,
        run_id: &str,
        from: u64,
    ) -> Result<Option<Vec<EventLine>>, StoreError> {
        let read = move |store: &Self, run_id: &str| store.events(run_id, from);
        self.run(run_id, read).await
    }

    async fn list(&self, query: RunQuery) -> Result<Vec<RunSummary>, StoreError> {
        let list = move |store: &Self, _: &str| store.0.read(|reader| list(reader, &query));
        let listed = self.run("", list).await?;
        // A database that doesn't exist has no runs.
        Ok(listed.unwrap_or_default())
    }

    async fn remove(&self, run_id: &str) -> Result<bool, StoreError> {
        let locked = self.run(run_id, |store, run_id| {
            if store.lines(run_id, &(1..1))?.is_none() {
                return Ok(None);
            }
            store.lock(run_id).map(Some)
        });
        let Some((folder, lock)) = locked.await? else {
            return Ok(false);
        };

        // The other tables follow through their foreign keys.
        let id = run_id.to_owned();
        let remove = move |connection: &Connection| {
            let removed = connection.execute("DELETE FROM runs WHERE id = ?1", [&id])?;
            Ok(count(removed))
        };
        // The lock is held until the rows are gone, so that nobody resumes the run meanwhile.
        let removed = self.0.write(true, remove).await?;
        lock::remove(&folder, &lock_name(run_id), lock);
        Ok(removed > 0)
    }

    async fn is_in_use(&self, run_id: &str) -> Result<Option<bool>, StoreError> {
        let is_in_use = |store: &Self, run_id: &str| {
            if store.lines(run_id, &(1..1))?.is_none() {
                return Ok(None);
            }
            let folder = lock::create(&store.0.place.locks)?;
            lock::is_taken(&folder, &lock_name(run_id), run_id).map(Some)
        };
        self.run(run_id, is_in_use).await
    }
}

/// A run that is locked.
struct HeldRow {
    database: Arc<Database>,
    run_id: String,
    /// The key of its row, if it exists.
    key: Option<i64>,
    /// Also held by changes that are queued, which are written even if nobody waits for them.
    lock: Arc<LockFile>,
}

#[async_trait]
impl Held for HeldRow {
    async fn write(&mut self, edit: Edit) -> Result<(), StoreError> {
        let (key, run_id) = (self.key, self.run_id.clone());
        let lock = Arc::clone(&self.lock);
        let write = move |connection: &Connection| {
            // The queue has the lock, too, so the run stays taken until this is written.
            let _locked = &lock;
            write(connection, key, &run_id, &edit)
        };
        let written = self.database.write(true, write).await;
        self.key = Some(written.map_err(|error| self.failed(error))?);
        Ok(())
    }

    async fn write_events(&mut self, events: Vec<String>) -> Result<(), StoreError> {
        let Some(key) = self.key else {
            return Ok(());
        };
        let lock = Arc::clone(&self.lock);
        let write = move |connection: &Connection| {
            let _locked = &lock;
            write_events(connection, key, &events)
        };
        // Not synced, because a run continues without its events.
        let written = self.database.write(false, write).await;
        written.map(drop).map_err(|error| self.failed(error))
    }
}

impl HeldRow {
    /// Adds which run it is to an error about its rows.
    fn failed(&self, error: StoreError) -> StoreError {
        match error.kind() {
            StoreErrorKind::Gone => StoreError::gone(&self.run_id, &self.database.place.shown()),
            _ => error,
        }
    }
}

/// Writes a change. Returns the key of the run.
fn write(
    connection: &Connection,
    key: Option<i64>,
    run_id: &str,
    edit: &Edit,
) -> rusqlite::Result<i64> {
    let execute = |sql: &str, values: &[&dyn rusqlite::ToSql]| {
        connection.prepare_cached(sql)?.execute(values)
    };

    let key = match (key, &edit.replaces) {
        (None, Some(header)) => {
            let sql = "INSERT INTO runs (id, flow, started, status, fork) VALUES (?1, ?2, ?3, 'open', ?4)";
            let started = count(header.started);
            execute(
                sql,
                &[&run_id, &header.flow, &started, &fork_column(header)],
            )?;
            connection.last_insert_rowid()
        }
        // Snapshots replace the lines and keep the events, which people still want to see.
        (Some(key), Some(_)) => {
            execute("DELETE FROM lines WHERE run = ?1", &[&key])?;
            execute("DELETE FROM waits WHERE run = ?1", &[&key])?;
            key
        }
        // No row has the key 0, so the foreign key refuses it.
        (key, None) => key.unwrap_or_default(),
    };

    // A line that is there already is an error: somebody else has written it.
    for (number, line) in (edit.first..).zip(&edit.lines) {
        let sql = "INSERT INTO lines (run, number, line, at) VALUES (?1, ?2, ?3, ?4)";
        // The first line contains when the run was started.
        let at = (number > 1).then(|| count(line.at.unwrap_or_else(now)));
        execute(sql, &[&key, &count(number), &line.text, &at])?;
    }
    for wait in &edit.waits.begun {
        let sql = "INSERT INTO waits (run, line, event, until) VALUES (?1, ?2, ?3, ?4)";
        let until = wait.until.map(count);
        execute(sql, &[&key, &count(wait.line), &wait.event, &until])?;
    }
    for line in &edit.waits.ended {
        let sql = "DELETE FROM waits WHERE run = ?1 AND line = ?2";
        execute(sql, &[&key, &count(*line)])?;
    }
    for (event, is_answered) in &edit.waits.answered {
        let sql = "UPDATE waits SET answered = ?3 WHERE run = ?1 AND event = ?2 AND answered <> ?3";
        execute(sql, &[&key, event, is_answered])?;
    }
    if let Some(status) = edit.status {
        execute(
            "UPDATE runs SET status = ?2 WHERE key = ?1",
            &[&key, &status],
        )?;
    }
    Ok(key)
}

fn write_events(connection: &Connection, key: i64, events: &[String]) -> rusqlite::Result<i64> {
    let sql = "INSERT INTO events (run, number, event)
         SELECT ?1, (SELECT coalesce(max(number) + 1, 0) FROM events WHERE run = ?1), ?2";
    let mut insert = connection.prepare_cached(sql)?;
    for event in events {
        insert.execute((key, event))?;
    }
    Ok(key)
}

fn list(reader: &Connection, query: &RunQuery) -> rusqlite::Result<Vec<RunSummary>> {
    let (sql, values) = query.sql("");
    let mut find = reader.prepare(&sql.replace("@.", ""))?;
    let runs = find.query_map(params_from_iter(values), summary)?;
    runs.collect()
}

fn summary(row: &Row<'_>) -> rusqlite::Result<RunSummary> {
    let row = RunRow {
        run_id: row.get("id")?,
        flow: row.get("flow")?,
        fork: row.get("fork")?,
        started: row.get("started")?,
        status: row.get("status")?,
        lines: row.get("number")?,
        last: row.get("line")?,
        updated: row.get("at")?,
        waits: row.get("waiting")?,
    };
    Ok(row.summary())
}
