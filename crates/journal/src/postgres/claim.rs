//! Takes runs from queues.

use async_trait::async_trait;
use deadpool_postgres::{Object, Transaction};
use tokio_postgres::Row;

use super::database::{Database, Statements};
use super::failure::Failure;
use super::protocol::Held;
use super::protocol::statements::{CLAIM, CLAIM_LIMITED, NEXT_DUE, WAKE_DUE};
use super::row::RowState;
use crate::StoreError;

/// The runs that a worker can take.
#[derive(Debug, Clone, Default)]
pub(super) struct Wanted {
    pub(super) queues: Vec<String>,
    /// The names of the flows…
    pub(super) flows: Vec<String>,
    /// …and the hashes of what must not change in them.
    pub(super) shapes: Vec<i64>,
}

/// A run that was taken from a queue. Its lease isn't kept yet.
pub(super) struct Claimed {
    pub(super) run_id: String,
    pub(super) flow: String,
    pub(super) held: Held,
    pub(super) row: RowState,
    pub(super) lines: i64,
    pub(super) answers: i64,
    pub(super) now: i64,
}

impl Claimed {
    pub(super) fn of(row: &Row) -> Self {
        Self {
            run_id: row.get("id"),
            flow: row.get("flow"),
            held: Held {
                key: row.get("key"),
                fence: row.get("fence"),
            },
            row: RowState {
                version: row.get("version"),
                has_failures: row.get("has_failures"),
            },
            lines: row.get("lines"),
            answers: row.get("answers"),
            now: row.get("now"),
        }
    }
}

impl Database {
    /// Takes up to `most` runs, those with the highest priority first.
    pub(super) async fn claim_runs(
        &self,
        wanted: &Wanted,
        most: usize,
    ) -> Result<Vec<Claimed>, StoreError> {
        let failed = |failure| self.failed("runs cannot be taken", failure);
        let mut claimed = self.claim_unlimited(wanted, most).await.map_err(failed)?;
        if claimed.len() == most {
            return Ok(claimed);
        }

        // The runs that were taken so far would otherwise wait until their leases expire.
        match self.claim_limited(wanted, most - claimed.len()).await {
            Err(failure) if claimed.is_empty() => Err(failed(failure)),
            limited => {
                claimed.extend(limited.unwrap_or_default());
                Ok(claimed)
            }
        }
    }

    /// Takes runs from queues with limits. If that fails, returns those that were taken, if any.
    async fn claim_limited(&self, wanted: &Wanted, most: usize) -> Result<Vec<Claimed>, Failure> {
        let mut claimed = Vec::new();

        for queue in self.limited_queues(wanted).await? {
            let limited = Limited {
                database: self,
                wanted,
                queue,
                most: i64::try_from(most - claimed.len()).unwrap_or(i64::MAX),
            };
            match self.run(&limited).await {
                Ok(new) => claimed.extend(new),
                Err(failure) if claimed.is_empty() => return Err(failure),
                Err(_) => break,
            }
        }

        Ok(claimed)
    }

    /// Takes runs from queues without limits.
    async fn claim_unlimited(&self, wanted: &Wanted, most: usize) -> Result<Vec<Claimed>, Failure> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let rows = self
            .query(
                CLAIM,
                &[
                    &self.settings.worker,
                    &self.settings.lease_seconds(),
                    &wanted.queues,
                    &wanted.flows,
                    &wanted.shapes,
                    &most,
                ],
            )
            .await?;

        Ok(rows.iter().map(Claimed::of).collect())
    }

    /// Returns the queues that have limits, and runs that are ready.
    async fn limited_queues(&self, wanted: &Wanted) -> Result<Vec<String>, Failure> {
        let rows = self
            .query(
                "SELECT name FROM @.queues WHERE name = ANY($1)
                     AND EXISTS (SELECT FROM @.runs WHERE ready AND queue = name)",
                &[&wanted.queues],
            )
            .await?;

        Ok(rows.iter().map(|row| row.get(0)).collect())
    }

    /// Makes runs ready that are due: after a delay, when a wait times out, or when the lease of a
    /// worker that died expires. A run that failed or whose worker died too often is set aside.
    /// Returns how many seconds it takes until the next one is due.
    pub(super) async fn wake_runs(&self) -> Result<Option<f64>, StoreError> {
        let failed = |failure| self.failed("runs cannot be woken", failure);
        let delays = self.settings.retry_seconds();
        let channel = self.names.channel();

        self.query(WAKE_DUE, &[&delays, &channel])
            .await
            .map_err(failed)?;

        let next = self.query(NEXT_DUE, &[]).await.map_err(failed)?;
        Ok(next.first().and_then(|row| row.get(0)))
    }
}

/// Takes runs from a queue with limits, one worker at a time.
struct Limited<'a> {
    database: &'a Database,
    wanted: &'a Wanted,
    queue: String,
    most: i64,
}

#[async_trait]
impl Statements for Limited<'_> {
    type Output = Vec<Claimed>;

    async fn run(&self, client: &mut Object) -> Result<Vec<Claimed>, Failure> {
        let transaction = client.transaction().await?;

        // Nobody else counts the runs at work until this is committed.
        let lock = self.database.sql(
            "SELECT max_running, max_running_per_key FROM @.queues WHERE name = $1 FOR UPDATE",
        );
        let lock = transaction.prepare_cached(&lock).await?;
        let limits = transaction.query_opt(&lock, &[&self.queue]).await?;
        let Some(limits) = limits else {
            return Ok(Vec::new());
        };

        let claimed = self
            .claim(&transaction, limits.get(0), limits.get(1))
            .await?;
        transaction.commit().await?;
        Ok(claimed)
    }
}

impl Limited<'_> {
    async fn claim(
        &self,
        transaction: &Transaction<'_>,
        max_running: Option<i64>,
        max_per_key: Option<i64>,
    ) -> Result<Vec<Claimed>, Failure> {
        let settings = &self.database.settings;
        let claim = self.database.sql(CLAIM_LIMITED);
        let claim = transaction.prepare_cached(&claim).await?;
        let rows = transaction
            .query(
                &claim,
                &[
                    &settings.worker,
                    &settings.lease_seconds(),
                    &self.queue,
                    &self.wanted.flows,
                    &self.wanted.shapes,
                    &self.most,
                    &max_running,
                    &max_per_key,
                ],
            )
            .await?;
        Ok(rows.iter().map(Claimed::of).collect())
    }
}
