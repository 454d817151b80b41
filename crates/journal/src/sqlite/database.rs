//! One database, shared by all its runs in this process.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, ErrorCode};
use tokio::runtime::Handle;

use super::turns::{HandOver, Queue, Told, Turn, Waiting};
use crate::StoreError;
use crate::error::Kind;

/// One connection to write and one to read. More would be no faster: SQLite writes one transaction at
/// a time.
pub(super) struct Database {
    path: PathBuf,
    sync: bool,
    writer: Mutex<Option<Connection>>,
    reader: Mutex<Option<Connection>>,
    queue: Mutex<Queue>,
}

impl Database {
    pub(super) fn new(path: PathBuf, sync: bool) -> Self {
        let (writer, reader, queue) = (Mutex::default(), Mutex::default(), Mutex::default());
        Self { path, sync, writer, reader, queue }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// A folder for what is locked: the runs, and the making of the database.
    pub(super) fn locks(&self) -> PathBuf {
        let mut locks = OsString::from(&self.path);
        locks.push("-locks");
        locks.into()
    }

    pub(super) fn sync(&self) -> bool {
        self.sync
    }

    pub(super) fn place(&self) -> String {
        self.path.display().to_string()
    }

    /// Writes a part of a transaction, together with those of all others who wait for their turn.
    pub(super) fn write(
        &self,
        part: impl FnOnce(&Connection) -> rusqlite::Result<i64> + Send + 'static,
    ) -> Result<i64, StoreError> {
        let turn = Turn::join(&self.queue, Box::new(part));
        let mut told = turn.wait();
        if let Told::Write = told {
            self.write_waiting();
            told = turn.wait();
        }
        match told {
            Told::Written(Some(written)) => written,
            Told::Written(None) | Told::Write => {
                Err(StoreError::new(Kind::Other, format_args!("{}: writing was broken off", self.place())))
            }
        }
    }

    fn write_waiting(&self) {
        let _next = HandOver(&self.queue);
        let mut parts = std::mem::take(&mut lock(&self.queue).waiting);
        let mut writer = lock(&self.writer);
        match writer.take().map_or_else(|| self.writer(), Ok) {
            Ok(connection) => self.write_all(writer.insert(connection), parts),
            Err(error) => parts.iter_mut().for_each(|waiting| waiting.written = Some(Err(error.clone()))),
        }
    }

    /// All in one transaction, which is synced once. A part that fails takes no other with it.
    fn write_all(&self, writer: &Connection, mut parts: Vec<Waiting>) {
        let cannot = |error| self.failed("cannot be written", error);
        let run = |sql| writer.prepare_cached(sql)?.execute([]).map(drop);
        let begun = run("BEGIN IMMEDIATE").map_err(cannot);
        if begun.is_ok() {
            for Waiting { part, written, .. } in &mut parts {
                let answer =
                    run("SAVEPOINT part").and_then(|()| part.take().map_or(Ok(0), |part| part(writer)));
                if answer.is_err() {
                    // Where that fails, there is no transaction any more, and the end says so.
                    let _ = run("ROLLBACK TO part");
                }
                let released = run("RELEASE part");
                *written = Some(answer.and_then(|key| released.map(|()| key)).map_err(cannot));
            }
        }
        if let Err(error) = begun.and_then(|()| run("COMMIT").map_err(cannot)) {
            let _ = run("ROLLBACK");
            parts.iter_mut().for_each(|waiting| waiting.written = Some(Err(error.clone())));
        }
    }

    /// Reads, where there is a database.
    pub(super) fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        let mut reader = lock(&self.reader);
        if reader.is_none() {
            *reader = self.reader()?;
        }
        reader.as_ref().map(work).transpose().map_err(|error| self.failed("cannot be read", error))
    }

    pub(super) fn failed(&self, what: &str, error: rusqlite::Error) -> StoreError {
        let kind = match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => Kind::Damaged,
            _ => Kind::Other,
        };
        StoreError::caused(kind, format_args!("{}: {what}", self.place()), error)
    }
}

/// The last connection writes what is in the WAL to the database, which must not be done on an async
/// thread.
impl Drop for Database {
    fn drop(&mut self) {
        let connections = (lock(&self.writer).take(), lock(&self.reader).take());
        if let Ok(runtime) = Handle::try_current() {
            drop(runtime.spawn_blocking(move || drop(connections)));
        }
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What a panic left half done is no transaction that ends well.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, sync, .. } = self;
        f.debug_struct("Database").field("path", path).field("sync", sync).finish_non_exhaustive()
    }
}
