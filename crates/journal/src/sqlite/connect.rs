//! Opening the database, and seeing first that it is one of ours.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use cogwork_files::{Folder, LockFile};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::database::{Database, Open};
use crate::StoreError;
use crate::error::Kind;

/// In the header of each database, so that it is known for one of ours: `Cogw`.
const APPLICATION: i32 = 0x436f_6777;

/// The version of the tables. That of the lines is in each run's first line.
const FORMAT: i32 = 1;

/// What is locked to make the database. No run's lock has this name.
const CREATION_LOCK: &str = "database";

/// How long to wait for another process that writes.
const PATIENCE: Duration = Duration::from_secs(30);

/// Of each connection. Links are not followed, neither to the database nor to what is beside it.
const COMMON: OpenFlags = OpenFlags::SQLITE_OPEN_NO_MUTEX.union(OpenFlags::SQLITE_OPEN_NOFOLLOW);

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

/// Does without locks, for where none can be taken.
const WITHOUT_LOCKS: &str = if cfg!(windows) {
    "win32-none"
} else {
    "unix-none"
};

/// A connection to read with.
pub(super) enum Reader {
    /// It sees what others write.
    Shared(Open),
    /// It reads from a disk that cannot be written, and sees what was there when it was opened.
    Alone(Connection),
}

impl Database {
    /// Opens a connection to write with. Where there is no database, it is created or that is an error.
    pub(super) fn writer(&self, create: bool) -> Result<Open, StoreError> {
        let folder = if create {
            Some(self.files.create_folder()?)
        } else {
            self.files.folder()?
        };

        let Some(folder) = folder else {
            return Err(StoreError::gone(self.files.place()));
        };

        let locks = self.files.locks(&folder)?;

        // One at a time makes the database, or changes its mode.
        let one = LockFile::lock_within(&locks, CREATION_LOCK, PATIENCE);
        let _one = one.map_err(|error| {
            let path = locks.path_of(CREATION_LOCK);
            StoreError::caused(
                Kind::Other,
                format_args!("{}: cannot be locked", path.display()),
                error,
            )
        })?;

        if self.files.has_content(&folder)? {
            self.check_untouched(&folder)?;
        } else if !create {
            return Err(StoreError::gone(self.files.place()));
        }

        let before = self.files.identify(&folder)?.database_alone();
        let connection = self.connect(&folder, OpenFlags::SQLITE_OPEN_CREATE)?;
        let failed = |error| self.failed("cannot be opened", error);

        if is_empty(&connection).map_err(failed)? {
            let make = format!(
                "BEGIN EXCLUSIVE; PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {FORMAT}; \
                 {TABLES} COMMIT;"
            );
            connection.execute_batch(&make).map_err(failed)?;
        }

        self.check(Marks::of(&connection).map_err(failed)?)?;
        self.make_ready(&connection).map_err(failed)?;

        self.files.check(&before)?;
        Ok(Open {
            connection,
            seen: self.files.identify(&folder)?,
        })
    }

    fn make_ready(&self, connection: &Connection) -> rusqlite::Result<()> {
        let synchronous = if self.sync() { "FULL" } else { "NORMAL" };

        connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
        connection.pragma_update(None, "synchronous", synchronous)?;
        connection.pragma_update(None, "foreign_keys", true)?;

        // Only who has read has all the files open.
        is_empty(connection).map(drop)
    }

