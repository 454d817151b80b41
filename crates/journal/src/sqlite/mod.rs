//! Many runs in one SQLite database.

mod connect;
mod database;
mod failure;
mod open;
mod query;
mod run;
mod write;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use self::database::Database;
use self::run::Run;
use crate::behind::blocking;
use crate::rows::RunPlace;
use crate::store::Kept;
use crate::{RunQuery, RunSummary, Store, StoreError};

/// A store that keeps many runs in one SQLite database, where they can be
/// [queried](SqliteStore::query).
///
/// The table `lines` contains the entries of each run as JSON, after a first line with the run id and
/// the input; `runs` has one row per run with its id, flow, start, number of lines and status; `waits`
/// has one row for each waiting step. Other programs may read all three tables, and so may SQLite's
/// own tools:
///
/// ```sql
/// SELECT id, started, step FROM runs JOIN waits ON run = key WHERE status = 'paused' AND event = 'approval';
/// SELECT line FROM lines JOIN runs ON run = key WHERE id = 'order-17' ORDER BY number;
/// ```
///
/// Entries of concurrent runs share transactions: those that are queued while one transaction is
/// synced go into the next. The database is in WAL mode, so readers don't block. Several processes
/// on the same machine can use it. The locks of its runs are in a folder next to it,
/// `runs.db-locks`, which must not be removed while a run is in use.
///
/// A line that cannot be read is an error with the database, the run and the line, and the record is
/// left unchanged. A file that isn't a database of runs is also an error, and is left unchanged.
///
/// ```
/// use cogwork_flow::{Flow, Wait};
/// use cogwork_journal::{RunQuery, SqliteStore, Store};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let database = folder.path().join("runs.db");
/// let ask = Wait::for_event("name", |text: &mut String, name: String| text.push_str(&name));
/// let flow = Flow::builder("greet").start("ask").wait("ask", ask).end("ask", "default").build()?;
///
/// let store = SqliteStore::new(database);
/// for run_id in ["greeting 1", "greeting 2"] {
///     let journal = store.start(run_id, &flow, &"Hello, ").await?;
///     let mut text: String = journal.state()?;
///     flow.begin().with_journal(journal).finish(&mut text).await.unwrap_err();
/// }
/// store.deliver("greeting 1", "name", &"Ada").await?;
///
/// let waiting = store.query(RunQuery::new().paused_on("name")).await?;
/// assert_eq!(waiting.len(), 1);
/// assert_eq!(waiting[0].run_id, "greeting 2");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct SqliteStore {
    database: Arc<Database>,
    max_line: usize,
}

impl SqliteStore {
    /// The default maximum length of a line: 64 MiB.
    pub const DEFAULT_MAX_LINE: usize = crate::FileStore::DEFAULT_MAX_LINE;

    /// Creates a store in this file. The file is created when the first run starts.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            database: Arc::new(Database::new(path.into(), true)),
            max_line: Self::DEFAULT_MAX_LINE,
        }
    }

    /// Sets whether each transaction is synced to disk before its entries count as recorded
    /// (`PRAGMA synchronous`, `FULL`). If `false` (`NORMAL`), a crash of the process loses nothing;
    /// a crash of the machine may lose the last entries, but doesn't damage the database.
    ///
    /// # Default
    ///
    /// `true`.
    #[must_use]
    pub fn with_sync(self, sync: bool) -> Self {
        Self {
            database: Arc::new(Database::new(self.path().to_owned(), sync)),
            ..self
        }
    }

    /// Sets the maximum length of a line in bytes. A line contains an outcome, a snapshot or an
    /// input, and some more bytes. A longer line isn't written and stops the run with an error; a
    /// run with a longer line isn't read. SQLite's own limit is one billion bytes.
    ///
    /// # Default
    ///
    /// [`SqliteStore::DEFAULT_MAX_LINE`]. The default maximum for an outcome is 16 MiB; see
    /// [`Run::with_max_outcome`](cogwork_flow::Run::with_max_outcome).
    #[must_use]
    pub fn with_max_line(self, bytes: usize) -> Self {
        Self {
            max_line: bytes,
            ..self
        }
    }

    /// Returns the path of the database.
    pub fn path(&self) -> &Path {
        self.database.path()
    }

    /// Returns the runs that match a query.
    ///
    /// # Errors
    ///
    /// Returns an error if the database is [damaged](StoreError::is_damaged) or cannot be read. A
    /// database that doesn't exist has no runs.
    pub fn query(
        &self,
        query: RunQuery,
    ) -> impl Future<Output = Result<Vec<RunSummary>, StoreError>> + Send + use<> {
        let database = Arc::clone(&self.database);
        async move { blocking(database.place(), move || database.query(&query)).await }
    }
}

impl Store for SqliteStore {
    fn kept(&self, run_id: &str) -> Kept {
        Kept(Box::new(Run {
            database: Arc::clone(&self.database),
            place: RunPlace {
                database: self.place(),
                run_id: run_id.to_owned(),
                max_line: self.max_line,
            },
            lock: format!("{}.lock", cogwork_text::files::safe_name(run_id)),
        }))
    }

    fn place(&self) -> String {
        self.database.place()
    }

    async fn list(&self) -> Result<Vec<RunSummary>, StoreError> {
        self.query(RunQuery::all_by_id()).await
    }
}
