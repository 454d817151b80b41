//! Tests that hold for each store.

use std::ops::Deref;
use std::path::{Path, PathBuf};

use cogwork_journal::Store;

/// A store, as tests see it.
pub(crate) trait Tested: Deref<Target = Store> + Clone + Send + Sync + 'static {
    const NAME: &str;

    /// Where the run `a` is, where a line of it is, and its lock, as messages name them.
    const PLACES: [(&str, &str); 3];

    /// A store in a folder of its own.
    fn within(folder: &Path) -> Self;

    /// Makes the runs of a process that was killed available to the next one.
    fn after_a_kill(&self) {}

    /// The lines of a run, each with its newline; the last may be torn.
    fn lines(&self, run_id: &str) -> String;

    /// Puts other lines, as many, in place of those of a run, behind the store's back.
    fn rewrite(&self, run_id: &str, lines: &str);

    /// An error's line, without what differs from store to store.
    fn told(error: impl std::fmt::Display, folder: &Path) -> String {
        let line = crate::work::told(error, folder);
        Self::PLACES
            .iter()
            .fold(line, |line, (place, name)| line.replace(place, name))
    }
}

/// A store of files.
#[derive(Debug, Clone)]
pub(crate) struct FileStore(Store, PathBuf);

impl FileStore {
    pub(crate) fn new(folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        Self(Store::files(&folder), folder)
    }

    /// The file of a run.
    pub(crate) fn path(&self, run_id: &str) -> PathBuf {
        let name = cogwork_text::files::safe_name(run_id);
        self.1.join(name + ".jsonl")
    }
}

impl Deref for FileStore {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.0
    }
}

impl Tested for FileStore {
    const NAME: &str = "files";
    const PLACES: [(&str, &str); 3] = [
        ("runs/a.jsonl, line", "STORE, line"),
        ("runs/a.jsonl", "STORE"),
        ("runs/a.lock", "LOCK"),
    ];

    fn within(folder: &Path) -> Self {
        Self::new(folder)
    }

    fn lines(&self, run_id: &str) -> String {
        String::from_utf8_lossy(&std::fs::read(self.path(run_id)).unwrap()).into_owned()
    }

    fn rewrite(&self, run_id: &str, lines: &str) {
        std::fs::write(self.path(run_id), lines).unwrap();
    }
}

/// A store in a SQLite database.
#[cfg(feature = "sqlite")]
#[derive(Debug, Clone)]
pub(crate) struct SqliteStore(Store, PathBuf);

#[cfg(feature = "sqlite")]
impl SqliteStore {
    pub(crate) fn new(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Self(Store::sqlite(&path), path)
    }

    /// The file of the database.
    pub(crate) fn path(&self) -> &Path {
        &self.1
    }
}

#[cfg(feature = "sqlite")]
impl Deref for SqliteStore {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.0
    }
}

#[cfg(feature = "sqlite")]
impl Tested for SqliteStore {
    const NAME: &str = "database";
    const PLACES: [(&str, &str); 3] = [
        ("runs/runs.db-locks/a.lock", "LOCK"),
        ("runs/runs.db, run `a`, line", "STORE, line"),
        ("runs/runs.db", "STORE"),
    ];

    fn within(folder: &Path) -> Self {
        Self::new(folder.join("runs.db"))
    }

    fn lines(&self, run_id: &str) -> String {
        let database = rusqlite::Connection::open(self.path()).unwrap();
        let sql = "SELECT line || char(10) FROM lines JOIN runs ON run = key WHERE id = ?1 ORDER BY number";
        let mut lines = database.prepare(sql).unwrap();
        let lines = lines
            .query_map([run_id], |row| row.get::<_, String>(0))
            .unwrap();

        lines.map(Result::unwrap).collect()
    }

    fn rewrite(&self, run_id: &str, lines: &str) {
        let database = rusqlite::Connection::open(self.path()).unwrap();
        let sql = "UPDATE lines SET line = ?3 WHERE number = ?2 AND run = (SELECT key FROM runs WHERE id = ?1)";
        for (number, line) in (1..).zip(lines.lines()) {
            assert_eq!(database.execute(sql, (run_id, number, line)).unwrap(), 1);
        }
    }
}

/// Runs a test of which there are several, so that each asserts the same inline snapshots.
pub(crate) fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    insta::allow_duplicates! { runtime.block_on(test) }
}

/// Makes tests of functions over a [`Tested`] store: one for each store. Those with PostgreSQL need a
/// server.
macro_rules! for_each_store {
    ($($test:ident),+ $(,)?) => {
        crate::each::for_each_store_on_disk!($($test),+);

        #[cfg(feature = "postgres")]
        mod postgres {
            $(#[test]
            fn $test() {
                if crate::server::url().is_some() {
                    crate::each::run(super::$test::<cogwork_journal::PostgresStore>());
                }
            })+
        }
    };
}
pub(crate) use for_each_store;

/// Makes tests of functions over a [`Tested`] store: one for each store on disk.
macro_rules! for_each_store_on_disk {
    ($($test:ident),+ $(,)?) => {
        mod files {
            $(#[test]
            fn $test() {
                crate::each::run(super::$test::<crate::each::FileStore>());
            })+
        }

        #[cfg(feature = "sqlite")]
        mod database {
            $(#[test]
            fn $test() {
                crate::each::run(super::$test::<crate::each::SqliteStore>());
            })+
        }
    };
}
pub(crate) use for_each_store_on_disk;