    /// A connection to read with, where there is a database.
    pub(super) fn reader(&self) -> Result<Option<Reader>, StoreError> {
        let Some(folder) = self.files.folder()? else {
            return Ok(None);
        };

        if !self.files.has_content(&folder)? {
            return Ok(None);
        }

        self.check_untouched(&folder)?;

        let before = self.files.identify(&folder)?.database_alone();
        let connection = self.connect(&folder, OpenFlags::empty())?;
        let failed = |error| self.failed("cannot be opened", error);
        let alone = match is_empty(&connection) {
            // What was left by one who crashed while making it is empty by now.
            Ok(true) => return Ok(None),
            Ok(false) => None,
            // To share it, a file must be made beside it.
            Err(error) if is_not_writable(&error) && !self.files.is_shared(&folder)? => {
                Some(self.connect_alone(&folder)?)
            }
            Err(error) => return Err(failed(error)),
        };

        let is_alone = alone.is_some();
        let connection = alone.unwrap_or(connection);
        self.check(Marks::of(&connection).map_err(failed)?)?;
        connection
            .pragma_update(None, "query_only", true)
            .map_err(failed)?;
        self.files.check(&before)?;

        if is_alone {
            return Ok(Some(Reader::Alone(connection)));
        }

        Ok(Some(Reader::Shared(Open {
            connection,
            seen: self.files.identify(&folder)?,
        })))
    }

    fn connect(&self, folder: &Folder, more: OpenFlags) -> Result<Connection, StoreError> {
        let path = self.files.real_path(folder)?;

        // To write also where nothing is written: a pipe that was swapped in is then opened at once.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | more;

        let connection = Connection::open_with_flags(path, flags | COMMON);
        self.guarded(connection)
    }

    /// Reads without a lock and without a file shared with others, which a disk that cannot be written has
    /// no folder for.
    fn connect_alone(&self, folder: &Folder) -> Result<Connection, StoreError> {
        let path = self.files.real_path(folder)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | COMMON;

        // What is in the log counts as well.
        if self.files.has_log(folder)? {
            let connection = Connection::open_with_flags_and_vfs(path, flags, WITHOUT_LOCKS);
            let connection = self.guarded(connection)?;
            let ready = || {
                connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
                connection.pragma_update_and_check(None, "locking_mode", "EXCLUSIVE", |_| Ok(()))
            };
            ready().map_err(|error| self.failed("cannot be opened", error))?;
            return Ok(connection);
        }

        let connection =
            Connection::open_with_flags(uri(&path), flags | OpenFlags::SQLITE_OPEN_URI);
        self.guarded(connection)
    }

    fn guarded(&self, connection: rusqlite::Result<Connection>) -> Result<Connection, StoreError> {
        let guarded = || {
            let connection = connection?;
            connection.busy_timeout(PATIENCE)?;

            // What somebody may have put into the file is not run.
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;

            Ok(connection)
        };
        guarded().map_err(|error| self.failed("cannot be opened", error))
    }

    /// That it is one of ours, without so much as a lock on it. The file is not read by other means
    /// than SQLite's: to close it would release the locks of all its connections in this process.
    fn check_untouched(&self, folder: &Folder) -> Result<(), StoreError> {
        let path = self.files.real_path(folder)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_URI | COMMON;
        let look = || Marks::of(&Connection::open_with_flags(uri(&path), flags)?);

        match look() {
            Ok(marks) => self.check(marks),
            // It looks so while what is in the WAL is brought over; with a connection it will be seen.
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) => Ok(()),
            Err(error) => Err(self.failed("cannot be read", error)),
        }
    }

    fn check(&self, marks: Marks) -> Result<(), StoreError> {
        let problem = match marks {
            Marks {
                application: APPLICATION,
                format: FORMAT,
            } => return Ok(()),
            Marks {
                application: APPLICATION,
                format,
            } => {
                format!(
                    "this is format {format} of a database of runs; this version reads format {FORMAT}"
                )
            }
            Marks { application, .. } => format!(
                "this is no database of runs: expected the application id {APPLICATION} in its header, not {application}"
            ),
        };
        Err(StoreError::new(
            Kind::Damaged,
            format_args!("{}: {problem}", self.files.place()),
        ))
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
        Ok(Self {
            application: number("application_id")?,
            format: number("user_version")?,
        })
    }
}

fn is_not_writable(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly)
    )
}

fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| {
        row.get(0)
    })
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
