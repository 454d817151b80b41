//! The queue of runs for workers.

use cogwork_flow::Flow;
use serde::Serialize;

use super::run::HeldRun;
use super::store::PostgresStore;
use crate::header::Header;
use crate::write::Writer;
use crate::{RunQuery, RunSummary, StoreError};

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
    /// Returns an error if a run with this id [already exists](StoreError::is_already_there), if
    /// the input cannot be [written as JSON](StoreError::is_value), or if the database cannot be
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
            Writer::start(Box::new(held), header?.into())
                .await
                .map(drop)
        }
    }

    /// Returns the queued runs that match a query.
    ///
    /// # Errors
    ///
    /// Returns an error if the database cannot be read.
    pub async fn queued(&self, query: RunQuery) -> Result<Vec<QueuedRun>, StoreError> {
        let database = &self.database;
        let found = database.find(&query, " AND queued").await?;
        let queued = found.into_iter().map(|(row, run)| {
            let failures: i32 = row.get("failures");
            QueuedRun {
                run,
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
    /// Returns an error if there [is no such run](StoreError::is_missing) in the queue, if it is [in
    /// use](StoreError::is_locked) or [has ended](StoreError::is_ended), or if the database cannot be
    /// written.
    pub async fn put_back(&self, run_id: &str) -> Result<(), StoreError> {
        let channel = self.database.names.channel();
        let put_back = self
            .database
            .query(
                "WITH run AS (
                     UPDATE @.runs SET failures = 0, failure = NULL, set_aside = false, ready = true, wake = NULL
                     WHERE id = $1 AND queued AND worker IS NULL AND status <> 'ended'
                     RETURNING key
                 )
                 SELECT pg_notify($2, '') FROM run",
                &[&run_id, &channel],
            )
            .await;
        let rows =
            put_back.map_err(|failure| self.database.failed("cannot be written", failure))?;
        if !rows.is_empty() {
            return Ok(());
        }

        let queued = self
            .database
            .query(
                "SELECT status = 'ended' FROM @.runs WHERE id = $1 AND queued",
                &[&run_id],
            )
            .await;
        let queued = queued.map_err(|failure| self.database.failed("cannot be read", failure))?;
        match queued.first().map(|row| row.get(0)) {
            None => Err(StoreError::missing(run_id, &self.database.place())),
            Some(true) => Err(StoreError::ended(run_id)),
            Some(false) => Err(self.database.in_use(run_id, "a worker", 0.0)),
        }
    }
}
