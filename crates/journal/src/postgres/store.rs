use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use cogwork_flow::Flow;
use cogwork_text::Backoff;
use serde::Serialize;
use tokio_postgres::Config;
#[cfg(feature = "postgres-tls")]
use tokio_postgres::config::SslMode;

use super::backend::{HeldRun, Postgres, in_use, summary};
use super::database::{Database, Encryption, Settings, shown};
use crate::header::Header;
use crate::write::Writer;
use crate::{RunQuery, RunSummary, Store, StoreError, StoreErrorKind};

/// A [`Store`] in PostgreSQL, for programs on many machines, with its settings and its queue.
///
/// Whoever starts or resumes a run gets a lease on it. While its journal exists, the lease is
/// renewed in the background; when the journal is dropped, the lease is given back. If a process
/// dies, others can take its runs once their leases have expired. Each lease has a number, the
/// fence, which is checked by the same statement that appends a line: a process whose run was given
/// to somebody else cannot write any more, however long it was suspended. Before a call, it also checks
/// by its own clock that its lease hasn't expired.
///
/// Programs can resume runs by their ids, as with the other stores. They can also
/// [enqueue](PostgresStore::enqueue) runs, which [workers](crate::Worker) take from there.
///
/// The tables are created on first use, in a schema of their own. `runs` has one row per run, `lines`
/// contains the entries of each run as JSON, after a first line with the run id and the input, and
/// `waits` has one row for each waiting step, with the number of its line and whether its event has an
/// unused answer. Other programs may read all of them.
///
/// If the server is restarted or cannot be reached for a while, a run that has an outcome to record or a
/// call to make waits for it for as long as a lease lasts.
///
/// ```no_run
/// use cogwork_flow::{Flow, from_fn};
/// use cogwork_journal::PostgresStore;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let flow = Flow::builder("add")
///     .start("one")
///     .node("one", from_fn(|n: &mut u32| *n += 1))
///     .end("one", "default")
///     .build()?;
///
/// let store = PostgresStore::new("postgresql://app@db.example/app")?;
/// let journal = store.start_or_resume("sum 1", &flow, &41).await?;
/// let mut n = journal.state()?;
/// flow.begin().with_journal(journal).finish(&mut n).await?;
/// assert_eq!(n, 42);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct PostgresStore {
    pub(super) database: Arc<Database>,
    store: Store,
}

impl PostgresStore {
    /// Creates a store in a database. `url` is a connection string of libpq, as a URL or as pairs of
    /// keys and values. Nothing is connected before the first use.
    ///
    /// # Errors
    ///
    /// Returns an error if the connection string is invalid.
    pub fn new(url: &str) -> Result<Self, StoreError> {
        let config: Config = url.parse().map_err(|error| {
            let problem = shown(&error);
            let text = format_args!("the connection string of PostgreSQL: {problem}");
            StoreError::new(StoreErrorKind::Other, text)
        })?;

        Ok(Self::over(Settings {
            config,
            encryption: Encryption::None,
            schema: "cogwork".to_owned(),
            max_connections: 8,
            lease: Duration::from_secs(30),
            retries: Backoff::of::<5>()
                .with_first(Duration::from_secs(1))
                .with_factor(4.0)
                .with_ceiling(Duration::from_secs(300)),
            worker: format!("process {}", std::process::id()),
        }))
    }

    fn over(settings: Settings) -> Self {
        let database = Database::new(settings);
        let backend = Arc::new(Postgres(Arc::clone(&database)));
        Self {
            database,
            store: Store(backend),
        }
    }

    fn with(&self, change: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = self.database.settings.clone();
        change(&mut settings);
        // A new pool, because connections are opened with the settings.
        Self::over(settings)
    }

    /// Sets the schema in which the tables are.
    ///
    /// # Default
    ///
    /// `cogwork`.
    #[must_use]
    pub fn with_schema(self, name: impl Into<String>) -> Self {
        self.with(|settings| settings.schema = name.into())
    }

    /// Returns the name of the schema.
    pub fn schema(&self) -> &str {
        &self.database.settings.schema
    }

    /// Sets the maximum number of connections, of which each executes one statement at a time.
    ///
    /// # Default
    ///
    /// 8.
    #[must_use]
    pub fn with_max_connections(self, connections: usize) -> Self {
        // A pool without connections could execute nothing.
        self.with(|settings| settings.max_connections = connections.max(1))
    }

    /// Encrypts connections with rustls and these settings. A server that doesn't support TLS is
    /// refused, also with `sslmode=prefer`.
    ///
    /// # Default
    ///
    /// Connections aren't encrypted, and a connection string with `sslmode=require` is an error.
    #[cfg(feature = "postgres-tls")]
    #[must_use]
    pub fn with_tls_config(self, config: rustls::ClientConfig) -> Self {
        let tls = tokio_postgres_rustls::MakeRustlsConnect::new(config);
        self.with(|settings| {
            settings.config.ssl_mode(SslMode::Require);
            settings.encryption = Encryption::Rustls(tls);
        })
    }

