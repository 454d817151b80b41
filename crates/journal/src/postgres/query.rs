//! Lists runs.

use std::time::UNIX_EPOCH;

use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::database::Database;
use crate::query::time;
use crate::rows::{fork, read_schema, status};
use crate::{RunQuery, RunStatus, RunSummary, StoreError, WaitSummary};

/// A statement, and the values of its parameters.
pub(super) struct Sql {
    pub(super) text: String,
    values: Vec<String>,
}

impl Sql {
    pub(super) fn new(text: String) -> Self {
        Self {
            text,
            values: Vec::new(),
        }
    }

    /// Adds a condition with one `?`, which stands for the value.
    pub(super) fn and(&mut self, condition: &str, value: String) {
        self.values.push(value);
        let parameter = format!("${}", self.values.len());
        self.text.push_str(" AND ");
        self.text.push_str(&condition.replacen('?', &parameter, 1));
    }

    /// Adds the conditions of a query.
    pub(super) fn and_all(&mut self, query: &RunQuery) {
        for (condition, value) in query.conditions() {
            let condition = condition.replace("FROM waits", "FROM @.waits");
            self.and(&condition, value);
        }
    }

    /// Adds the order and the limits of a query.
    pub(super) fn order(&mut self, query: &RunQuery) {
        let RunQuery {
            order,
            limit,
            offset,
            ..
        } = query;
        self.text
            .push_str(&format!(" ORDER BY {order} LIMIT {limit} OFFSET {offset}"));
    }

    pub(super) fn values(&self) -> Vec<&(dyn ToSql + Sync)> {
        let values = self.values.iter();
        values.map(|value| value as &(dyn ToSql + Sync)).collect()
    }
}

/// What is listed of a run. The row of the run doesn't contain how many lines there are while somebody
/// works on it.
pub(super) const COLUMNS: &str = "key, id, flow, started, status, error, action, steps, fork,
    (SELECT max(number) FROM @.lines WHERE run = key) AS lines,
    (SELECT (extract(epoch FROM at) * 1000)::bigint FROM @.lines
     WHERE run = key ORDER BY number DESC LIMIT 1) AS updated";

impl Database {
    pub(super) async fn find_all(&self, query: &RunQuery) -> Result<Vec<RunSummary>, StoreError> {
        let mut sql = Sql::new(format!("SELECT {COLUMNS} FROM @.runs WHERE true"));
        sql.and_all(query);
        sql.order(query);

        let rows = self.query(&sql.text, &sql.values()).await;
        let rows = rows.map_err(|failure| self.failed("cannot be read", failure))?;
        self.summaries(&rows).await
    }

    /// Returns the runs in these rows, with their waits.
    pub(super) async fn summaries(&self, rows: &[Row]) -> Result<Vec<RunSummary>, StoreError> {
        let mut runs: Vec<_> = rows.iter().map(summary).collect();
        let is_paused = |run: &RunSummary| matches!(run.status, RunStatus::Paused { .. });
        let paused = rows.iter().zip(&runs).filter(|(_, run)| is_paused(run));
        let keys: Vec<i64> = paused.map(|(row, _)| row.get("key")).collect();
        if keys.is_empty() {
            return Ok(runs);
        }

        let waits = self.query(
            "SELECT run, step, event, why, until, schema FROM @.waits WHERE run = ANY($1) ORDER BY run, number",
            &[&keys],
        )
        .await;
        let waits = waits.map_err(|failure| self.failed("cannot be read", failure))?;

        for (row, run) in rows.iter().zip(&mut runs) {
            let key: i64 = row.get("key");
            if let RunStatus::Paused { waits: of_run } = &mut run.status {
                let own = waits.iter().filter(|wait| wait.get::<_, i64>("run") == key);
                of_run.extend(own.map(wait));
            }
        }

        Ok(runs)
    }
}

fn wait(row: &Row) -> WaitSummary {
    let until: Option<i64> = row.get("until");
    let schema: Option<&str> = row.get("schema");
    WaitSummary {
        step: row.get("step"),
        event: row.get("event"),
        why: row.get("why"),
        until: until.and_then(time),
        schema: schema.and_then(read_schema),
    }
}

fn summary(row: &Row) -> RunSummary {
    let lines: Option<i64> = row.get("lines");
    let updated: Option<i64> = row.get("updated");
    RunSummary {
        run_id: row.get("id"),
        flow: row.get("flow"),
        fork: fork(row.get("fork")),
        started: time(row.get("started")).unwrap_or(UNIX_EPOCH),
        updated: updated.and_then(time),
        entries: u64::try_from(lines.unwrap_or_default())
            .unwrap_or_default()
            .saturating_sub(1),
        status: status(
            row.get("status"),
            row.get("error"),
            row.get("action"),
            row.get("steps"),
        ),
    }
}
