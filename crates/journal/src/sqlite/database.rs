//! One database, shared by all its runs in this process.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, ErrorCode};
use tokio::runtime::Handle;

use crate::StoreError;
use crate::error::Kind;

/// One connection to write and one to read. More would be no faster: SQLite writes one transaction at
/// a time.
pub(super) struct Database {
    path: PathBuf,
    sync: bool,
    writer: Mutex<Option<Connection>>,
    reader: Mutex<Option<Connection>>,
    waiting: Mutex<Vec<Waiting>>,
}

/// A part of a transaction, which answers the key of its run.
type Part = Box<dyn FnOnce(&Connection) -> rusqlite::Result<i64> + Send>;

struct Waiting {
    part: Part,
    done: Done,
}

type Done = Arc<Mutex<Option<Result<i64, StoreError>>>>;

impl Database {
    pub(super) fn new(path: PathBuf, sync: bool) -> Self {
        let (writer, reader, waiting) = (Mutex::default(), Mutex::default(), Mutex::default());
        Self { path, sync, writer, reader, waiting }
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
        let done = Done::default();
        lock(&self.waiting).push(Waiting { part: Box::new(part), done: Arc::clone(&done) });
        let mut writer = lock(&self.writer);
        // Whoever had the connection before may have done it.
        if let Some(done) = lock(&done).take() {
            return done;
        }
        if writer.is_none() {
            *writer = Some(self.writer()?);
        }
        let all = std::mem::take(&mut *lock(&self.waiting));
        if let Some(writer) = writer.as_ref() {
            self.write_all(writer, all);
        }
        let done = lock(&done).take();
        done.unwrap_or_else(|| {
            Err(StoreError::new(Kind::Other, format_args!("{}: writing was broken off", self.place())))
        })
    }

    /// All in one transaction, which is synced once. A part that fails takes no other with it.
    fn write_all(&self, writer: &Connection, all: Vec<Waiting>) {
        let cannot = |error| self.failed("cannot be written", error);
        let run = |sql| writer.prepare_cached(sql)?.execute([]).map(drop);
        let begun = run("BEGIN IMMEDIATE").map_err(cannot);
        let mut answers = Vec::with_capacity(all.len());
        for Waiting { part, done } in all {
            let answer = begun.clone().and_then(|()| {
                let answer = run("SAVEPOINT part").and_then(|()| part(writer));
                if answer.is_err() {
                    // Where that fails, there is no transaction any more, and the end says so.
                    let _ = run("ROLLBACK TO part");
                }
                let released = run("RELEASE part");
                answer.and_then(|key| released.map(|()| key)).map_err(cannot)
            });
            answers.push((answer, done));
        }
        let ended = begun.and_then(|()| run("COMMIT").map_err(cannot));
        if ended.is_err() {
            let _ = run("ROLLBACK");
        }
        for (answer, done) in answers {
            *lock(&done) = Some(ended.clone().and(answer));
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What a panic left half done is no transaction that ends well.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, sync, .. } = self;
        f.debug_struct("Database").field("path", path).field("sync", sync).finish_non_exhaustive()
    }
}
