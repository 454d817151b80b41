//! A database: its settings, its connections, and its tables.

use std::error::Error as _;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use cogwork_text::{Backoff, Name};
use deadpool_postgres::{
    Manager, ManagerConfig, Object, Pool, PoolError, RecyclingMethod, Runtime,
};
use tokio::sync::OnceCell;
use tokio_postgres::config::Host;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, NoTls, Row};

use crate::{StoreError, StoreErrorKind};

/// The tables and functions. `@.` is replaced with the name of the schema and a dot.
const TABLES: &str = include_str!("tables.sql");

/// The version of the tables, which is in the comment of the table of runs.
const VERSION: &str = "cogwork 4";

/// The longest delay between attempts to reach a server that is gone.
const LONGEST_RECONNECT: Duration = Duration::from_secs(1);

#[derive(Clone)]
pub(super) struct Settings {
    pub(super) config: Config,
    pub(super) encryption: Encryption,
    pub(super) schema: String,
    pub(super) max_connections: usize,
    pub(super) lease: Duration,
    /// How often a run that fails is tried, and the delays in between.
    pub(super) retries: Backoff,
    /// Names this process in the rows of the runs that it works on.
    pub(super) worker: String,
}

/// A database, which is opened on first use.
pub(super) struct Database {
    pub(super) settings: Settings,
    pool: OnceCell<Pool>,
}

/// A value of a statement.
pub(super) type Sql<'a> = &'a (dyn ToSql + Sync);

/// Delays between attempts to reach a server that is gone, however long it is.
pub(super) type Delays = Box<dyn Iterator<Item = Duration> + Send + Sync>;

pub(super) fn reconnects() -> Delays {
    let growing = Backoff::of::<8>()
        .with_first(Duration::from_millis(50))
        .with_ceiling(LONGEST_RECONNECT);
    Box::new(growing.delays().chain(std::iter::repeat(LONGEST_RECONNECT)))
}

impl Database {
    pub(super) fn new(settings: Settings) -> Arc<Self> {
        let pool = OnceCell::new();
        Arc::new(Self { settings, pool })
    }

    /// Returns the location of the runs, for messages. It doesn't contain the password.
    pub(super) fn place(&self) -> String {
        let config = &self.settings.config;
        // As in libpq, a database without a name has that of the user.
        let database = config.get_dbname().or(config.get_user());
        let database = database.unwrap_or("postgres");
        let hosts = config.get_hosts().iter().map(|host| match host {
            Host::Tcp(name) => name.clone(),
            #[cfg(unix)]
            Host::Unix(path) => path.display().to_string(),
        });
        let hosts = hosts.collect::<Vec<_>>().join(", ");

        format!(
            "database {database} on {hosts}, schema {}",
            self.settings.schema
        )
    }

    fn quoted_schema(&self) -> String {
        format!("\"{}\"", self.settings.schema.replace('"', "\"\""))
    }

    fn sql(&self, text: &str) -> String {
        text.replace("@.", &format!("{}.", self.quoted_schema()))
    }

    pub(super) fn lease_seconds(&self) -> f64 {
        self.settings.lease.as_secs_f64()
    }

    /// Returns the delays in seconds after each failure of a run but the last.
    pub(super) fn retry_seconds(&self) -> Vec<f64> {
        let delays = self.settings.retries.with_jitter(false).delays().take(100);
        delays.map(|delay| delay.as_secs_f64()).collect()
    }

