//! Opening the database, and work on it.

use std::fmt;
use std::fs::DirBuilder;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use cogwork_text::Escaped;
use cogwork_text::files::{Access, Folder};
use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::StoreError;

/// The name of the database in its folder.
const FILE: &str = "sessions.sqlite";

/// The application id in the header of the database: `Cogm`.
const APPLICATION: i32 = 0x436f_676d;

/// The version of the tables.
const FORMAT: i32 = 1;

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
        words TEXT NOT NULL, -- the title in lower case, for searches
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
        words TEXT NOT NULL, -- in lower case, for searches
        PRIMARY KEY (session, number)
    ) STRICT, WITHOUT ROWID;
";

/// A database, which other processes may use at the same time. Clones share it.
#[derive(Debug, Clone)]
pub(super) struct Database(Arc<Mutex<Connection>>);

impl Database {
    /// Opens the database in this folder, or one in memory if it is `None`. May block.
    pub(super) fn open(folder: Option<&Path>, max_bytes: usize) -> Result<Self, StoreError> {
        let connection = match folder {
            Some(folder) => open_file(&created_in(folder)?)?,
            None => Connection::open_in_memory()?,
        };
        connection.pragma_update(None, "foreign_keys", true)?;
        create_tables(&connection)?;
        limit_size(&connection, max_bytes)?;
        Ok(Self(Arc::new(Mutex::new(connection))))
    }

    /// Reads a consistent state.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.transaction(TransactionBehavior::Deferred, work).await
    }

    /// Does work that changes something, and returns its result once it is stored. If the work
    /// fails, nothing is changed. It is done even if the future is dropped.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.transaction(TransactionBehavior::Immediate, work).await
    }

    async fn transaction<T: Send + 'static>(
        &self,
        behavior: TransactionBehavior,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let connection = Arc::clone(&self.0);
        let done = tokio::task::spawn_blocking(move || {
            // What a panic has left undone was rolled back.
            let mut connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
            let transaction = connection.transaction_with_behavior(behavior)?;
            let result = work(&transaction)?;
            transaction.commit()?;
            Ok(result)
        });
        done.await.unwrap_or_else(|_| {
            let message = "the work on the database of sessions was interrupted; try again";
            Err(StoreError::new(message))
        })
    }
}

/// Creates the folder and an empty file if they don't exist, for the current user only. SQLite gives
/// its other files the same mode.
fn created_in(folder: &Path) -> Result<PathBuf, StoreError> {
    create_folder(folder).map_err(|error| failed(folder, "created", &error))?;

    let path = folder.join(FILE);
    Folder::open(folder)
        .and_then(|folder| folder.open_or_create(FILE, Access::Append))
        .map_err(|error| failed(&path, "created", &error))?;
    Ok(path)
}

fn create_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);

    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);

    builder.create(folder)
}

fn failed(path: &Path, what: &str, error: &dyn fmt::Display) -> StoreError {
    let path = Escaped::new(path.display());
    StoreError::new(format_args!("`{path}` cannot be {what}: {error}"))
}

fn open_file(path: &Path) -> Result<Connection, StoreError> {
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
fn write_ahead(connection: &Connection) -> Result<(), StoreError> {
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
fn create_tables(connection: &Connection) -> Result<(), StoreError> {
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
fn check_application(connection: &Connection) -> Result<bool, StoreError> {
    let query = "SELECT (SELECT count(*) FROM sqlite_schema), application_id, user_version
        FROM pragma_application_id, pragma_user_version";
    let found: (i64, i32, i32) =
        connection.query_row(query, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;

    match found {
        (0, 0, 0) => Ok(false),
        (_, APPLICATION, FORMAT) => Ok(true),
        (_, APPLICATION, format) => Err(StoreError::new(format_args!(
            "the database of sessions has version {format}; this program reads version {FORMAT}"
        ))),
        _ => Err(StoreError::new(
            "the database isn't one of sessions; choose another folder",
        )),
    }
}

/// Refuses changes that would make the database too large.
fn limit_size(connection: &Connection, max_bytes: usize) -> Result<(), StoreError> {
    let page: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
    let bytes = i64::try_from(max_bytes).unwrap_or(i64::MAX);
    let pages = bytes / page.max(1);
    connection.pragma_update(None, "max_page_count", pages.max(1))?;
    Ok(())
}
