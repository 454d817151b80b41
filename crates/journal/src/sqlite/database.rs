//! One database, shared by all its runs in this process.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::connect::Connector;
use crate::StoreError;
use crate::backend::blocking;
use crate::error::Kind;
use crate::mutex::lock;

/// One connection for writing and one for reading. More wouldn't be faster: SQLite writes one
/// transaction at a time.
pub(super) struct Database {
    connector: Connector,
    /// The folder of the lock files.
    pub(super) locks: PathBuf,
    waiting: Mutex<Vec<Waiting>>,
    writer: Arc<tokio::sync::Mutex<Option<Connection>>>,
    reader: Mutex<Option<Connection>>,
}

/// A part of a transaction. Returns the key of its run, or `None` if there is nothing to write to.
type Part = Box<dyn FnOnce(&Connection) -> rusqlite::Result<Option<i64>> + Send>;

/// A part to write, and who waits for it.
struct Waiting {
    part: Part,
    /// Whether it must be on disk before anybody uses it.
    is_durable: bool,
    done: oneshot::Sender<Result<Option<i64>, StoreError>>,
}

impl Database {
    pub(super) fn new(path: PathBuf) -> Self {
        let mut locks = path.clone().into_os_string();
        locks.push("-locks");

        Self {
            locks: locks.into(),
            connector: Connector { path },
            waiting: Mutex::default(),
            writer: Arc::default(),
            reader: Mutex::default(),
        }
    }

    pub(super) fn place(&self) -> String {
        self.connector.place()
    }

    /// Writes a part of a transaction durably, together with all others that are waiting.
    pub(super) async fn write(
        self: &Arc<Self>,
        part: impl FnOnce(&Connection) -> rusqlite::Result<Option<i64>> + Send + 'static,
    ) -> Result<Option<i64>, StoreError> {
        self.put(Box::new(part), true).await
    }

    /// Writes a part of a transaction that a power cut may undo.
    pub(super) async fn write_behind(
        self: &Arc<Self>,
        part: impl FnOnce(&Connection) -> rusqlite::Result<Option<i64>> + Send + 'static,
    ) -> Result<Option<i64>, StoreError> {
        self.put(Box::new(part), false).await
    }

    async fn put(
        self: &Arc<Self>,
        part: Part,
        is_durable: bool,
    ) -> Result<Option<i64>, StoreError> {
        let (done, written) = oneshot::channel();
        lock(&self.waiting).push(Waiting {
            part,
            is_durable,
            done,
        });

        // Whoever comes first writes what all others have queued in the meantime.
        let mut connection = Arc::clone(&self.writer).lock_owned().await;
        let waiting = std::mem::take(&mut *lock(&self.waiting));
        if !waiting.is_empty() {
            let database = Arc::clone(self);
            let write = move || database.write_together(&mut connection, waiting);
            blocking(self.place(), write).await?;
        }

        let interrupted = || {
            let text = format_args!("{}: writing was interrupted", self.place());
            Err(StoreError::new(Kind::Other, text))
        };
        written.await.unwrap_or_else(|_| interrupted())
    }

    /// Writes all parts in one transaction, which is synced once.
    fn write_together(
        &self,
        connection: &mut Option<Connection>,
        waiting: Vec<Waiting>,
    ) -> Result<(), StoreError> {
        let is_durable = waiting.iter().any(|one| one.is_durable);
        let (parts, done): (Vec<_>, Vec<_>) =
            waiting.into_iter().map(|one| (one.part, one.done)).unzip();

        let written = self.transaction(connection, parts, is_durable);
        let written = match written {
            Ok(keys) => keys.into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error); done.len()],
        };
        for (done, written) in done.into_iter().zip(written) {
            let _ = done.send(written);
        }
        Ok(())
    }

    fn transaction(
        &self,
        connection: &mut Option<Connection>,
        parts: Vec<Part>,
        is_durable: bool,
    ) -> Result<Vec<Option<i64>>, StoreError> {
        let open = match connection.take() {
            Some(open) => open,
            None => self.connector.writer(&self.locks)?,
        };

        let open = connection.insert(open);
        let write = || {
            // In WAL mode, a transaction is only synced with `FULL`.
            let synchronous = if is_durable { "FULL" } else { "NORMAL" };
            open.pragma_update(None, "synchronous", synchronous)?;

            let immediate = rusqlite::TransactionBehavior::Immediate;
            let transaction = open.transaction_with_behavior(immediate)?;
            let parts = parts.into_iter();
            let keys = parts.map(|part| part(&transaction));
            let keys = keys.collect::<Result<_, _>>()?;
            transaction.commit()?;
            Ok(keys)
        };
        write().map_err(|error| self.connector.failed("cannot be written", error))
    }

    /// Reads from the database. Returns `None` if it doesn't exist.
    pub(super) fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
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
        let read = read.map_err(|error| self.connector.failed("cannot be read", error));
        read.map(Some)
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database")
            .field("path", &self.connector.path)
            .finish_non_exhaustive()
    }
}
