//! Queues of runs for workers.

use std::time::Duration;

use cogwork_flow::Flow;
use serde::Serialize;

use super::query::{COLUMNS, Sql};
use super::run::Run;
use super::store::PostgresStore;
use super::worker::Worker;
use crate::header::{FlowIs, Header};
use crate::rows::Rows;
use crate::{RunQuery, RunSummary, StoreError};

/// A run in a queue.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct QueuedRun {
    /// The summary of its record.
    pub run: RunSummary,
    /// The name of the queue.
    pub queue: String,
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
    /// Records a new run in the queue [`Worker::DEFAULT_QUEUE`], for a [`Worker`] to take.
    ///
    /// # Errors
    ///
    /// Returns an error if a run with this id [already exists](StoreError::is_already_there), if
    /// the input cannot be [written as JSON](StoreError::is_value), or if the database cannot be
    /// written.
    pub fn enqueue<S>(
        &self,
        run_id: &str,
        flow: &Flow<S>,
        input: &impl Serialize,
    ) -> impl Future<Output = Result<(), StoreError>> + Send {
        self.enqueue_in(Worker::DEFAULT_QUEUE, run_id, flow, input)
    }

    /// Records a new run in the queue with this name.
    ///
    /// # Errors
    ///
    /// The same as [`enqueue`](Self::enqueue).
    pub fn enqueue_in<S>(
        &self,
        queue: &str,
        run_id: &str,
        flow: &Flow<S>,
        input: &impl Serialize,
    ) -> impl Future<Output = Result<(), StoreError>> + Send {
        let queue = queue.to_owned();
        let run = self.run(run_id);
        let header = Header::new(run_id, FlowIs::of(flow), input);
        async move { run.enqueue(header?, &queue).await }
    }

    /// Returns the runs in queues that match a query.
    ///
    /// # Errors
    ///
    /// Returns an error if the database cannot be read.
    pub async fn queued(&self, query: RunQuery) -> Result<Vec<QueuedRun>, StoreError> {
        let mut sql = Sql::new(format!(
            "SELECT {COLUMNS}, queue, worker, failures, failure, set_aside
             FROM @.runs WHERE queue IS NOT NULL"
        ));
        sql.and_all(&query);
        sql.order(&query);

        let database = &self.database;
        let rows = database.query(&sql.text, &sql.values()).await;
        let rows = rows.map_err(|failure| database.failed("cannot be read", failure))?;
        let runs = database.summaries(&rows).await?;

        let queued = rows.iter().zip(runs).map(|(row, run)| {
            let failures: i32 = row.get("failures");
            QueuedRun {
                run,
                queue: row.get("queue"),
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
    /// Returns an error if there [is no such run](StoreError::is_missing) in a queue, if it is [in
    /// use](StoreError::is_locked) or [has ended](StoreError::is_ended), or if the database cannot be
    /// written.
    pub async fn put_back(&self, run_id: &str) -> Result<(), StoreError> {
        let run = self.run(run_id);
        let channel = self.database.names.channel();
        let put_back = self
            .database
            .query(
                "WITH run AS (
                     UPDATE @.runs SET failures = 0, failure = NULL, set_aside = false, ready = true, wake = NULL
                     WHERE id = $1 AND queue IS NOT NULL AND worker IS NULL AND status <> 'ended'
                     RETURNING key
                 )
                 SELECT pg_notify($2, '') FROM run",
                &[&run_id, &channel],
            )
            .await;
        let rows = put_back.map_err(|failure| run.failed("cannot be written", failure))?;
        if !rows.is_empty() {
            return Ok(());
        }

        let queued = self
            .database
            .query(
                "SELECT status = 'ended' FROM @.runs WHERE id = $1 AND queue IS NOT NULL",
                &[&run_id],
            )
            .await;
        let queued = queued.map_err(|failure| run.failed("cannot be read", failure))?;
        match queued.first().map(|row| row.get(0)) {
            None => Err(run.missing()),
            Some(true) => Err(StoreError::ended(run_id)),
            Some(false) => Err(run.in_use("a worker", 0.0)),
        }
    }

    /// Removes runs of queues that ended more than `age` ago, at most 1,000 at a time. Returns how
    /// many were removed.
    ///
    /// # Errors
    ///
    /// Returns an error if the database cannot be written.
    pub async fn prune(&self, age: Duration) -> Result<u64, StoreError> {
        let pruned = self
            .database
            .query(
                "DELETE FROM @.runs WHERE key IN (
                     SELECT key FROM @.runs
                     WHERE status = 'ended' AND queue IS NOT NULL AND worker IS NULL
                         AND (SELECT max(at) FROM @.lines WHERE run = key)
                             <= clock_timestamp() - make_interval(secs => $1)
                     ORDER BY started LIMIT 1000 FOR UPDATE SKIP LOCKED
                 ) RETURNING key",
                &[&age.as_secs_f64()],
            )
            .await;
        let rows = pruned.map_err(|failure| self.database.failed("cannot be written", failure))?;
        Ok(u64::try_from(rows.len()).unwrap_or(u64::MAX))
    }
}

impl Run {
    async fn enqueue(&self, header: Header, queue: &str) -> Result<(), StoreError> {
        let now = self.find().await?.now;
        let header = header.started_at(now);
        let (_, change) = Rows::start(self.place.clone(), header.clone().into())?;

        match self.insert(&header, &change, Some(queue)).await? {
            Some(_) => Ok(()),
            None => Err(StoreError::already_there(
                &self.place.run_id,
                &self.place.database,
            )),
        }
    }
}
