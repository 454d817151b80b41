//! One database, shared by all its runs in this process.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use rusqlite::Connection;
use tokio::runtime::Handle;

use super::connect::{Connector, Open, Reader};
use super::failure::Failure;
use super::files::Files;
use super::turns::{HandOver, Message, Outcome, Queue, Row, Turn, Waiting};
use crate::StoreError;
use crate::error::Kind;
use crate::mutex::lock;

/// One connection for writing and one for reading. More wouldn't be faster: SQLite writes one
/// transaction at a time.
pub(super) struct Database {
    connector: Connector,
    writer: Mutex<Option<Open>>,
    reader: Mutex<Option<Open>>,
    queue: Mutex<Queue>,
}

impl Database {
    pub(super) fn new(path: PathBuf, sync: bool) -> Self {
        let files = Files::new(path);

        Self {
            connector: Connector { files, sync },
            writer: Mutex::default(),
            reader: Mutex::default(),
            queue: Mutex::default(),
        }
    }

    pub(super) fn path(&self) -> &Path {
        self.files().path()
    }

    pub(super) fn place(&self) -> String {
        self.files().place()
    }

    pub(super) fn files(&self) -> &Files {
        &self.connector.files
    }

    /// Writes a part of a transaction, together with the parts of all other threads that are
    /// waiting. If `is_new` is `true`, the database doesn't contain the run yet, and is created if
    /// necessary.
    pub(super) fn write(
        &self,
        is_new: bool,
        part: impl FnOnce(&Open) -> Result<Row, Failure> + Send + 'static,
    ) -> Result<Row, StoreError> {
        let turn = Turn::join(&self.queue, is_new, Box::new(part));
        let mut message = turn.wait();
        if let Message::Write = message {
            self.write_waiting();
            message = turn.wait();
        }

        match message {
            Message::Done(Outcome::Written(row)) => Ok(row),
            Message::Done(Outcome::Failed(error)) => Err(error),
            Message::Done(Outcome::Interrupted) | Message::Write => Err(StoreError::new(
                Kind::Other,
                format_args!("{}: writing was interrupted", self.place()),
            )),
        }
    }

    /// Removes the rows of a run.
    pub(super) fn remove(&self, run_id: String) -> Result<(), StoreError> {
        let removed = self.write(false, move |open| {
            let sql = "DELETE FROM runs WHERE id = ?1 RETURNING key";
            let mut remove = open.connection.prepare_cached(sql)?;

            // The other tables follow through their foreign keys.
            Ok(Row {
                key: remove.query_row([run_id], |row| row.get(0))?,
                database: open.seen.database(),
            })
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

    fn write_to(&self, writer: &mut Option<Open>, parts: &mut [Waiting]) -> Result<(), StoreError> {
        let starts_a_run = parts.iter().any(|waiting| waiting.is_new);

        // The parts of other runs fail, since the new database doesn't contain them.
        if starts_a_run {
            self.close_if_replaced(writer)?;
        }

        let open = match writer.take() {
            Some(open) => open,
            None => self.connector.writer(starts_a_run)?,
        };
        let open = writer.insert(open);

        self.write_all(open, parts);

        // Nothing counts as recorded unless its file can be found.
        self.files().check(&open.seen)
    }

    /// Closes the connection if the database was replaced, so that the next one opens the new
    /// database.
    fn close_if_replaced(&self, connection: &mut Option<Open>) -> Result<(), StoreError> {
        if let Some(open) = connection
            && self.files().database_is_replaced(&open.seen)?
        {
            *connection = None;
        }

        Ok(())
    }

    /// Writes all parts in one transaction, which is synced once. If a part fails, the others are
    /// still written.
    fn write_all(&self, open: &Open, parts: &mut [Waiting]) {
        let begun = open.execute("BEGIN IMMEDIATE");

        if begun.is_ok() {
            for waiting in &mut *parts {
                let part = waiting.part.take();
                let written = part.map(|part| write_part(open, || part(open)));

                waiting.outcome = match written {
                    Some(Ok(row)) => Outcome::Written(row),
                    Some(Err(failure)) => Outcome::Failed(self.cannot_write(failure)),
                    None => Outcome::Interrupted,
                };
            }
        }

        if let Err(error) = begun.and_then(|()| open.execute("COMMIT")) {
            let _ = open.execute("ROLLBACK");
            fail_all(parts, &self.cannot_write(error));
        }
    }

    /// Reads from the database. Returns `None` if it doesn't exist.
    pub(super) fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Failure>,
    ) -> Result<Option<T>, StoreError> {
        let mut reader = lock(&self.reader);
        self.close_if_replaced(&mut reader)?;

        // If only a file next to the database was replaced, SQLite keeps using the old one as long
        // as any connection of this process has it open.
        if let Some(open) = reader.as_ref() {
            self.files().check(&open.seen)?;
        }

        let open = match reader.take() {
            Some(open) => Some(Reader::Shared(open)),
            None => self.connector.reader()?,
        };

        let read = match open {
            None => return Ok(None),
            Some(Reader::Alone(connection)) => work(&connection),
            Some(Reader::Shared(open)) => work(&reader.insert(open).connection),
        };

        let read = read.map_err(|failure| self.connector.failed("cannot be read", failure));
        read.map(Some)
    }

    fn cannot_write(&self, failure: impl Into<Failure>) -> StoreError {
        self.connector.failed("cannot be written", failure)
    }
}

/// Writes a part, all of it or nothing.
fn write_part(open: &Open, part: impl FnOnce() -> Result<Row, Failure>) -> Result<Row, Failure> {
    open.execute("SAVEPOINT part")?;

    let written = part();
    if written.is_err() {
        // If this fails, the transaction is gone, and committing it reports that.
        let _ = open.execute("ROLLBACK TO part");
    }

    let released = open.execute("RELEASE part");
    let row = written?;
    released?;
    Ok(row)
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