    /// Executes one statement and returns its rows. `what` is the error that it has failed.
    pub(super) async fn query(
        &self,
        what: &str,
        sql: &str,
        values: &[Sql<'_>],
    ) -> Result<Vec<Row>, StoreError> {
        let sql = self.sql(sql);
        let pool = self.pool.get_or_try_init(|| self.open()).await?;
        let client = self.timed(what, async { Ok(pool.get().await?) }).await?;
        let done = async {
            let statement = client.prepare_cached(&sql).await?;
            Ok(client.query(&statement, values).await?)
        };

        let done = self.timed(what, done).await;
        if let Err(error) = &done
            && error.kind() == StoreErrorKind::Unavailable
        {
            // The connection must not be used again.
            drop(Object::take(client));
        }
        done
    }

    /// Executes a statement that always returns one row.
    pub(super) async fn query_one(
        &self,
        what: &str,
        sql: &str,
        values: &[Sql<'_>],
    ) -> Result<Row, StoreError> {
        let rows = self.query(what, sql, values).await?;
        rows.into_iter().next().ok_or_else(|| {
            let text = format_args!("{}: {what}: the server returned nothing", self.place());
            StoreError::new(StoreErrorKind::Other, text)
        })
    }

    async fn open(&self) -> Result<Pool, StoreError> {
        let place = self.place();
        // Without a runtime, the timers would panic.
        if tokio::runtime::Handle::try_current().is_err() {
            return Err(StoreError::no_runtime(place));
        }

        let settings = &self.settings;
        let manager = settings.encryption.manager(settings.config.clone());
        let pool = Pool::builder(manager)
            .max_size(settings.max_connections)
            .runtime(Runtime::Tokio1)
            .build();
        let pool = pool.map_err(|error| StoreError::caused(StoreErrorKind::Other, place, error))?;

        let what = "cannot be opened";
        let mut client = self.timed(what, async { Ok(pool.get().await?) }).await?;
        match self.timed(what, self.create_tables(&mut client)).await? {
            version if version == VERSION => Ok(pool),
            version => {
                let (place, version) = (self.place(), Name(&version));
                let text = format_args!(
                    "{place}: the tables have version `{version}`; expected version `{VERSION}`"
                );
                Err(StoreError::new(StoreErrorKind::Damaged, text))
            }
        }
    }

    /// Creates the tables if they don't exist, and returns their version. Several processes may do this
    /// at once: one of them creates the tables, and the others wait for it.
    async fn create_tables(&self, client: &mut Client) -> Result<String, Failure> {
        // Unlike `to_regclass`, this sees what another process has just committed.
        let find = "SELECT coalesce(obj_description(pg_class.oid, 'pg_class'), '')
             FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
             WHERE nspname = $1 AND relname = 'runs'";
        let schema = &self.settings.schema;
        // The tables mostly exist, and then no lock is needed.
        if let Some(row) = client.query_opt(find, &[schema]).await? {
            return Ok(row.get(0));
        }

        let transaction = client.transaction().await?;
        // Programs that start at the same time would otherwise create the same tables.
        let lock = "SELECT pg_advisory_xact_lock(hashtext($1))";
        transaction.execute(lock, &[schema]).await?;
        // Somebody else may have created them while this waited for the lock.
        if let Some(row) = transaction.query_opt(find, &[schema]).await? {
            return Ok(row.get(0));
        }

        let schema = self.quoted_schema();
        let create = format!(
            "CREATE SCHEMA IF NOT EXISTS {schema}; {TABLES} COMMENT ON TABLE @.runs IS '{VERSION}';"
        );
        transaction.batch_execute(&self.sql(&create)).await?;
        transaction.commit().await?;
        Ok(VERSION.to_owned())
    }

    /// Limits the time that a statement takes, or opening a connection: there has to be time for another
    /// attempt before a lease expires.
    async fn timed<T>(
        &self,
        what: &str,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, StoreError> {
        // With a short lease, a third of it might be too little for a connection.
        let limit = (self.settings.lease / 3).max(Duration::from_secs(1));
        let failure = match tokio::time::timeout(limit, work).await {
            Ok(Ok(done)) => return Ok(done),
            Ok(Err(failure)) => failure,
            Err(_) => Failure {
                kind: StoreErrorKind::Unavailable,
                text: format!("the server did not respond within {limit:?}"),
            },
        };

        let Failure { kind, text } = failure;
        let place = self.place();
        Err(StoreError::new(
            kind,
            format_args!("{place}: {what}: {text}"),
        ))
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database")
            .field("place", &self.place())
            .finish_non_exhaustive()
    }
}

/// Why a statement failed, without its place.
struct Failure {
    kind: StoreErrorKind,
    text: String,
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Self {
        let kind = match is_passing(&error) {
            true => StoreErrorKind::Unavailable,
            false => StoreErrorKind::Other,
        };
        let text = shown(&error);
        Self { kind, text }
    }
}

impl From<PoolError> for Failure {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Backend(error) => error.into(),
            error => Self {
                kind: StoreErrorKind::Unavailable,
                text: error.to_string(),
            },
        }
    }
}

/// Returns whether the same statement may succeed later, because the server or the network failed and
/// not the statement.
fn is_passing(error: &tokio_postgres::Error) -> bool {
    let Some(state) = error.code() else {
        // Without a reply of the server, it is the connection that failed.
        let source = error.source();
        return error.is_closed() || source.is_some_and(|source| source.is::<std::io::Error>());
    };

    // Connections, servers that stop or start, too many connections, and transactions to repeat.
    let code = state.code();
    code.starts_with("08")
        || code.starts_with("40")
        || matches!(code, "53300" | "55P03" | "57P01" | "57P02" | "57P03")
}

/// Returns the message of the server, which the error itself leaves to its source.
pub(super) fn shown(error: &tokio_postgres::Error) -> String {
    if let Some(error) = error.as_db_error() {
        let code = error.code().code();
        return format!("{} (SQLSTATE {code})", error.message());
    }

    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

/// How connections are encrypted.
#[derive(Clone)]
pub(super) enum Encryption {
    None,
    #[cfg(feature = "postgres-tls")]
    Rustls(tokio_postgres_rustls::MakeRustlsConnect),
}

impl Encryption {
    /// Returns what opens connections.
    fn manager(&self, config: Config) -> Manager {
        let recycling = ManagerConfig {
            // A test would cost a round trip each time, and `query` drops a connection that failed.
            recycling_method: RecyclingMethod::Fast,
        };
        match self {
            Self::None => Manager::from_config(config, NoTls, recycling),
            #[cfg(feature = "postgres-tls")]
            Self::Rustls(tls) => Manager::from_config(config, tls.clone(), recycling),
        }
    }
}
