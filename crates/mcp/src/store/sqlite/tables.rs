//! The tables, and opening a database that may be of another version.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use cogwork_text::Escaped;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use super::place::Place;
use crate::ServerLimits;
use crate::store::StoreError;

/// The application id in the header of the database: `Cogm`.
const APPLICATION: i32 = 0x436f_676d;

/// The version of the tables.
const FORMAT: i32 = 1;

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
        dropped INTEGER NOT NULL DEFAULT 0, -- the number of the last one that isn't kept
        base TEXT, -- what is kept instead of those
        created INTEGER NOT NULL, -- milliseconds since 1970
        updated INTEGER NOT NULL,
        UNIQUE (owner, id)
    ) STRICT;
    CREATE TABLE entries (
        session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
        number INTEGER NOT NULL, -- from 1
        stamp INTEGER NOT NULL, -- tells apart those that different processes have appended
        written INTEGER NOT NULL,
        body TEXT NOT NULL,
        words TEXT NOT NULL, -- in lower case, for searches
        PRIMARY KEY (session, number)
    ) STRICT, WITHOUT ROWID;
";

/// Opens the database at this place.
pub(super) fn open(place: &Place, limits: &ServerLimits) -> Result<Connection, StoreError> {
    let connection = open_file(place.path())?;
    connection.busy_timeout(limits.lock_timeout)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    has_tables(&connection)?;

    write_ahead(&connection, limits.lock_timeout)?;
    // A commit survives the end of this process, but the last ones may be lost in a power cut.
    connection.pragma_update(None, "synchronous", "NORMAL")?;

    if !has_tables(&connection)? {
        create_tables(&connection)?;
    }
    limit_size(&connection, limits)?;
    Ok(connection)
}

fn open_file(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;

    Connection::open_with_flags(path, flags).map_err(|error| {
        let place = Escaped::new(path.display());
        StoreError::new(format_args!("`{place}` cannot be opened: {error}"))
    })
}

/// Makes readers and the writer independent of each other.
fn write_ahead(connection: &Connection, patience: Duration) -> Result<(), StoreError> {
    let started = Instant::now();
    loop {
        let mode = connection.pragma_query_value(None, "journal_mode", |row| row.get(0));
        if mode.is_ok_and(|mode: String| mode == "wal") {
            return Ok(());
        }

        // SQLite doesn't wait for this lock by itself, and several servers may be starting.
        match connection.pragma_update(None, "journal_mode", "WAL") {
            Err(_) if started.elapsed() < patience => thread::sleep(PAUSE),
            result => return Ok(result?),
        }
    }
}

/// Refuses changes that would make the database too large.
fn limit_size(connection: &Connection, limits: &ServerLimits) -> Result<(), StoreError> {
    let page: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
    let bytes = i64::try_from(limits.database_bytes).unwrap_or(i64::MAX);
    let pages = bytes / page.max(1);
    connection.pragma_update(None, "max_page_count", pages.max(1))?;
    Ok(())
}

/// Creates the tables of a new database.
fn create_tables(connection: &Connection) -> Result<(), StoreError> {
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    // Another process may have created them in the meantime.
    if has_tables_within(&transaction)? {
        return Ok(());
    }

    transaction.execute_batch(TABLES)?;
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", FORMAT)?;
    Ok(transaction.commit()?)
}

/// Returns whether there are tables, while other processes may be creating them.
fn has_tables(connection: &Connection) -> Result<bool, StoreError> {
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Deferred)?;
    has_tables_within(&transaction)
}

/// Returns whether there are tables.
///
/// # Errors
///
/// Returns an error if they aren't those of this version.
fn has_tables_within(connection: &Connection) -> Result<bool, StoreError> {
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    let application = number("application_id")?;
    let format = number("user_version")?;

    if application == 0 && format == 0 {
        check_empty(connection)?;
        return Ok(false);
    }
    if application != APPLICATION {
        return Err(not_ours());
    }
    if format != FORMAT {
        let message = format_args!(
            "the database of sessions has version {format}; this program reads version {FORMAT}"
        );
        return Err(StoreError::new(message));
    }
    Ok(true)
}

/// Refuses a database that another program created.
fn check_empty(connection: &Connection) -> Result<(), StoreError> {
    let query = "SELECT count(*) FROM sqlite_schema";
    let tables: i64 = connection.query_row(query, [], |row| row.get(0))?;
    if tables > 0 {
        return Err(not_ours());
    }
    Ok(())
}

fn not_ours() -> StoreError {
    StoreError::new("the database isn't one of sessions; choose another folder")
}
