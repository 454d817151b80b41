//! Opens a database, after checking that it is a memory.

use std::path::Path;
use std::time::Duration;

use cogwork_text::files::{Access, Folder};
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use super::Place;
use crate::RecallError;

/// The application id in the header of each database: `Cogv`.
const APPLICATION: i32 = 0x436f_6776;

/// The version of the tables.
const FORMAT: i32 = 2;

/// How long to wait for a different process that is writing.
const PATIENCE: Duration = Duration::from_secs(30);

/// The size of the smallest page of a database in bytes.
const SMALLEST: u64 = 512;

/// Vectors have their own table, so that a search reads no texts.
const TABLES: &str = "
    CREATE TABLE memory (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        model TEXT, -- of the embeddings, if there are any
        dimension INTEGER CHECK (dimension > 0)
    ) STRICT;
    CREATE TABLE sources (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        digest TEXT -- of the content, if it is that of a file
    ) STRICT;
    CREATE TABLE passages (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        source INTEGER NOT NULL REFERENCES sources ON DELETE CASCADE,
        line INTEGER NOT NULL,
        text TEXT NOT NULL
    ) STRICT;
    CREATE INDEX passages_by_source ON passages (source);
    CREATE TABLE vectors (
        id INTEGER PRIMARY KEY REFERENCES passages ON DELETE CASCADE,
        source INTEGER NOT NULL,
        vector BLOB NOT NULL -- 32-bit floats, the lowest byte first
    ) STRICT;
    CREATE TABLE notes (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        text TEXT NOT NULL
    ) STRICT;
    CREATE VIRTUAL TABLE note_words USING fts5 (
        words, content='', contentless_delete=1, detail=none, tokenize='unicode61 remove_diacritics 0'
    );
    CREATE TRIGGER note_removed AFTER DELETE ON notes BEGIN
        DELETE FROM note_words WHERE rowid = old.id;
    END;
";

/// Opens the database at `path`, or creates an empty file.
pub(super) fn file(path: &Path) -> Result<(Connection, Place), RecallError> {
    let shown = path.display().to_string();
    let failed = |source| RecallError::File {
        place: shown.clone(),
        source,
    };

    let (folder, name) = Folder::of_file(path).map_err(failed)?;

    // Creates the file for the current user only. SQLite gives its other files the same mode. An
    // existing file isn't opened here, because closing it would release the locks of SQLite.
    let length = folder.file_length(&name).map_err(failed)?;
    if length.is_none() {
        let created = folder.open_or_create(&name, Access::Append);
        created.map_err(failed)?;
    }

    // SQLite would take such a file for an empty database.
    let place = Place(shown.clone());
    if let Some(length @ 1..SMALLEST) = length {
        return Err(place.damaged(format_args!(
            "it has {length} bytes; expected at least {SMALLEST}"
        )));
    }

    // SQLite gives some relative names a special meaning.
    let real = folder.real_path().map_err(failed)?.join(&name);
    let connection = connect(&real).map_err(|error| place.failed(error))?;
    Ok((connection, place))
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    // Another process may be adding many passages at once.
    connection.busy_timeout(PATIENCE)?;
    Ok(connection)
}

/// Creates the tables if the database is empty. Otherwise, checks that it is a memory before
/// anything is changed.
pub(super) fn prepare(connection: &mut Connection, place: &Place) -> Result<(), RecallError> {
    let failed = |error| place.failed(error);

    if is_empty(connection).map_err(failed)? {
        create(connection).map_err(failed)?;
    }
    // Before anything is set, because setting the mode already writes to the file.
    check(connection, place)?;

    set_up(connection).map_err(failed)
}

fn set_up(connection: &Connection) -> rusqlite::Result<()> {
    // Readers and a writer work at the same time, and a crash loses no commit.
    write_ahead(connection)?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    // SQLite doesn't enforce them otherwise, and vectors are removed by them.
    connection.pragma_update(None, "foreign_keys", true)?;

    // Keeps the vectors of usual memories in the cache: 64 MiB, in KiB.
    connection.pragma_update(None, "cache_size", -65_536)
}

/// Switches to the write-ahead log, with which searches don't wait for writers. If another process is
/// using the database right now, a later one switches.
fn write_ahead(connection: &Connection) -> rusqlite::Result<()> {
    let set = connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()));
    match set {
        // Whoever uses the file has set it already.
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Ok(()),
        set => set,
    }
}

fn create(connection: &mut Connection) -> rusqlite::Result<()> {
    let creating = connection.transaction_with_behavior(TransactionBehavior::Exclusive)?;

    // Another process may have created them in the meantime.
    if !is_empty(&creating)? {
        return Ok(());
    }

    creating.execute_batch(TABLES)?;
    creating.pragma_update(None, "application_id", APPLICATION)?;
    creating.pragma_update(None, "user_version", FORMAT)?;
    // The only row; later the model is set in it.
    creating.execute("INSERT INTO memory (id) VALUES (1)", [])?;
    creating.commit()
}

fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    let sql = "SELECT count(*) = 0 FROM sqlite_schema";
    connection.query_row(sql, [], |row| row.get(0))
}

fn check(connection: &Connection, place: &Place) -> Result<(), RecallError> {
    let number = |pragma| {
        let value = connection.pragma_query_value(None, pragma, |row| row.get::<_, i32>(0));
        value.map_err(|error| place.failed(error))
    };

    let application = number("application_id")?;
    let format = number("user_version")?;
    let problem = if application != APPLICATION {
        format!("its header has the application id {application}; expected {APPLICATION}")
    } else if format != FORMAT {
        format!("it has the format {format}; expected format {FORMAT}")
    } else {
        return Ok(());
    };

    Err(RecallError::Foreign {
        place: place.0.clone(),
        problem,
    })
}
