//! One database: a thread that writes, and connections that read.

use std::fs::OpenOptions;
use std::path::PathBuf;
use std::sync::{Mutex, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use cogwork_text::files::LockFile;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};
use tokio::sync::oneshot;

use crate::backend::guard;
use crate::{StoreError, StoreErrorKind, lock};

/// The application id in the header of each database: `Cogw`.
const APPLICATION: i32 = 0x436f_6777;

/// The version of the tables.
const FORMAT: i32 = 2;

const TABLES: &str = include_str!("tables.sql");

/// The lock file for creating the database. No run's lock file has this name.
const CREATION_LOCK: &str = "database";

/// How long to wait for a different process that is writing.
const PATIENCE: Duration = Duration::from_secs(30);

/// The file of a database, and the folder with the locks of its runs.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) path: PathBuf,
    pub(super) locks: PathBuf,
}

#[derive(Debug)]
pub(super) struct Database {
    pub(super) place: Place,
    writer: Mutex<Option<Writer>>,
}

/// The thread that writes, once it was started.
#[derive(Debug)]
struct Writer {
    jobs: mpsc::Sender<Job>,
    thread: JoinHandle<()>,
}

impl Drop for Database {
    /// Closes the files, so that they can be copied after this.
    fn drop(&mut self) {
        if let Some(Writer { jobs, thread }) = guard(&self.writer).take() {
            // The thread ends once its queue is empty and closed.
            drop(jobs);
            let _ = thread.join();
        }
    }
}

/// A part of a transaction. Returns the key of its run.
type Part = Box<dyn Fn(&Connection) -> rusqlite::Result<i64> + Send>;

/// A part to write, and who waits for it.
struct Job {
    part: Part,
    /// Whether it must be on disk before anybody uses it.
    is_durable: bool,
    done: oneshot::Sender<Result<i64, StoreError>>,
}

impl Database {
    pub(super) fn new(path: PathBuf) -> Self {
        let mut locks = path.clone().into_os_string();
        locks.push("-locks");
        let place = Place {
            path,
            locks: locks.into(),
        };
        Self {
            place,
            writer: Mutex::default(),
        }
    }

    /// Writes a part of a transaction, together with all others that are waiting.
    pub(super) async fn write(
        &self,
        is_durable: bool,
        part: impl Fn(&Connection) -> rusqlite::Result<i64> + Send + 'static,
    ) -> Result<i64, StoreError> {
        let (done, written) = oneshot::channel();
        let job = Job {
            part: Box::new(part),
            is_durable,
            done,
        };
        self.send(job);

        written.await.unwrap_or_else(|_| {
            let place = self.place.shown();
            let text = format_args!("{place}: writing was interrupted");
            Err(StoreError::new(StoreErrorKind::Other, text))
        })
    }

    fn send(&self, job: Job) {
        let mut writer = guard(&self.writer);
        // Started by the first write, so that a store that is only read needs no thread.
        let writer = writer.get_or_insert_with(|| {
            let (jobs, queue) = mpsc::channel();
            let place = self.place.clone();
            let thread = std::thread::spawn(move || write_all(&place, &queue));
            Writer { jobs, thread }
        });
        // If the thread is gone, the waiting end is told so.
        let _ = writer.jobs.send(job);
    }

    /// Reads from the database. Returns `None` if it doesn't exist.
    pub(super) fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        let Some(connection) = self.place.reader()? else {
            return Ok(None);
        };
        let read = work(&connection).map_err(|error| self.place.failed("read", error));
        read.map(Some)
    }
}

/// Writes until the database is dropped. What is queued during a transaction goes into the next.
fn write_all(place: &Place, jobs: &mpsc::Receiver<Job>) {
    let mut connection = None;
    while let Ok(first) = jobs.recv() {
        // Syncing takes most of the time, and one sync serves them all.
        let batch: Vec<_> = std::iter::once(first).chain(jobs.try_iter()).collect();
        let open = match connection.take() {
            Some(open) => Ok(open),
            None => place.writer(),
        };
        match open {
            Ok(open) => write_batch(place, connection.insert(open), batch),
            Err(error) => {
                for job in batch {
                    let _ = job.done.send(Err(error.clone()));
                }
            }
        }
    }
}

fn write_batch(place: &Place, connection: &mut Connection, batch: Vec<Job>) {
    if let Ok(keys) = transaction(connection, &batch) {
        for (job, key) in batch.into_iter().zip(keys) {
            // The caller may be gone, and the change is written all the same.
            let _ = job.done.send(Ok(key));
        }
        return;
    }

    // Whatever made one of them fail must not fail the others.
    for job in batch {
        let alone = transaction(connection, std::slice::from_ref(&job));
        let written = alone.map(|keys| keys.into_iter().sum());
        let written = written.map_err(|error| place.failed("written", error));
        let _ = job.done.send(written);
    }
}