    /// Encrypts connections with rustls, and checks certificates as the operating system does.
    ///
    /// # Errors
    ///
    /// Returns an error if the certificates of the operating system cannot be read.
    #[cfg(feature = "postgres-tls")]
    pub fn with_tls(self) -> Result<Self, StoreError> {
        use rustls_platform_verifier::BuilderVerifierExt;

        let failed = |error: rustls::Error| {
            StoreError::caused(StoreErrorKind::Other, "TLS cannot be set up", error)
        };
        // Named here, because rustls panics if other crates have enabled a second provider.
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|config| config.with_platform_verifier())
            .map_err(failed)?;
        Ok(self.with_tls_config(config.with_no_client_auth()))
    }

    /// Sets how long a lease lasts unless it is renewed, which is done three times as often. If a
    /// process dies, its runs can be taken over after that time. A statement and opening a connection
    /// may take a third of it. All processes should use the same length.
    ///
    /// # Default
    ///
    /// 30 s.
    #[must_use]
    pub fn with_lease(self, lease: Duration) -> Self {
        self.with(|settings| settings.lease = lease.max(Duration::from_millis(10)))
    }

    /// Sets how often workers try a run that fails or whose worker dies, and the delays in between.
    /// Only attempts without a new outcome in between count. After the last one, the run is set
    /// aside; see [`put_back`](PostgresStore::put_back).
    ///
    /// # Default
    ///
    /// 5 attempts; a first delay of 1 s, a factor of 4 and a maximum of 5 minutes.
    #[must_use]
    pub fn with_retries(self, retries: Backoff) -> Self {
        self.with(|settings| settings.retries = retries)
    }
}

/// A queued run.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct QueuedRun {
    /// The summary of its record.
    pub run: RunSummary,
    /// The name of the worker that executes it.
    pub worker: Option<String>,
    /// How often it failed or its worker died, since its last new outcome.
    pub failures: u32,
    /// The error of the last failure, or which worker died.
    pub failure: Option<String>,
    /// Whether it failed so often that workers don't take it any more.
    pub is_set_aside: bool,
}

impl PostgresStore {
    /// Records a new run for a [`Worker`](crate::Worker) to take.
    ///
    /// # Errors
    ///
    /// Returns an error if a run with this id [already exists](StoreErrorKind::AlreadyThere), if
    /// the input cannot be [written as JSON](StoreErrorKind::Value), or if the database cannot be
    /// written.
    pub fn enqueue<S>(
        &self,
        run_id: &str,
        flow: &Flow<S>,
        input: &impl Serialize,
    ) -> impl Future<Output = Result<(), StoreError>> + Send {
        let held = HeldRun::queued(&self.database, run_id);
        let header = Header::new(run_id, flow.graph(), input);
        async move {
            let started = Writer::start(Box::new(held), header?.into());
            started.await.map(drop)
        }
    }

    /// Returns the queued runs that match a query.
    ///
    /// # Errors
    ///
    /// Returns an error if the database cannot be read.
    pub async fn queued(&self, query: RunQuery) -> Result<Vec<QueuedRun>, StoreError> {
        let rows = self.database.rows(&query, " AND queued").await?;
        let queued = rows.iter().map(|row| {
            let failures: i32 = row.get("failures");
            QueuedRun {
                run: summary(row),
                worker: row.get("worker"),
                failures: u32::try_from(failures).unwrap_or_default(),
                failure: row.get("failure"),
                is_set_aside: row.get("set_aside"),
            }
        });
        Ok(queued.collect())
    }

    /// Puts back a run that was set aside, or that waits for its next attempt, so that a worker
    /// takes it soon. Its failures are forgotten.
    ///
    /// # Errors
    ///
    /// Returns an error if there [is no such run](StoreErrorKind::Missing) in the queue, if it is [in
    /// use](StoreErrorKind::InUse) or [has ended](StoreErrorKind::Ended), or if the database cannot be
    /// written.
    pub async fn put_back(&self, run_id: &str) -> Result<(), StoreError> {
        let sql = "WITH found AS (
                 SELECT key, status, worker FROM @.runs WHERE id = $1 AND queued FOR UPDATE
             ), put_back AS (
                 UPDATE @.runs SET failures = 0, failure = NULL, set_aside = false, ready = true, wake = NULL
                 WHERE key IN (SELECT key FROM found WHERE worker IS NULL AND status <> 'ended')
                 RETURNING key
             )
             SELECT status = 'ended', worker, (SELECT count(*) FROM put_back) FROM found";
        let what = "cannot be written";
        let rows = self.database.query(what, sql, &[&run_id]).await?;

        let place = self.database.place();
        let Some(row) = rows.first() else {
            return Err(StoreError::missing(run_id, &place));
        };
        if row.get(0) {
            return Err(StoreError::ended(run_id));
        }
        match row.get::<_, Option<String>>(1) {
            Some(worker) => Err(in_use(&place, run_id, &worker, None)),
            None => Ok(()),
        }
    }
}

impl Deref for PostgresStore {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.store
    }
}

impl From<PostgresStore> for Store {
    fn from(store: PostgresStore) -> Self {
        store.store
    }
}
