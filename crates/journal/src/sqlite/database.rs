//! One database, shared by all its runs in this process.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use rusqlite::Connection;
use tokio::runtime::Handle;

use super::connect::Connector;
use super::failure::Failure;
use super::turns::{HandOver, Message, Outcome, Part, Queue, Turn, Waiting};
use crate::StoreError;
use crate::error::Kind;
use crate::mutex::lock;

/// One connection for writing and one for reading. More wouldn't be faster: SQLite writes one
/// transaction at a time.
pub(super) struct Database {
    pub(super) connector: Connector,
    writer: Mutex<Option<Connection>>,
    reader: Mutex<Option<Connection>>,
    queue: Mutex<Queue>,
}

impl Database {
    pub(super) fn new(path: PathBuf, sync: bool) -> Self {
        Self {
            connector: Connector { path, sync },
            writer: Mutex::default(),
            reader: Mutex::default(),
            queue: Mutex::default(),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.connector.path
    }

    pub(super) fn place(&self) -> String {
        self.connector.place()
    }

    /// Writes a part of a transaction, together with the parts of all other threads that are
    /// waiting. Returns the key of its run.
    pub(super) fn write(
        &self,
        part: impl FnOnce(&Connection) -> Result<i64, Failure> + Send + 'static,
    ) -> Result<i64, StoreError> {
        let turn = Turn::join(&self.queue, Box::new(part));
        let mut message = turn.wait();
        if let Message::Write = message {
            self.write_waiting();
            message = turn.wait();
        }

        match message {
            Message::Done(Outcome::Written(key)) => Ok(key),
            Message::Done(Outcome::Failed(error)) => Err(error),
            Message::Done(Outcome::Interrupted) | Message::Write => Err(StoreError::new(
                Kind::Other,
                format_args!("{}: writing was interrupted", self.place()),
            )),
        }
    }

    /// Removes the rows of a run.
    pub(super) fn remove(&self, run_id: String) -> Result<(), StoreError> {
        let removed = self.write(move |connection| {
            // The other tables follow through their foreign keys.
            let sql = "DELETE FROM runs WHERE id = ?1 RETURNING key";
            let mut remove = connection.prepare_cached(sql)?;
            Ok(remove.query_row([run_id], |row| row.get(0))?)
        });
        removed.map(drop)
    }

    fn write_waiting(&self) {
        let _next = HandOver(&self.queue);
        let mut parts = std::mem::take(&mut lock(&self.queue).waiting);
        let mut writer = lock(&self.writer);

        if let Err(error) = self.write_to(&mut writer, &mut parts) {
            fail_all(&mut parts, &error);
        }
    }

    fn write_to(
        &self,
        writer: &mut Option<Connection>,
        parts: &mut [Waiting],
    ) -> Result<(), StoreError> {
        let connection = match writer.take() {
            Some(connection) => connection,
            None => self.connector.writer()?,
        };

        self.write_all(writer.insert(connection), parts);
        Ok(())
    }

    /// Writes all parts in one transaction, which is synced once. If a part fails, the others are
    /// still written.
    fn write_all(&self, connection: &Connection, parts: &mut [Waiting]) {
        let begun = execute(connection, "BEGIN IMMEDIATE");

        if begun.is_ok() {
            for waiting in &mut *parts {
                let part = waiting.part.take();
                let written = part.map(|part| write_part(connection, part));

                waiting.outcome = match written {
                    Some(Ok(key)) => Outcome::Written(key),
                    Some(Err(failure)) => Outcome::Failed(self.cannot_write(failure)),
                    None => Outcome::Interrupted,
                };
            }
        }

        if let Err(error) = begun.and_then(|()| execute(connection, "COMMIT")) {
            let _ = execute(connection, "ROLLBACK");
            fail_all(parts, &self.cannot_write(error));
        }
    }

    /// Reads from the database. Returns `None` if it doesn't exist.
    pub(super) fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Failure>,
    ) -> Result<Option<T>, StoreError> {
        let mut reader = lock(&self.reader);
        let connection = match reader.take() {
            Some(connection) => Some(connection),
            None => self.connector.reader()?,
        };

        let Some(connection) = connection else {
            return Ok(None);
        };
        let read = work(reader.insert(connection));
        let read = read.map_err(|failure| self.connector.failed("cannot be read", failure));
        read.map(Some)
    }

    fn cannot_write(&self, failure: impl Into<Failure>) -> StoreError {
        self.connector.failed("cannot be written", failure)
    }
}

/// Writes a part, all of it or nothing.
fn write_part(connection: &Connection, part: Part) -> Result<i64, Failure> {
    execute(connection, "SAVEPOINT part")?;

    let written = part(connection);
    if written.is_err() {
        // If this fails, the transaction is gone, and committing it reports that.
        let _ = execute(connection, "ROLLBACK TO part");
    }

    let released = execute(connection, "RELEASE part");
    let key = written?;
    released?;
    Ok(key)
}

/// Executes a statement without parameters and results.
fn execute(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute([]).map(drop)
}

fn fail_all(parts: &mut [Waiting], error: &StoreError) {
    for waiting in parts {
        waiting.outcome = Outcome::Failed(error.clone());
    }
}

/// The last connection copies the content of the WAL to the database, which must not block an async
/// thread.
impl Drop for Database {
    fn drop(&mut self) {
        let writer = lock(&self.writer).take();
        let reader = lock(&self.reader).take();

        if let Ok(runtime) = Handle::try_current() {
            drop(runtime.spawn_blocking(move || drop((writer, reader))));
        }
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database")
            .field("path", &self.path())
            .field("sync", &self.connector.sync)
            .finish_non_exhaustive()
    }
}
