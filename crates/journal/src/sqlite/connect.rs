//! Opens connections to a database, after checking that it is a database of runs.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cogwork_text::files::LockFile;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::StoreError;
use crate::error::Kind;
use crate::folder;

/// The application id in the header of each database: `Cogw`.
const APPLICATION: i32 = 0x436f_6777;

/// The version of the tables.
const FORMAT: i32 = 1;

/// The lock file for creating the database. No run's lock file has this name.
const CREATION_LOCK: &str = "database";

/// How long to wait for a different process that is writing.
const PATIENCE: Duration = Duration::from_secs(30);

/// The first line, with the input, isn't a column of `runs`, which is read for lists.
const TABLES: &str = "
    CREATE TABLE runs (
        key INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        flow TEXT NOT NULL,
        started INTEGER NOT NULL, -- milliseconds since 1970
        status TEXT NOT NULL CHECK (status IN ('open', 'paused', 'failed', 'ended')),
        fork TEXT -- where it was forked from, as JSON
    ) STRICT;
    CREATE INDEX runs_by_start ON runs (started);
    CREATE INDEX runs_by_flow ON runs (flow, started);
    CREATE INDEX runs_by_status ON runs (status, started);
    CREATE TABLE lines (
        run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
        number INTEGER NOT NULL,
        line TEXT NOT NULL,
        at INTEGER, -- when it was written, in milliseconds since 1970; null for the first line
        PRIMARY KEY (run, number)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE events ( -- what happened, for people: JSON; a run continues without them
        run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
        number INTEGER NOT NULL,
        event TEXT NOT NULL,
        PRIMARY KEY (run, number)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE waits ( -- the steps that wait, also where one has an answer and the run is open
        run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
        line INTEGER NOT NULL, -- the number of the line with which it began
        event TEXT NOT NULL,
        until INTEGER, -- when it is too late, in milliseconds since 1970
        PRIMARY KEY (run, line)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX waits_by_event ON waits (event);
";

/// Opens connections to a database.
pub(super) struct Connector {
    pub(super) path: PathBuf,
}

impl Connector {
    pub(super) fn place(&self) -> String {
        self.path.display().to_string()
    }

    /// Opens a connection to write with. If the database doesn't exist, it is created.
    pub(super) fn writer(&self, locks: &Path) -> Result<Connection, StoreError> {
        let locks = folder::create(locks)?;

        // Only one process at a time may create the database or change its mode.
        let lock = LockFile::lock_within(&locks, CREATION_LOCK, PATIENCE);
        let _lock = lock.map_err(|error| {
            let path = locks.path_of(CREATION_LOCK);
            let text = format_args!("{}: cannot be locked", path.display());
            StoreError::caused(Kind::Other, text, error)
        })?;

        self.create_file()?;
        let connection = self.connect()?;
        let failed = |error| self.failed("cannot be opened", error);

        if is_empty(&connection).map_err(failed)? {
            let make = format!(
                "BEGIN EXCLUSIVE; PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {FORMAT}; \
                 {TABLES} COMMIT;"
            );
            connection.execute_batch(&make).map_err(failed)?;
        }

        self.check(&connection)?;
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
            StoreError::io(format_args!("{}: cannot be opened", self.place()), error)
        })
    }

    /// Opens a connection to read with. Returns `None` if the database doesn't exist.
    pub(super) fn reader(&self) -> Result<Option<Connection>, StoreError> {
        if !self.path.exists() {
            return Ok(None);
        }

        let connection = self.connect()?;
        let failed = |error| self.failed("cannot be opened", error);

        // A process may have crashed while it was creating the database.
        if is_empty(&connection).map_err(failed)? {
            return Ok(None);
        }

        self.check(&connection)?;
        connection
            .pragma_update(None, "query_only", true)
            .map_err(failed)?;
        Ok(Some(connection))
    }

    fn connect(&self) -> Result<Connection, StoreError> {
        let failed = |error| self.failed("cannot be opened", error);

        // SQLite gives some relative names a special meaning.
        let path = std::path::absolute(&self.path).map_err(|error| {
            StoreError::io(format_args!("{}: cannot be opened", self.place()), error)
        })?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;

        let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
        connection.busy_timeout(PATIENCE).map_err(failed)?;
        Ok(connection)
    }

    /// Returns the error for a failure to read or write.
    pub(super) fn failed(&self, what: &str, error: rusqlite::Error) -> StoreError {
        let kind = match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => Kind::Damaged,
            _ => Kind::Other,
        };

        let place = self.place();
        StoreError::caused(kind, format_args!("{place}: {what}"), error)
    }

    /// Checks the numbers in the header by which a database of runs is recognised.
    fn check(&self, connection: &Connection) -> Result<(), StoreError> {
        let number = |pragma| {
            let number = connection.pragma_query_value(None, pragma, |row| row.get(0));
            number.map_err(|error| self.failed("cannot be opened", error))
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

        let text = format_args!("{}: {problem}", self.place());
        Err(StoreError::new(Kind::Damaged, text))
    }
}

fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| {
        row.get(0)
    })
}
