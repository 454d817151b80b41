//! One database, shared by all its runs in this process.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, ErrorCode};
use tokio::runtime::Handle;

use super::connect::Reader;
use super::files::{Files, OpenFiles};
use super::turns::{HandOver, Queue, Refused, Row, Told, Turn, Waiting};
use crate::StoreError;
use crate::error::Kind;

/// One connection to write and one to read. More would be no faster: SQLite writes one transaction at
/// a time.
pub(super) struct Database {
    pub(super) files: Files,
    sync: bool,
    writer: Mutex<Option<Open>>,
    reader: Mutex<Option<Open>>,
    queue: Mutex<Queue>,
}

/// A connection, and the files it has open.
pub(super) struct Open {
    pub(super) connection: Connection,
    pub(super) seen: OpenFiles,
}

impl Database {
    pub(super) fn new(path: PathBuf, sync: bool) -> Self {
        Self {
            files: Files::new(path),
            sync,
            writer: Mutex::default(),
            reader: Mutex::default(),
            queue: Mutex::default(),
        }
    }

    pub(super) fn sync(&self) -> bool {
        self.sync
    }

    pub(super) fn place(&self) -> String {
        self.files.place()
    }

    /// Writes a part of a transaction, together with those of all others who wait for their turn. `is_new` says
    /// that the run is not in the database yet, which is then created if need be.
    pub(super) fn write(
        &self,
        is_new: bool,
        part: impl FnOnce(&Open) -> Result<Row, Refused> + Send + 'static,
    ) -> Result<Row, StoreError> {
        let turn = Turn::join(&self.queue, is_new, Box::new(part));
        let mut told = turn.wait();
        if let Told::Write = told {
            self.write_waiting();
            told = turn.wait();
        }

        match told {
            Told::Written(Some(written)) => written,
            Told::Written(None) | Told::Write => Err(StoreError::new(
                Kind::Other,
                format_args!("{}: writing was broken off", self.place()),
            )),
        }
    }

    fn write_waiting(&self) {
        let _next = HandOver(&self.queue);
        let mut parts = std::mem::take(&mut lock(&self.queue).waiting);
        let mut writer = lock(&self.writer);

        if let Err(error) = self.write_to(&mut writer, &mut parts) {
            parts
                .iter_mut()
                .for_each(|waiting| waiting.written = Some(Err(error.clone())));
        }
    }

    fn write_to(&self, writer: &mut Option<Open>, parts: &mut [Waiting]) -> Result<(), StoreError> {
        let starts_a_run = parts.iter().any(|waiting| waiting.is_new);

        // Other runs are not in the new database, and are told so below.
        if starts_a_run {
            self.close_if_replaced(writer)?;
        }

        let open = match writer.take() {
            Some(open) => open,
            None => self.writer(starts_a_run)?,
        };
        let open = writer.insert(open);

        self.write_all(open, parts);

        // Nothing counts as recorded that cannot be found.
        self.files.check(&open.seen)
    }

    /// Closes the connection if the database was replaced, so that the next one opens the new database.
    fn close_if_replaced(&self, connection: &mut Option<Open>) -> Result<(), StoreError> {
        if let Some(open) = connection
            && self.files.database_is_replaced(&open.seen)?
        {
            *connection = None;
        }

        Ok(())
    }

    /// All in one transaction, which is synced once. A part that fails takes no other with it.
    fn write_all(&self, open: &Open, parts: &mut [Waiting]) {
        let cannot = |error| self.failed("cannot be written", error);
        let run = |sql| open.connection.prepare_cached(sql)?.execute([]).map(drop);
        let refused = |refused| match refused {
            Refused::BySqlite(error) => cannot(error),
            Refused::ByRun(error) => error,
        };

        let begun = run("BEGIN IMMEDIATE").map_err(cannot);
        if begun.is_ok() {
            for Waiting { part, written, .. } in &mut *parts {
                let saved = run("SAVEPOINT part").map_err(Refused::from);
                let answer = saved.and_then(|()| part.take().map(|part| part(open)).transpose());
                if answer.is_err() {
                    // Where that fails, there is no transaction any more, and the end says so.
                    let _ = run("ROLLBACK TO part");
                }

                let released = run("RELEASE part").map_err(Refused::from);
                *written = answer
                    .and_then(|row| released.map(|()| row))
                    .map_err(refused)
                    .transpose();
            }
        }

        if let Err(error) = begun.and_then(|()| run("COMMIT").map_err(cannot)) {
            let _ = run("ROLLBACK");
            parts
                .iter_mut()
                .for_each(|waiting| waiting.written = Some(Err(error.clone())));
        }
    }

    /// Reads, where there is a database.
    pub(super) fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        let failed = |error| self.failed("cannot be read", error);
        let mut reader = lock(&self.reader);
        self.close_if_replaced(&mut reader)?;

        // If only a file next to the database was replaced, SQLite keeps using the old one as long as any
        // connection of this process has it open.
        if let Some(open) = reader.as_ref() {
            self.files.check(&open.seen)?;
        }

        let open = match reader.take() {
            Some(open) => Some(Reader::Shared(open)),
            None => self.reader()?,
        };
        match open {
            None => Ok(None),
            Some(Reader::Alone(connection)) => work(&connection).map(Some).map_err(failed),
            Some(Reader::Shared(open)) => work(&reader.insert(open).connection)
                .map(Some)
                .map_err(failed),
        }
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
        let Self { files, sync, .. } = self;
        f.debug_struct("Database")
            .field("path", &files.path())
            .field("sync", sync)
            .finish_non_exhaustive()
    }
}
