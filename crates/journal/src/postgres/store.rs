use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use cogwork_text::Backoff;
use tokio_postgres::Config;
#[cfg(feature = "postgres-tls")]
use tokio_postgres::config::SslMode;

use super::backend::Postgres;
use super::database::Database;
use super::settings::Settings;
use crate::error::Kind;
use crate::{Store, StoreError};

/// A [`Store`] in PostgreSQL, for programs on many machines, with its settings and its queue.
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
/// `waits` has one row for each waiting step, with the number of its line. Other programs may read all
/// of them.
///
/// If the server is restarted or cannot be reached for a while, a run that has an outcome to record
/// waits for it for as long as a lease lasts.
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
    /// The default length of a lease: 30 s.
    pub const DEFAULT_LEASE: Duration = Duration::from_secs(30);

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

        Ok(Self::over(Settings::new(config)))
    }

    fn over(settings: Settings) -> Self {
        let database = Database::new(settings);
        let backend = Arc::new(Postgres(Arc::clone(&database)));
        Self {
            database,
            store: Store::over(backend),
        }
    }

    fn with(&self, change: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = self.database.settings.clone();
        change(&mut settings);
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
    /// process dies, its runs can be taken over after that time. A statement and opening a connection
    /// may take a third of it. All processes should use the same length.
    ///
    /// # Default
    ///
    /// [`PostgresStore::DEFAULT_LEASE`].
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
