//! Many runs in one SQLite database.

mod connect;
mod database;
mod failure;
mod files;
mod open;
mod query;
mod run;
mod turns;
mod write;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use self::database::Database;
pub use self::query::RunQuery;
use self::run::Run;
use crate::behind::blocking;
use crate::store::Kept;
use crate::{RunSummary, Store, StoreError, name};

/// Keeps many runs in one SQLite database, where they can be [queried](SqliteStore::query).
///
/// The table `lines` has the lines that a [`FileStore`](crate::FileStore) would write to the file of
/// the run, each with its checksum; `runs` has one row a run: its id, flow and start, how many lines
/// there are, and how it stands; `waits` has one row for each step that waits for an event. Programs may
/// read all of them, with SQLite's own tools too:
///
/// ```sql
/// SELECT id, started, step FROM runs JOIN waits ON run = key WHERE status = 'paused' AND event = 'approval';
/// SELECT line FROM lines JOIN runs ON run = key WHERE id = 'order-17' ORDER BY number;
/// ```
///
/// Runs at work at the same time are written together: what they have queued while one transaction
/// is synced goes into the next. The database is in WAL mode, so that those who read wait for nobody.
/// Several processes may use it, if they are on one machine. Beside it lies a folder with the locks
/// of its runs, `runs.db-locks`. If one of them is removed while its run is at work, a second runner can take the
/// run up, and the first one stops with its next line.
///
/// Neither the database nor a file beside it may be a link. When they are removed, moved or replaced while a
/// run is at work, the run stops with its next line. On a disk that cannot be written, runs can be listed.
///
/// A run that is not as it was written is an error that names the database, the run and the line,
/// and nothing is changed; so is a file that is no database, or one of another program.
/// A listing believes what `runs` says, and does not check the lines.
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
    /// How long a line may be unless [`with_max_line`](SqliteStore::with_max_line) says otherwise: 64 MiB.
    pub const DEFAULT_MAX_LINE: usize = crate::FileStore::DEFAULT_MAX_LINE;

    /// A store in this file, which is made when the first run starts.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            database: Arc::new(Database::new(path.into(), true)),
            max_line: Self::DEFAULT_MAX_LINE,
        }
    }

    /// Whether each transaction is synced to the disk before its lines count (`PRAGMA synchronous`
    /// `FULL`). Without (`NORMAL`), a crash of the process loses nothing; a crash of the machine
    /// may lose the last lines, and does not damage the database.
    ///
    /// # Default
    ///
    /// It is.
    #[must_use]
    pub fn with_sync(self, sync: bool) -> Self {
        Self {
            database: Arc::new(Database::new(self.path().to_owned(), sync)),
            ..self
        }
    }

    /// How long a line may be, in bytes: an outcome, a snapshot or an input, and some more for what
    /// stands around it. One that is longer is not written, and fails the run; a run that has one
    /// is not read. SQLite itself takes a billion.
    ///
    /// # Default
    ///
    /// [`SqliteStore::DEFAULT_MAX_LINE`]; an outcome may have 16 MiB unless
    /// [`Run::with_max_outcome`](cogwork_flow::Run::with_max_outcome) says otherwise.
    #[must_use]
    pub fn with_max_line(self, bytes: usize) -> Self {
        Self {
            max_line: bytes,
            ..self
        }
    }

    /// Where the database is, or would be.
    pub fn path(&self) -> &Path {
        self.database.path()
    }

    /// The runs that a query asks for.
    ///
    /// # Errors
    ///
    /// When the database is [damaged](StoreError::is_damaged) or cannot be read. One that is not
    /// there has no runs.
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
            run_id: run_id.to_owned(),
            lock: format!("{}.lock", name::safe(run_id)),
            max_line: self.max_line,
        }))
    }

    fn place(&self) -> String {
        self.database.place()
    }

    fn list(&self) -> Result<Vec<RunSummary>, StoreError> {
        self.database.query(&RunQuery::all_by_id())
    }
}
