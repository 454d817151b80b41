//! One pool of connections, shared by all runs of a store.

use std::fmt;
use std::sync::Arc;

use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime};
use tokio::sync::{Notify, OnceCell};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::connect::Opened;
use super::failure::Failure;
use super::lease::Leases;
use super::names::Names;
use super::settings::Settings;
use super::statements::APPEND;
use super::tables;
use crate::StoreError;
use crate::error::Kind;

/// A database, which is opened on first use.
pub(super) struct Database {
    pub(super) settings: Settings,
    pub(super) names: Names,
    pub(super) leases: Leases,
    /// The statement that is executed for each step.
    pub(super) append: String,
    pool: OnceCell<Pool>,
}

impl Database {
    pub(super) fn new(settings: Settings) -> Arc<Self> {
        let names = Names::new(&settings);
        Arc::new(Self {
            append: names.sql(APPEND),
            names,
            leases: Leases::default(),
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

    /// Returns a connection of the pool. The first time, this creates the tables.
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
        self.timed(tables::create(&mut client, &self.names)).await?;
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
        let limit = self.settings.statement_timeout();
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
        let client = self.client().await?;
        let done = async {
            let statement = client.prepare_cached(&sql).await?;
            Ok(client.query(&statement, values).await?)
        };

        let done = self.timed(done).await;
        give_back(client, done)
    }

    pub(super) fn failed(&self, what: &str, failure: impl Into<Failure>) -> StoreError {
        let place = self.place();
        failure.into().into_error(format_args!("{place}: {what}"))
    }
}

/// Gives a connection back to the pool after statements were executed on it. If it failed, it is closed.
pub(super) fn give_back<T>(client: Object, done: Result<T, Failure>) -> Result<T, Failure> {
    if done.as_ref().is_err_and(Failure::is_passing) {
        drop(Object::take(client));
    }

    done
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database")
            .field("place", &self.place())
            .finish_non_exhaustive()
    }
}