/// Writes all parts in one transaction, which is synced once. Returns the keys of their runs.
fn transaction(connection: &mut Connection, batch: &[Job]) -> rusqlite::Result<Vec<i64>> {
    // In WAL mode, a transaction is only synced with `FULL`.
    let is_durable = batch.iter().any(|job| job.is_durable);
    let synchronous = if is_durable { "FULL" } else { "NORMAL" };
    connection.pragma_update(None, "synchronous", synchronous)?;

    // Locked from the beginning: one that locks after reading may fail without waiting.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let keys = batch.iter().map(|job| (job.part)(&transaction));
    let keys = keys.collect::<Result<_, _>>()?;
    transaction.commit()?;
    Ok(keys)
}

impl Place {
    pub(super) fn shown(&self) -> String {
        self.path.display().to_string()
    }

    /// Opens a connection to write with. If the database doesn't exist, it is created.
    fn writer(&self) -> Result<Connection, StoreError> {
        // Only one process at a time may create the database or change its mode.
        let locks = lock::create(&self.locks)?;
        let lock = LockFile::lock_within(&locks, CREATION_LOCK, PATIENCE);
        let _lock = lock.map_err(|error| {
            let path = locks.path_of(CREATION_LOCK);
            let path = path.display();
            let text = format_args!("{path}: cannot be locked");
            StoreError::caused(StoreErrorKind::Other, text, error)
        })?;

        self.create_file()?;
        let connection = self.connect()?;
        let failed = |error| self.failed("opened", error);
        if is_empty(&connection).map_err(failed)? {
            // One transaction, so that a crash leaves either an empty database or a complete one.
            let make = format!(
                "BEGIN EXCLUSIVE; PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {FORMAT}; \
                 {TABLES} COMMIT;"
            );
            connection.execute_batch(&make).map_err(failed)?;
        }

        self.check(&connection)?;
        // Only now, because the file might belong to a different program.
        connection
            .pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))
            .and_then(|()| connection.pragma_update(None, "foreign_keys", true))
            .map_err(failed)?;
        Ok(connection)
    }

    /// Creates an empty file for the current user alone, if there is none. SQLite gives the files next
    /// to it the same mode.
    fn create_file(&self) -> Result<(), StoreError> {
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);

        let created = options.open(&self.path);
        created.map(drop).map_err(|error| {
            StoreError::io(format_args!("{}: cannot be opened", self.shown()), error)
        })
    }

    /// Opens a connection to read with. Returns `None` if the database doesn't exist.
    fn reader(&self) -> Result<Option<Connection>, StoreError> {
        if !self.path.exists() {
            return Ok(None);
        }

        // A process may have crashed while it was creating the database.
        let connection = self.connect()?;
        if is_empty(&connection).map_err(|error| self.failed("opened", error))? {
            return Ok(None);
        }

        self.check(&connection)?;
        Ok(Some(connection))
    }

    fn connect(&self) -> Result<Connection, StoreError> {
        // SQLite gives some relative names a special meaning.
        let path = std::path::absolute(&self.path).map_err(|error| {
            StoreError::io(format_args!("{}: cannot be opened", self.shown()), error)
        })?;
        // Without `CREATE`: reading creates nothing, and `create_file` sets the mode.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;

        let connection = Connection::open_with_flags(path, flags);
        let connection = connection.and_then(|connection| {
            connection.busy_timeout(PATIENCE)?;
            Ok(connection)
        });
        connection.map_err(|error| self.failed("opened", error))
    }

    /// Returns the error for a failure to do this.
    pub(super) fn failed(&self, done: &str, error: rusqlite::Error) -> StoreError {
        let place = self.shown();
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => StoreError::caused(
                StoreErrorKind::Damaged,
                format_args!("{place}: cannot be {done}"),
                error,
            ),
            // The row of the run is gone, or its next line is there already.
            Some(ErrorCode::ConstraintViolation) => StoreError::caused(
                StoreErrorKind::Gone,
                format_args!("{place}: cannot be {done}"),
                error,
            ),
            Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly) if self.path.is_file() => {
                let what = format_args!(
                    "{place}: cannot be {done}; SQLite needs to write to the folder of a database even to read it"
                );
                StoreError::caused(StoreErrorKind::Other, what, error)
            }
            _ => StoreError::caused(
                StoreErrorKind::Other,
                format_args!("{place}: cannot be {done}"),
                error,
            ),
        }
    }

    /// Checks the numbers in the header by which a database of runs is recognised.
    fn check(&self, connection: &Connection) -> Result<(), StoreError> {
        let number = |pragma| {
            let number = connection.pragma_query_value(None, pragma, |row| row.get(0));
            number.map_err(|error| self.failed("opened", error))
        };

        let application: i32 = number("application_id")?;
        let format: i32 = number("user_version")?;
        let problem = match (application, format) {
            (APPLICATION, FORMAT) => return Ok(()),
            (APPLICATION, _) => {
                format!("this is a database of runs of format {format}; expected format {FORMAT}")
            }
            _ => format!(
                "this isn't a database of runs: its header has the application id {application}; expected {APPLICATION}"
            ),
        };

        let text = format_args!("{}: {problem}", self.shown());
        Err(StoreError::new(StoreErrorKind::Damaged, text))
    }
}

fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| {
        row.get(0)
    })
}
