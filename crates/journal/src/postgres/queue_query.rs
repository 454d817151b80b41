use serde_json::Value;
use tokio_postgres::Row;

use super::database::Database;
use super::query::{COLUMNS, Sql};
use crate::{RunQuery, RunSummary, StoreError};

/// A query for runs in queues.
///
/// ```
/// use cogwork_journal::{QueueQuery, RunQuery};
/// use serde_json::json;
///
/// let query = QueueQuery::new()
///     .queue("mail")
///     .metadata(json!({ "customer": 17 }))
///     .matching(RunQuery::new().failed().limit(20));
/// ```
#[derive(Debug, Clone, Default)]
pub struct QueueQuery {
    runs: RunQuery,
    queue: Option<String>,
    key: Option<String>,
    metadata: Option<Value>,
    unchanged_for: Option<f64>,
    is_set_aside: Option<bool>,
}

impl QueueQuery {
    /// Creates a query for all runs in queues, the newest first.
    pub fn new() -> Self {
        Self::default()
    }

    /// Selects runs that match this query as well, in its order and with its limits.
    #[must_use]
    pub fn matching(mut self, runs: RunQuery) -> Self {
        self.runs = runs;
        self
    }

    /// Selects runs in this queue.
    #[must_use]
    pub fn queue(mut self, name: impl Into<String>) -> Self {
        self.queue = Some(name.into());
        self
    }

    /// Selects runs with this [key](crate::Enqueue::with_key).
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Selects runs whose metadata contain this value: for an object, all of its fields with these
    /// values, at any depth.
    #[must_use]
    pub fn metadata(mut self, contained: Value) -> Self {
        self.metadata = Some(contained);
        self
    }

    /// Selects runs whose status hasn't changed for this long.
    #[must_use]
    pub fn unchanged_for(mut self, time: std::time::Duration) -> Self {
        self.unchanged_for = Some(time.as_secs_f64());
        self
    }

    /// Selects runs that were set aside.
    #[must_use]
    pub fn set_aside(mut self) -> Self {
        self.is_set_aside = Some(true);
        self
    }

    fn sql(&self) -> Sql {
        let mut sql = Sql::new(format!(
            "SELECT {COLUMNS}, queue, priority, limit_key, metadata, worker, failures, failure, set_aside
             FROM @.runs WHERE queue IS NOT NULL"
        ));
        sql.and_all(&self.runs);

        if let Some(queue) = &self.queue {
            sql.and("queue = ?", queue.clone());
        }
        if let Some(key) = &self.key {
            sql.and("limit_key = ?", key.clone());
        }
        if let Some(metadata) = &self.metadata {
            sql.and("metadata @> ?", metadata.clone());
        }
        if let Some(seconds) = self.unchanged_for {
            sql.and(
                "changed <= clock_timestamp() - make_interval(secs => ?)",
                seconds,
            );
        }
        if let Some(is_set_aside) = self.is_set_aside {
            sql.and("set_aside = ?", is_set_aside);
        }

        sql.order(&self.runs);
        sql
    }
}

/// A run in a queue.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct QueuedRun {
    /// The summary of its record.
    pub run: RunSummary,
    /// The name of the queue.
    pub queue: String,
    /// The priority.
    pub priority: i32,
    /// The [key](crate::Enqueue::with_key).
    pub key: Option<String>,
    /// The metadata.
    pub metadata: Option<Value>,
    /// The name of the worker that executes it.
    pub worker: Option<String>,
    /// How often it failed or its worker died, since its last new outcome.
    pub failures: u32,
    /// The error of the last failure, or which worker died.
    pub failure: Option<String>,
    /// Whether it failed so often that workers don't take it any more.
    pub is_set_aside: bool,
}

impl Database {
    pub(super) async fn find_queued(
        &self,
        query: &QueueQuery,
    ) -> Result<Vec<QueuedRun>, StoreError> {
        let sql = query.sql();
        let rows = self.query(&sql.text, &sql.values()).await;
        let rows = rows.map_err(|failure| self.failed("cannot be read", failure))?;
        let runs = self.summaries(&rows).await?;

        let queued = rows.iter().zip(runs).map(|(row, run)| queued(row, run));
        Ok(queued.collect())
    }
}

fn queued(row: &Row, run: RunSummary) -> QueuedRun {
    let failures: i32 = row.get("failures");
    QueuedRun {
        run,
        queue: row.get("queue"),
        priority: row.get("priority"),
        key: row.get("limit_key"),
        metadata: row.get("metadata"),
        worker: row.get("worker"),
        failures: u32::try_from(failures).unwrap_or_default(),
        failure: row.get("failure"),
        is_set_aside: row.get("set_aside"),
    }
}
