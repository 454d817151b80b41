//! One pool of connections, shared by all runs of a store.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime};
use tokio::sync::{Notify, OnceCell};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::connect::Opened;
use super::failure::Failure;
use super::migrations::migrate;
use super::names::Names;
use super::protocol;
use super::protocol::statements::APPEND;
use super::settings::Settings;
use crate::StoreError;
use crate::error::Kind;

pub(super) type Lease = protocol::Lease<Database>;

/// A database, which is opened on first use.
pub(super) struct Database {
    pub(super) settings: Settings,
    pub(super) names: Names,
    pub(super) leases: protocol::Leases<Self>,
    /// The statement that is executed for each step.
    pub(super) append: String,
    pool: OnceCell<Pool>,
}

impl Database {
    pub(super) fn new(settings: Settings) -> Arc<Self> {
        let names = Names::new(&settings);
        Arc::new_cyclic(|this| Self {
            append: names.sql(APPEND),
            names,
            leases: protocol::Leases::new(this.clone()),
            pool: OnceCell::new(),
            settings,
        })
    }

    pub(super) fn place(&self) -> String {
        self.names.place()
    }

    pub(super) fn sql(&self, text: &str) -> String {
        self.names.sql(text)
    }

    /// Returns a connection of the pool. The first time, this brings the tables up to date.
    pub(super) async fn client(&self) -> Result<Object, Failure> {
        let pool = self.pool.get_or_try_init(|| self.open()).await?;
        self.timed(async { Ok(pool.get().await?) }).await
    }

    async fn open(&self) -> Result<Pool, Failure> {
        if tokio::runtime::Handle::try_current().is_err() {
            return Err(StoreError::no_runtime(self.place()).into());
        }

        let Settings {
            config, encryption, ..
        } = &self.settings;
        let manager = Manager::from_connect(
            config.clone(),
            encryption.clone(),
            ManagerConfig {
                recycling_method: RecyclingMethod::Fast,
            },
        );
        let pool = Pool::builder(manager)
            .max_size(self.settings.max_connections)
            .runtime(Runtime::Tokio1)
            .build();
        let pool = pool.map_err(|error| {
            let place = self.place();
            StoreError::caused(Kind::Other, format_args!("{place}: no pool"), error)
        })?;

        let mut client = self.timed(async { Ok(pool.get().await?) }).await?;
        self.timed(migrate(&mut client, &self.names)).await?;
        Ok(pool)
    }

    /// Opens a connection beside the pool, for notifications.
    pub(super) async fn open_listener(&self, notified: Arc<Notify>) -> Result<Opened, Failure> {
        let Settings {
            config, encryption, ..
        } = &self.settings;
        self.timed(async { Ok(encryption.open(config, Some(notified)).await?) })
            .await
    }

    /// Limits the time that a statement takes. A connection on which one took too long must not be
    /// used again.
    pub(super) async fn timed<T>(
        &self,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let limit = self.settings.statement_timeout;
        let done = tokio::time::timeout(limit, work).await;
        done.unwrap_or(Err(Failure::TimedOut(limit)))
    }

    /// Executes one statement and returns its rows.
    pub(super) async fn query(
        &self,
        sql: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Failure> {
        let sql = self.sql(sql);
        self.run(&Query { sql, values }).await
    }

    /// Runs statements on a connection of the pool. If the connection failed, it is closed.
    pub(super) async fn run<W: Statements>(&self, work: &W) -> Result<W::Output, Failure> {
        let mut client = self.client().await?;
        let done = self.timed(work.run(&mut client)).await;

        if done.as_ref().is_err_and(Failure::is_passing) {
            drop(Object::take(client));
        }

        done
    }

    pub(super) fn failed(&self, what: &str, failure: impl Into<Failure>) -> StoreError {
        let place = self.place();
        failure.into().into_error(format_args!("{place}: {what}"))
    }
}

/// Statements that are executed on one connection.
#[async_trait]
pub(super) trait Statements: Sync {
    type Output: Send;

    async fn run(&self, client: &mut Object) -> Result<Self::Output, Failure>;
}

struct Query<'a> {
    sql: String,
    values: &'a [&'a (dyn ToSql + Sync)],
}

#[async_trait]
impl Statements for Query<'_> {
    type Output = Vec<Row>;

    async fn run(&self, client: &mut Object) -> Result<Vec<Row>, Failure> {
        let statement = client.prepare_cached(&self.sql).await?;
        Ok(client.query(&statement, self.values).await?)
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database")
            .field("place", &self.place())
            .finish_non_exhaustive()
    }
}
