//! One database, shared by all its runs in this process.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::sync::{Arc, Mutex};
use std::thread;

use rusqlite::Connection;
use tokio::runtime::Handle;

use super::connect::Connector;
use super::failure::Failure;
use crate::StoreError;
use crate::error::Kind;
use crate::mutex::lock;

/// One connection for writing and one for reading. More wouldn't be faster: SQLite writes one
/// transaction at a time.
pub(super) struct Database {
    pub(super) connector: Arc<Connector>,
    /// The thread that writes, which ends once this is dropped.
    writer: Mutex<Option<Sender<Waiting>>>,
    reader: Mutex<Option<Connection>>,
}

/// A part of a transaction. Returns the key of its run.
type Part = Box<dyn FnOnce(&Connection) -> Result<i64, Failure> + Send>;

/// A part to write, and who waits for it.
struct Waiting {
    part: Part,
    done: SyncSender<Result<i64, StoreError>>,
}

impl Database {
    pub(super) fn new(path: PathBuf, sync: bool) -> Self {
        Self {
            connector: Arc::new(Connector::new(path, sync)),
            writer: Mutex::default(),
            reader: Mutex::default(),
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
        let (done, written) = mpsc::sync_channel(1);
        let part = Box::new(part);
        self.send(Waiting { part, done })?;

        let interrupted = || {
            let text = format_args!("{}: writing was interrupted", self.place());
            StoreError::new(Kind::Other, text)
        };
        written.recv().unwrap_or_else(|_| Err(interrupted()))
    }

    /// Passes a part to the thread that writes.
    fn send(&self, waiting: Waiting) -> Result<(), StoreError> {
        let mut writer = lock(&self.writer);
        let sender = match writer.take() {
            Some(sender) => sender,
            None => self.start_writer()?,
        };

        // If the thread has panicked, nobody answers.
        let _ = writer.insert(sender).send(waiting);
        Ok(())
    }

    fn start_writer(&self) -> Result<Sender<Waiting>, StoreError> {
        let (sender, waiting) = mpsc::channel();
        let connector = Arc::clone(&self.connector);
        let writing = thread::Builder::new()
            .name("cogwork-sqlite".to_owned())
            .spawn(move || write_all(&connector, &waiting));

        writing.map_err(|error| {
            StoreError::io(format_args!("{}: cannot be written", self.place()), error)
        })?;
        Ok(sender)
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
}

/// Writes parts until the database is dropped. Those that wait at the same time share a transaction.
fn write_all(connector: &Connector, waiting: &Receiver<Waiting>) {
    let mut connection = None;

    while let Ok(first) = waiting.recv() {
        let all = [first].into_iter().chain(waiting.try_iter());
        let (parts, waiting): (Vec<_>, Vec<_>) = all.map(|one| (one.part, one.done)).unzip();

        let written = write_together(connector, &mut connection, parts);
        let written = written.unwrap_or_else(|error| vec![Err(error); waiting.len()]);
        for (done, written) in waiting.iter().zip(written) {
            let _ = done.send(written);
        }
    }
}

/// Writes all parts in one transaction, which is synced once. If a part fails, the others are still
/// written.
fn write_together(
    connector: &Connector,
    connection: &mut Option<Connection>,
    parts: Vec<Part>,
) -> Result<Vec<Result<i64, StoreError>>, StoreError> {
    let open = match connection.take() {
        Some(open) => open,
        None => connector.writer()?,
    };
    let open = &*connection.insert(open);
    let failed = |failure: Failure| connector.failed("cannot be written", failure);

    execute(open, "BEGIN IMMEDIATE").map_err(|error| failed(error.into()))?;
    let written = parts
        .into_iter()
        .map(|part| write_part(open, part).map_err(failed));
    let written = written.collect();

    if let Err(error) = execute(open, "COMMIT") {
        let _ = execute(open, "ROLLBACK");
        return Err(failed(error.into()));
    }

    Ok(written)
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

/// Closing the connection must not block an async thread.
impl Drop for Database {
    fn drop(&mut self) {
        let reader = lock(&self.reader).take();

        if let Ok(runtime) = Handle::try_current() {
            drop(runtime.spawn_blocking(move || drop(reader)));
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
