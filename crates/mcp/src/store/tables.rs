//! The tables, and opening a database that may be of another version.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::StoreError;

/// The application id in the header of the database: `Cogm`.
const APPLICATION: i32 = 0x436f_676d;

/// The version of the tables.
const FORMAT: i32 = 1;

/// How long to wait for another process that is writing.
const PATIENCE: Duration = Duration::from_secs(5);

const TABLES: &str = "
    CREATE TABLE sessions (
        key INTEGER PRIMARY KEY,
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
    CREATE INDEX sessions_by_update ON sessions (owner, updated);
    CREATE TABLE entries (
        session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
        number INTEGER NOT NULL, -- from 1
        written INTEGER NOT NULL,
        body TEXT NOT NULL,
        words TEXT NOT NULL, -- in lower case, for searches
        PRIMARY KEY (session, number)
    ) STRICT, WITHOUT ROWID;
";

/// Opens the database at this path, or one in memory.
pub(super) fn open(path: Option<&Path>) -> Result<Connection, StoreError> {
    let connection = match path {
        Some(path) => open_file(path)?,
        None => Connection::open_in_memory()?,
    };

    connection.busy_timeout(PATIENCE)?;
    connection.pragma_update(None, "foreign_keys", true)?;

    // A commit survives the end of this process, but the last ones may be lost in a power cut.
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;

    create_tables(&connection)?;
    Ok(connection)
}

fn open_file(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;

    Connection::open_with_flags(path, flags).map_err(|error| {
        let place = path.display();
        StoreError::new(format_args!("`{place}` cannot be opened: {error}"))
    })
}

/// Creates the tables of a new database, and refuses one with other tables.
fn create_tables(connection: &Connection) -> Result<(), StoreError> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let created = create_tables_within(connection);
    connection.execute_batch(if created.is_ok() {
        "COMMIT"
    } else {
        "ROLLBACK"
    })?;
    created
}

fn create_tables_within(connection: &Connection) -> Result<(), StoreError> {
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    let application = number("application_id")?;
    let format = number("user_version")?;

    if application == 0 && format == 0 {
        connection.execute_batch(TABLES)?;
        connection.pragma_update(None, "application_id", APPLICATION)?;
        connection.pragma_update(None, "user_version", FORMAT)?;
        return Ok(());
    }

    if application != APPLICATION {
        return Err(StoreError::new("the database isn't one of sessions"));
    }
    if format != FORMAT {
        let message = format_args!(
            "the database of sessions has version {format}; this program reads version {FORMAT}"
        );
        return Err(StoreError::new(message));
    }

    Ok(())
}
