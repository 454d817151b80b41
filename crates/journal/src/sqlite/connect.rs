//! Opens connections to a database, after checking that it is a database of runs.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use cogwork_files::{Folder, LockFile};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::failure::Failure;
use super::files::{Files, OpenFiles};
use crate::StoreError;
use crate::error::Kind;

/// The application id in the header of each database: `Cogw`.
const APPLICATION: i32 = 0x436f_6777;

/// The version of the tables. The version of the lines is in the first line of each run.
const FORMAT: i32 = 1;

/// The lock file for creating the database. No run's lock file has this name.
const CREATION_LOCK: &str = "database";

/// How long to wait for a different process that is writing.
const PATIENCE: Duration = Duration::from_secs(30);

/// The flags of each connection. Links are not followed, neither to the database nor to the files
/// next to it.
const COMMON: OpenFlags = OpenFlags::SQLITE_OPEN_NO_MUTEX.union(OpenFlags::SQLITE_OPEN_NOFOLLOW);

/// The first line, with the input, isn't a column of `runs`: SQLite rewrites a whole row when one
/// column changes, and the row of a run changes with each line.
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
        steps INTEGER, -- in which it ended
        updated INTEGER, -- when the last line was written, in milliseconds since 1970
        fork TEXT -- where it was forked from, as JSON
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
        schema TEXT, -- of the answer
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

/// The name of SQLite's file access without locks, for read-only disks.
const WITHOUT_LOCKS: &str = if cfg!(windows) {
    "win32-none"
} else {
    "unix-none"
};

/// Opens connections to a database.
pub(super) struct Connector {
    pub(super) files: Files,
    /// Whether transactions are synced to disk.
    pub(super) sync: bool,
}

/// A connection, and the files it has open.
pub(super) struct Open {
    pub(super) connection: Connection,
    pub(super) seen: OpenFiles,
}

impl Open {
    /// Executes a statement without parameters and results.
    pub(super) fn execute(&self, sql: &str) -> rusqlite::Result<()> {
        self.connection.prepare_cached(sql)?.execute([]).map(drop)
    }
}

/// A connection to read with.
pub(super) enum Reader {
    /// A connection that sees the writes of others.
    Shared(Open),
    /// A connection to a read-only disk. It sees the content at the time when it was opened.
    Alone(Connection),
}

impl Connector {
    /// Opens a connection to write with. If the database doesn't exist, it is created if `create`
    /// is `true`; otherwise, an error is returned.
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

        // Only one process at a time may create the database or change its mode.
        let lock = LockFile::lock_within(&locks, CREATION_LOCK, PATIENCE);
        let _lock = lock.map_err(|error| {
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
        add_columns(&connection).map_err(failed)?;

        self.files.check(&before)?;
        Ok(Open {
            connection,
            seen: self.files.identify(&folder)?,
        })
    }

    fn make_ready(&self, connection: &Connection) -> rusqlite::Result<()> {
        let synchronous = if self.sync { "FULL" } else { "NORMAL" };

        connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
        connection.pragma_update(None, "synchronous", synchronous)?;
        connection.pragma_update(None, "foreign_keys", true)?;

        // Only a connection that has read has all files open.
        is_empty(connection).map(drop)
    }

    /// Opens a connection to read with. Returns `None` if the database doesn't exist.
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
            // A process crashed while it was creating the database.
            Ok(true) => return Ok(None),
            Ok(false) => None,
            // Sharing the database requires a file next to it, which cannot be created here.
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

        // Opened for writing even to read, since opening a pipe that was swapped in would otherwise
        // block.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | more;

        let connection = Connection::open_with_flags(path, flags | COMMON);
        self.guarded(connection)
    }

    /// Opens a connection that needs neither a lock nor a shared file, neither of which can be
    /// created on a read-only disk.
    fn connect_alone(&self, folder: &Folder) -> Result<Connection, StoreError> {
        let path = self.files.real_path(folder)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | COMMON;

        // SQLite has to read the write-ahead log, too.
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

            // Never run code that may have been added to the file.
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;

            Ok(connection)
        };
        guarded().map_err(|error: rusqlite::Error| self.failed("cannot be opened", error))
    }

    /// Checks that this is a database of runs, without locking it. Only SQLite may open the file:
    /// closing a handle of our own would release the locks of all connections in this process.
    fn check_untouched(&self, folder: &Folder) -> Result<(), StoreError> {
        let path = self.files.real_path(folder)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_URI | COMMON;
        let look = || Marks::of(&Connection::open_with_flags(uri(&path), flags)?);

        match look() {
            Ok(marks) => self.check(marks),
            // This may also be a checkpoint by another process. Using the connection shows which it
            // is.
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) => Ok(()),
            Err(error) => Err(self.failed("cannot be read", error)),
        }
    }

    /// Returns the error for a failure to read or write.
    pub(super) fn failed(&self, what: &str, failure: impl Into<Failure>) -> StoreError {
        let error = match failure.into() {
            Failure::Sqlite(error) => error,
            Failure::Store(error) => return error,
        };

        let kind = match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => Kind::Damaged,
            _ => Kind::Other,
        };

        let place = self.files.place();
        StoreError::caused(kind, format_args!("{place}: {what}"), error)
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
                format!("this is a database of runs of format {format}; expected format {FORMAT}")
            }
            Marks { application, .. } => format!(
                "this isn't a database of runs: its header has the application id {application}; expected {APPLICATION}"
            ),
        };
        Err(StoreError::new(
            Kind::Damaged,
            format_args!("{}: {problem}", self.files.place()),
        ))
    }
}

/// The numbers in the header by which a database of runs is recognised.
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

/// A column that earlier versions created the table without.
pub(super) struct LaterColumn {
    table: &'static str,
    pub(super) name: &'static str,
    kind: &'static str,
}

/// When the last line of a run was written.
pub(super) const UPDATED: LaterColumn = LaterColumn {
    table: "runs",
    name: "updated",
    kind: "INTEGER",
};

/// Where a run was forked from.
pub(super) const FORK: LaterColumn = LaterColumn {
    table: "runs",
    name: "fork",
    kind: "TEXT",
};

/// The schema of the answer to a wait.
pub(super) const SCHEMA: LaterColumn = LaterColumn {
    table: "waits",
    name: "schema",
    kind: "TEXT",
};

impl LaterColumn {
    pub(super) fn exists(&self, connection: &Connection) -> rusqlite::Result<bool> {
        let sql = "SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2";
        connection
            .prepare_cached(sql)?
            .exists([self.table, self.name])
    }

    fn add(&self, connection: &Connection) -> rusqlite::Result<()> {
        if self.exists(connection)? {
            return Ok(());
        }

        let Self { table, name, kind } = self;
        connection.execute_batch(&format!("ALTER TABLE {table} ADD COLUMN {name} {kind}"))
    }
}

fn add_columns(connection: &Connection) -> rusqlite::Result<()> {
    UPDATED.add(connection)?;
    FORK.add(connection)?;
    SCHEMA.add(connection)
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

/// Returns a URI with which SQLite opens the file as immutable.
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
