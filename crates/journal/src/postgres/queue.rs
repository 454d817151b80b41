//! Queues of runs for workers.

use std::time::Duration;

use cogwork_flow::Flow;
use serde::Serialize;

use super::enqueue::Enqueue;
use super::queue_query::{QueueQuery, QueuedRun};
use super::run::Run;
use super::store::PostgresStore;
use crate::StoreError;
use crate::header::{FlowIs, Header};
use crate::rows::Rows;

/// Limits how many runs of a queue are executed at the same time, by all workers together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QueueLimits {
    max_running: Option<u32>,
    max_running_per_key: Option<u32>,
}

impl QueueLimits {
    /// Creates limits that allow everything.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the maximum number of runs at the same time.
    ///
    /// # Default
    ///
    /// No maximum.
    #[must_use]
    pub fn with_max_running(mut self, runs: u32) -> Self {
        self.max_running = Some(runs);
        self
    }

    /// Sets the maximum number of runs with the same [key](crate::Enqueue::with_key) at the same time.
    /// Runs without a key aren't limited.
    ///
    /// # Default
    ///
    /// No maximum.
    #[must_use]
    pub fn with_max_running_per_key(mut self, runs: u32) -> Self {
        self.max_running_per_key = Some(runs);
        self
    }
}

impl PostgresStore {
    /// Records a new run, for a [`Worker`](crate::Worker) to take.
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
        enqueue: Enqueue,
    ) -> impl Future<Output = Result<(), StoreError>> + Send {
        let run = self.run(run_id);
        let header = Header::new(run_id, FlowIs::of(flow), input);
        async move { run.enqueue(header?, &enqueue).await }
    }

    /// Sets the limits of a queue. They apply to runs that are taken from now on.
    ///
    /// # Errors
    ///
    /// Returns an error if the database cannot be written.
    pub async fn limit_queue(&self, queue: &str, limits: QueueLimits) -> Result<(), StoreError> {
        let max_running = limits.max_running.map(i64::from);
        let max_running_per_key = limits.max_running_per_key.map(i64::from);
        let limited = self
            .database
            .query(
                "INSERT INTO @.queues (name, max_running, max_running_per_key) VALUES ($1, $2, $3)
                 ON CONFLICT (name) DO UPDATE SET max_running = $2, max_running_per_key = $3",
                &[&queue, &max_running, &max_running_per_key],
            )
            .await;
        limited
            .map(drop)
            .map_err(|failure| self.database.failed("cannot be written", failure))
    }

    /// Returns the runs in queues that match a query.
    ///
    /// # Errors
    ///
    /// Returns an error if the database cannot be read.
    pub async fn queued(&self, query: QueueQuery) -> Result<Vec<QueuedRun>, StoreError> {
        self.database.find_queued(&query).await
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
                         AND changed <= clock_timestamp() - make_interval(secs => $1)
                     ORDER BY changed LIMIT 1000 FOR UPDATE SKIP LOCKED
                 ) RETURNING key",
                &[&age.as_secs_f64()],
            )
            .await;
        let rows = pruned.map_err(|failure| self.database.failed("cannot be written", failure))?;
        Ok(u64::try_from(rows.len()).unwrap_or(u64::MAX))
    }
}

impl Run {
    async fn enqueue(&self, header: Header, enqueue: &Enqueue) -> Result<(), StoreError> {
        let now = self.find().await?.now;
        let header = header.started_at(now);
        let (_, change) = Rows::start(self.place.clone(), header.clone().into())?;

        match self.insert(&header, &change, Some(enqueue)).await? {
            Some(_) => Ok(()),
            None => Err(StoreError::already_there(
                &self.place.run_id,
                &self.place.database,
            )),
        }
    }
}
