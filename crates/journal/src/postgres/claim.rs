//! Takes runs from queues.

use async_trait::async_trait;
use deadpool_postgres::{Object, Transaction};
use tokio_postgres::Row;

use super::database::{Database, Statements};
use super::failure::Failure;
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
    pub(super) key: i64,
    pub(super) fence: i64,
    pub(super) lines: i64,
    pub(super) answers: i64,
    pub(super) now: i64,
}

/// The assignments and the result of all statements that take runs.
const TAKE: &str = "fence = fence + 1, worker = $1, ready = false,
     wake = clock_timestamp() + make_interval(secs => $2)";
const TAKEN: &str = "id, flow, key, fence, lines, answers,
     (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now";

impl Claimed {
    fn of(row: &Row) -> Self {
        Self {
            run_id: row.get("id"),
            flow: row.get("flow"),
            key: row.get("key"),
            fence: row.get("fence"),
            lines: row.get("lines"),
            answers: row.get("answers"),
            now: row.get("now"),
        }
    }
}

impl Database {
    /// Takes up to `most` runs, those with the highest priority first.
    pub(super) async fn claim(
        &self,
        wanted: &Wanted,
        most: usize,
    ) -> Result<Vec<Claimed>, StoreError> {
        let failed = |failure| self.failed("runs cannot be taken", failure);
        let mut claimed = self.claim_unlimited(wanted, most).await.map_err(failed)?;
        if claimed.len() == most {
            return Ok(claimed);
        }

        for queue in self.limited_queues(wanted).await.map_err(failed)? {
            let limited = Limited {
                database: self,
                wanted,
                queue,
                most: i64::try_from(most - claimed.len()).unwrap_or(i64::MAX),
            };
            claimed.extend(self.run(&limited).await.map_err(failed)?);
        }

        Ok(claimed)
    }

    /// Takes runs from queues without limits. Several workers can do so at once: each skips the rows
    /// that another one is taking.
    async fn claim_unlimited(&self, wanted: &Wanted, most: usize) -> Result<Vec<Claimed>, Failure> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let rows = self
            .query(
                &format!(
                    "UPDATE @.runs SET {TAKE} WHERE key IN (
                         SELECT key FROM @.runs
                         WHERE ready AND queue = ANY($3)
                             AND (flow, shape) IN (SELECT * FROM unnest($4::text[], $5::bigint[]))
                             AND NOT EXISTS (SELECT FROM @.queues WHERE name = queue)
                         ORDER BY priority DESC, key LIMIT $6 FOR UPDATE SKIP LOCKED
                     ) RETURNING {TAKEN}"
                ),
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
    pub(super) async fn wake_due(&self) -> Result<Option<f64>, StoreError> {
        let failed = |failure| self.failed("runs cannot be woken", failure);
        let delays = self.settings.retry_seconds();
        let channel = self.names.channel();

        self.query(
            "WITH due AS (
                 SELECT key, worker IS NOT NULL AS died,
                     queue IS NOT NULL AND (set_aside OR worker IS NOT NULL
                         AND failures >= cardinality($1::float8[])) AS is_set_aside
                 FROM @.runs WHERE wake <= clock_timestamp() AND NOT ready
                 ORDER BY wake LIMIT 1000 FOR UPDATE SKIP LOCKED
             ), woken AS (
                 UPDATE @.runs AS runs SET
                     fence = fence + died::int,
                     worker = NULL,
                     failures = failures + died::int,
                     failure = CASE WHEN died
                         THEN format('the lease of %s expired, so it died or lost the database', worker)
                         ELSE failure END,
                     set_aside = is_set_aside,
                     ready = queue IS NOT NULL AND NOT is_set_aside,
                     wake = NULL
                 FROM due WHERE runs.key = due.key
                 RETURNING ready
             )
             SELECT pg_notify($2, '') FROM woken WHERE ready LIMIT 1",
            &[&delays, &channel],
        )
        .await
        .map_err(failed)?;

        let next = self
            .query(
                "SELECT extract(epoch FROM min(wake) - clock_timestamp())::float8 FROM @.runs
                 WHERE wake IS NOT NULL AND NOT ready",
                &[],
            )
            .await
            .map_err(failed)?;
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
        let claim = self.database.sql(&format!(
            "WITH at_work AS (
                 SELECT limit_key, count(*) AS runs FROM @.runs
                 WHERE queue = $3 AND worker IS NOT NULL AND wake > clock_timestamp()
                 GROUP BY limit_key
             ), numbered AS (
                 SELECT key, priority, limit_key,
                     row_number() OVER (PARTITION BY limit_key ORDER BY priority DESC, key) AS number
                 FROM @.runs
                 WHERE ready AND queue = $3
                     AND (flow, shape) IN (SELECT * FROM unnest($4::text[], $5::bigint[]))
             ), chosen AS (
                 SELECT key FROM numbered LEFT JOIN at_work USING (limit_key)
                 WHERE limit_key IS NULL OR $8::bigint IS NULL OR number + coalesce(runs, 0) <= $8
                 ORDER BY priority DESC, key
                 LIMIT greatest(0, least($6, $7::bigint - (SELECT coalesce(sum(runs), 0)::bigint FROM at_work)))
             )
             UPDATE @.runs SET {TAKE} WHERE key IN (SELECT key FROM chosen) AND ready RETURNING {TAKEN}"
        ));

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
