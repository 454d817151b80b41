//! Opening the database, and work on it.

use std::fmt;
use std::fs::DirBuilder;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use cogwork_text::Escaped;
use cogwork_text::files::{Access, Folder};
use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior};
use tokio::sync::Mutex;

use crate::failure::{Failure, on_own_thread};

/// The name of the database in its folder.
const FILE: &str = "sessions.sqlite";

/// The application id in the header of the database: `Cogm`.
const APPLICATION: i32 = 0x436f_676d;

/// The version of the tables.
const FORMAT: i32 = 2;

/// How long to wait for another process that is writing to the database.
const PATIENCE: Duration = Duration::from_secs(5);

/// The time between two attempts to change how the database is written.
const PAUSE: Duration = Duration::from_millis(10);

const TABLES: &str = "
    CREATE TABLE sessions (
        key INTEGER PRIMARY KEY AUTOINCREMENT, -- never that of a session that was removed
        owner TEXT NOT NULL,
        id TEXT NOT NULL,
        kind TEXT NOT NULL,
        named INTEGER NOT NULL, -- whether the client chose the id
        title TEXT NOT NULL,
        strategy TEXT NOT NULL,
        is_complete INTEGER NOT NULL DEFAULT 0,
        entries INTEGER NOT NULL DEFAULT 0, -- the number of the last one
        created INTEGER NOT NULL, -- milliseconds since 1970
        updated INTEGER NOT NULL,
        UNIQUE (owner, id)
    ) STRICT;
    CREATE TABLE entries (
        session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
        number INTEGER NOT NULL, -- from 1; the first ones may have been dropped
        body TEXT NOT NULL,
        PRIMARY KEY (session, number)
    ) STRICT, WITHOUT ROWID;
";

/// A database, which other processes may use at the same time. Clones share it.
#[derive(Debug, Clone)]
pub(super) struct Database(Arc<Mutex<Connection>>);

impl Database {
    /// Opens the database in this folder, or one in memory if it is `None`. May block.
    pub(super) fn open(folder: Option<&Path>, max_bytes: usize) -> Result<Self, Failure> {
        let connection = match folder {
            Some(folder) => open_file(&created_in(folder)?)?,
            None => Connection::open_in_memory()?,
        };
        // Off by default in SQLite; entries are removed with their session.
        connection.pragma_update(None, "foreign_keys", true)?;
        create_tables(&connection)?;
        limit_size(&connection, max_bytes)?;
        Ok(Self(Arc::new(Mutex::new(connection))))
    }

    /// Reads a consistent state.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        self.transaction(TransactionBehavior::Deferred, work).await
    }

    /// Does work that changes something, and returns its result once it is stored. Other processes
    /// wait in the meantime. If the work fails, nothing is changed.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        self.transaction(TransactionBehavior::Immediate, work).await
    }

    async fn transaction<T: Send + 'static>(
        &self,
        behavior: TransactionBehavior,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        // The lock is fair, so calls take turns in the order in which they arrived.
        let mut connection = Arc::clone(&self.0).lock_owned().await;
        let done = on_own_thread(move || {
            // Dropped without a commit if the work fails, which undoes it.
            let transaction = connection.transaction_with_behavior(behavior)?;
            let result = work(&transaction)?;
            transaction.commit()?;
            Ok(result)
        });
        done.await
    }
}

/// Creates the folder and an empty file if they don't exist, for the current user only. SQLite gives
/// its other files the same mode.
fn created_in(folder: &Path) -> Result<PathBuf, Failure> {
    create_folder(folder).map_err(|error| failed(folder, "created", &error))?;

    let path = folder.join(FILE);
    Folder::open(folder)
        .and_then(|folder| folder.open_or_create(FILE, Access::Append))
        .map_err(|error| failed(&path, "created", &error))?;
    Ok(path)
}

fn create_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    // Doesn't fail for a folder that exists, whatever its mode is.
    builder.recursive(true);

    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);

    builder.create(folder)
}

fn failed(path: &Path, what: &str, error: &dyn fmt::Display) -> Failure {
    let path = Escaped::new(path.display());
    Failure::new(format_args!("`{path}` cannot be {what}: {error}"))
}

fn open_file(path: &Path) -> Result<Connection, Failure> {
    let connection = Connection::open(path).map_err(|error| failed(path, "opened", &error))?;
    connection.busy_timeout(PATIENCE)?;
    // A file of another program is left as it is.
    check_application(&connection)?;

    write_ahead(&connection)?;
    // A commit survives the end of this process, but the last ones may be lost in a power cut.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    Ok(connection)
}

/// Makes readers and the writer independent of each other.
fn write_ahead(connection: &Connection) -> Result<(), Failure> {
    let started = Instant::now();
    loop {
        // SQLite doesn't wait for this lock by itself, and several servers may be starting.
        match connection.pragma_update(None, "journal_mode", "WAL") {
            Err(_) if started.elapsed() < PATIENCE => thread::sleep(PAUSE),
            result => return Ok(result?),
        }
    }
}

/// Creates the tables of a new database.
fn create_tables(connection: &Connection) -> Result<(), Failure> {
    if check_application(connection)? {
        return Ok(());
    }

    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    // Another process may have created them in the meantime.
    if check_application(&transaction)? {
        return Ok(());
    }
    transaction.execute_batch(TABLES)?;
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", FORMAT)?;
    Ok(transaction.commit()?)
}

/// Returns whether there are tables.
///
/// # Errors
///
/// Returns an error if they aren't those of this version.
fn check_application(connection: &Connection) -> Result<bool, Failure> {
    let query = "SELECT (SELECT count(*) FROM sqlite_schema), application_id, user_version
        FROM pragma_application_id, pragma_user_version";
    let found: (i64, i32, i32) =
        connection.query_row(query, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;

    match found {
        // A new file.
        (0, 0, 0) => Ok(false),
        (_, APPLICATION, FORMAT) => Ok(true),
        (_, APPLICATION, format) => Err(Failure::new(format_args!(
            "the database of sessions has version {format}; this program reads version {FORMAT}"
        ))),
        _ => Err(Failure::new(
            "the database isn't one of sessions; choose another folder",
        )),
    }
}

/// Refuses changes that would make the database too large.
fn limit_size(connection: &Connection, max_bytes: usize) -> Result<(), Failure> {
    let page: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
    let bytes = i64::try_from(max_bytes).unwrap_or(i64::MAX);
    // SQLite counts in pages.
    let pages = bytes / page.max(1);
    connection.pragma_update(None, "max_page_count", pages.max(1))?;
    Ok(())
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                Self::new("the database of sessions is locked by another process; try again")
            }
            Some(ErrorCode::DiskFull) => {
                Self::new("the database of sessions is full, or its disk is; remove old sessions")
            }
            Some(ErrorCode::ReadOnly) => {
                Self::new("the database of sessions cannot be written: it is read-only")
            }
            Some(ErrorCode::NotADatabase) => {
                Self::new("the file isn't a database of sessions; choose another folder")
            }
            _ => Self::new(format_args!("the database of sessions: {error}")),
        }
    }
}
