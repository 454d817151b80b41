//! Opening the database, and seeing first that it is one of ours.

use std::fmt::Write;
use std::fs::OpenOptions;
use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::database::Database;
use crate::StoreError;
use crate::error::Kind;
use crate::lock;

/// In the header of each database, so that it is known for one of ours: `Cogw`.
const APPLICATION: i32 = 0x436f_6777;

/// The version of the tables. That of the lines is in each run's first line.
const FORMAT: i32 = 1;

/// How long to wait for another process that writes.
const PATIENCE: Duration = Duration::from_secs(30);

/// The first line, with the input, is no column of `runs`: a row is written whole when a part of it
/// changes, and that of the run changes with each line.
const TABLES: &str = "
    CREATE TABLE runs (
        key INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        flow TEXT NOT NULL,
        started INTEGER NOT NULL, -- milliseconds since 1970
        lines INTEGER NOT NULL, -- how many there are
        status TEXT NOT NULL CHECK (status IN ('open', 'paused', 'failed', 'ended')),
        error TEXT, -- on which it stopped
        action TEXT, -- on which it ended
        steps INTEGER -- in which it ended
    ) STRICT;
    CREATE INDEX runs_by_start ON runs (started);
    CREATE INDEX runs_by_flow ON runs (flow, started);
    CREATE INDEX runs_by_status ON runs (status, started);
    CREATE TABLE waits ( -- the steps that wait, also where one has an answer and the run is open
        run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
        number INTEGER NOT NULL, -- in the order in which they began
        step TEXT NOT NULL,
        event TEXT NOT NULL,
        why TEXT NOT NULL, -- for whoever is to answer
        until INTEGER, -- when it is too late, in milliseconds since 1970
        PRIMARY KEY (run, number)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX waits_by_event ON waits (event);
    CREATE TABLE lines (
        run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
        number INTEGER NOT NULL,
        line TEXT NOT NULL,
        PRIMARY KEY (run, number)
    ) STRICT, WITHOUT ROWID;
";

impl Database {
    /// A connection to write with. Makes the database where there is none.
    pub(super) fn writer(&self) -> Result<Connection, StoreError> {
        let failed = |error| StoreError::io(format_args!("{}: cannot be opened", self.place()), error);
        // One at a time makes the database, or changes its mode. No run's lock has this name.
        let one = self.locks().join("database");
        let one = OpenOptions::new().append(true).create(true).open(one).map_err(failed)?;
        lock::within(PATIENCE, &one).map_err(|error| failed(error.into()))?;
        if self.is_there()? {
            self.check_untouched()?;
        }
        let connection = self.connect(OpenFlags::SQLITE_OPEN_CREATE)?;
        let failed = |error| self.failed("cannot be opened", error);
        if is_empty(&connection).map_err(failed)? {
            let make = format!(
                "BEGIN EXCLUSIVE; PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {FORMAT}; \
                 {TABLES} COMMIT;"
            );
            connection.execute_batch(&make).map_err(failed)?;
        }
        self.check(Marks::of(&connection).map_err(failed)?)?;
        let synchronous = if self.sync() { "FULL" } else { "NORMAL" };
        let ready = || {
            connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
            connection.pragma_update(None, "synchronous", synchronous)?;
            connection.pragma_update(None, "foreign_keys", true)
        };
        ready().map_err(failed)?;
        Ok(connection)
    }

    /// A connection to read with, where there is a database.
    pub(super) fn reader(&self) -> Result<Option<Connection>, StoreError> {
        if !self.is_there()? {
            return Ok(None);
        }
        self.check_untouched()?;
        let connection = self.connect(OpenFlags::empty())?;
        let failed = |error| self.failed("cannot be opened", error);
        // What was left by one who crashed while making it is empty by now.
        if is_empty(&connection).map_err(failed)? {
            return Ok(None);
        }
        self.check(Marks::of(&connection).map_err(failed)?)?;
        connection.pragma_update(None, "query_only", true).map_err(failed)?;
        Ok(Some(connection))
    }

    fn connect(&self, more: OpenFlags) -> Result<Connection, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | more;
        let open = || {
            let connection = Connection::open_with_flags(self.absolute()?, flags)?;
            connection.busy_timeout(PATIENCE)?;
            // What somebody may have put into the file is not run.
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
            Ok(connection)
        };
        open().map_err(|error| self.failed("cannot be opened", error))
    }

    /// Whether there is more than an empty file.
    fn is_there(&self) -> Result<bool, StoreError> {
        match std::fs::metadata(self.path()) {
            Ok(file) => Ok(file.len() > 0),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(StoreError::io(format_args!("{}: cannot be read", self.place()), error)),
        }
    }

    /// That it is one of ours, without so much as a lock on it. The file is not read by other means
    /// than SQLite's: to close it would release the locks of all its connections in this process.
    fn check_untouched(&self) -> Result<(), StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let flags = flags | OpenFlags::SQLITE_OPEN_URI;
        let look = || Marks::of(&Connection::open_with_flags(uri(&self.absolute()?), flags)?);
        match look() {
            Ok(marks) => self.check(marks),
            // It looks so while what is in the WAL is brought over; with a connection it will be seen.
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) => Ok(()),
            Err(error) => Err(self.failed("cannot be read", error)),
        }
    }

    fn check(&self, marks: Marks) -> Result<(), StoreError> {
        let problem = match marks {
            Marks { application: APPLICATION, format: FORMAT } => return Ok(()),
            Marks { application: APPLICATION, format } => {
                format!("this is format {format} of a database of runs; this version reads format {FORMAT}")
            }
            Marks { application, .. } => format!(
                "this is no database of runs: expected the application id {APPLICATION} in its header, not {application}"
            ),
        };
        Err(StoreError::new(Kind::Damaged, format_args!("{}: {problem}", self.place())))
    }

    /// SQLite takes some names for other things than files; none of them is absolute.
    fn absolute(&self) -> rusqlite::Result<std::path::PathBuf> {
        std::path::absolute(self.path()).map_err(|_| rusqlite::Error::InvalidPath(self.path().to_owned()))
    }
}

/// What a database is known by.
struct Marks {
    application: i32,
    format: i32,
}

impl Marks {
    fn of(connection: &Connection) -> rusqlite::Result<Self> {
        let number = |pragma| connection.pragma_query_value(None, pragma, |row| row.get(0));
        Ok(Self { application: number("application_id")?, format: number("user_version")? })
    }
}

fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| row.get(0))
}

/// A name that SQLite reads as that of a file nobody writes to.
fn uri(path: &Path) -> String {
    let mut uri = "file:".to_owned();
    if cfg!(windows) {
        uri.push('/');
    }
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'\\' if cfg!(windows) => uri.push('/'),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' => {
                uri.push(char::from(*byte))
            }
            _ => drop(write!(uri, "%{byte:02x}")),
        }
    }
    uri.push_str("?immutable=1");
    uri
}
