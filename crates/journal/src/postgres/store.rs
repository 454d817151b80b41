use std::sync::Arc;
use std::time::Duration;

use cogwork_text::Backoff;
use tokio_postgres::Config;
#[cfg(feature = "postgres-tls")]
use tokio_postgres::config::SslMode;

use super::database::Database;
use super::run::Run;
use super::settings::Settings;
use crate::error::Kind;
use crate::rows::RunPlace;
use crate::store::Kept;
use crate::{RunQuery, RunSummary, Store, StoreError};

/// A store that keeps runs in PostgreSQL, for programs on many machines.
///
/// Whoever starts or resumes a run gets a lease on it. While its journal exists, the lease is
/// renewed in the background; when the journal is dropped, the lease is given back. If a process
/// dies, others can take its runs once their leases have expired. Each lease has a number, the
/// fence, which is checked by the same statement that appends a line: a process whose run was given
/// to somebody else cannot write any more, however long it was suspended. Only the clock of the
/// database counts.
///
/// Programs can resume runs by their ids, as with the other stores. They can also
/// [enqueue](PostgresStore::enqueue) runs, which [workers](crate::Worker) take from there.
///
/// The tables are created on first use, in a schema of their own. `runs` has one row per run, `lines`
/// contains the entries of each run as JSON, after a first line with the run id and the input, and
/// `waits` has one row for each waiting step. Other programs may read all of them.
///
/// If the server is restarted or cannot be reached for a while, a run that has an outcome to record
/// waits for it; see [`with_patience`](PostgresStore::with_patience).
///
/// ```no_run
/// use cogwork_flow::{Flow, from_fn};
/// use cogwork_journal::{PostgresStore, Store};
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
}

impl PostgresStore {
    /// The default length of a lease: 30 s.
    pub const DEFAULT_LEASE: Duration = Duration::from_secs(30);

    /// The default maximum length of a line: 64 MiB.
    pub const DEFAULT_MAX_LINE: usize = crate::FileStore::DEFAULT_MAX_LINE;

    /// Creates a store in a database. `url` is a connection string of libpq, as a URL or as pairs of
    /// keys and values. Nothing is connected before the first use.
    ///
    /// # Errors
    ///
    /// Returns an error if the connection string is invalid.
    pub fn new(url: &str) -> Result<Self, StoreError> {
        let config: Config = url.parse().map_err(|error| {
            let what = "the connection string of PostgreSQL";
            StoreError::caused(Kind::Other, what, Unreadable(error))
        })?;

        Ok(Self {
            database: Database::new(Settings::new(config)),
        })
    }

    fn with(&self, change: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = self.database.settings.clone();
        change(&mut settings);
        Self {
            database: Database::new(settings),
        }
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

    /// Sets the maximum number of connections, of which each executes one statement at a time. A
    /// [worker](crate::Worker) opens one more, for notifications.
    ///
    /// # Default
    ///
    /// 8.
    #[must_use]
    pub fn with_max_connections(self, connections: usize) -> Self {
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
            settings.encryption = super::connect::Encryption::Rustls(tls);
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

        let failed =
            |error: rustls::Error| StoreError::caused(Kind::Other, "TLS cannot be set up", error);
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|config| config.with_platform_verifier())
            .map_err(failed)?;
        Ok(self.with_tls_config(config.with_no_client_auth()))
    }

    /// Sets how long a lease lasts unless it is renewed, which is done three times as often. If a
    /// process dies, its runs can be taken over after that time. All processes should use the same
    /// length.
    ///
    /// # Default
    ///
    /// [`PostgresStore::DEFAULT_LEASE`].
    #[must_use]
    pub fn with_lease(self, lease: Duration) -> Self {
        self.with(|settings| settings.lease = lease.max(Duration::from_millis(10)))
    }

    /// Sets how long a run waits for a server that is gone before it stops with an error. If it is
    /// longer than the lease, somebody else may take over the run in the meantime.
    ///
    /// # Default
    ///
    /// 30 s.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        self.with(|settings| settings.patience = patience)
    }

    /// Sets the maximum time for a statement, and for opening a connection. After that time, the
    /// connection counts as broken.
    ///
    /// # Default
    ///
    /// 10 s.
    #[must_use]
    pub fn with_statement_timeout(self, timeout: Duration) -> Self {
        self.with(|settings| settings.statement_timeout = timeout)
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

    /// Sets the maximum length of a line in bytes. A line contains an outcome, a snapshot or an
    /// input, and some more bytes. A longer line isn't written and stops the run with an error; a
    /// run with a longer line isn't read. PostgreSQL's own limit is about one billion bytes.
    ///
    /// # Default
    ///
    /// [`PostgresStore::DEFAULT_MAX_LINE`].
    #[must_use]
    pub fn with_max_line(self, bytes: usize) -> Self {
        self.with(|settings| settings.max_line = bytes)
    }

    pub(super) fn run(&self, run_id: &str) -> Run {
        Run {
            database: Arc::clone(&self.database),
            place: RunPlace {
                database: self.database.place(),
                run_id: run_id.to_owned(),
                max_line: self.database.settings.max_line,
            },
        }
    }

    /// Returns the runs that match a query.
    ///
    /// # Errors
    ///
    /// Returns an error if the database cannot be read.
    pub async fn query(&self, query: RunQuery) -> Result<Vec<RunSummary>, StoreError> {
        self.database.find_all(&query).await
    }
}

impl Store for PostgresStore {
    fn kept(&self, run_id: &str) -> Kept {
        Kept(Box::new(self.run(run_id)))
    }

    fn place(&self) -> String {
        self.database.place()
    }

    async fn list(&self) -> Result<Vec<RunSummary>, StoreError> {
        self.database.find_all(&RunQuery::all_by_id()).await
    }
}

/// An invalid connection string. The reason is in the source of the error.
#[derive(Debug)]
struct Unreadable(tokio_postgres::Error);

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)?;
        match std::error::Error::source(&self.0) {
            Some(source) => write!(f, ": {source}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Unreadable {}
