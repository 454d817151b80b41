use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::types::Value;
use rusqlite::{Connection, Row, params_from_iter};

use super::database::Database;
use crate::rows::status;
use crate::time::{from_millis, to_millis};
use crate::waits::WaitChange;
use crate::{RunStatus, RunSummary, StoreError, WaitSummary};

/// A query for runs of a [`SqliteStore`](crate::SqliteStore), with filters and an order.
///
/// A run must match all filters. However, filters for the status, such as [`open`](RunQuery::open)
/// and [`paused`](RunQuery::paused), replace each other, and only the last one applies.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use cogwork_journal::RunQuery;
///
/// let today = SystemTime::now() - Duration::from_secs(24 * 3_600);
/// let second_page = RunQuery::new().flow("shop").failed().started_since(today).limit(50).offset(50);
/// ```
#[derive(Debug, Clone)]
pub struct RunQuery {
    flow: Option<String>,
    status: Option<&'static str>,
    event: Option<String>,
    due: Option<i64>,
    since: Option<i64>,
    order: &'static str,
    limit: i64,
    offset: i64,
}

impl RunQuery {
    /// The default maximum number of runs: 100.
    pub const DEFAULT_LIMIT: u32 = 100;

    /// Creates a query for all runs, the newest first.
    pub fn new() -> Self {
        Self {
            flow: None,
            status: None,
            event: None,
            due: None,
            since: None,
            order: "started DESC, key DESC",
            limit: Self::DEFAULT_LIMIT.into(),
            offset: 0,
        }
    }

    pub(super) fn all_by_id() -> Self {
        Self {
            order: "id",
            limit: i64::MAX,
            ..Self::new()
        }
    }

    /// Selects runs of the flow with this name.
    #[must_use]
    pub fn flow(mut self, name: impl Into<String>) -> Self {
        self.flow = Some(name.into());
        self
    }

    /// Selects runs that are in use or can be resumed: [`RunStatus::Open`].
    #[must_use]
    pub fn open(self) -> Self {
        self.status("open", None)
    }

    /// Selects runs that wait for any event: [`RunStatus::Paused`].
    #[must_use]
    pub fn paused(self) -> Self {
        self.status("paused", None)
    }

    /// Selects runs that wait for this event.
    #[must_use]
    pub fn paused_on(self, event: impl Into<String>) -> Self {
        self.status("paused", Some(event.into()))
    }

    /// Selects runs with a wait that times out at or before this time. Such a run continues without
    /// an answer when it is resumed.
    #[must_use]
    pub fn due(self, by: SystemTime) -> Self {
        Self {
            due: Some(millis(by)),
            ..self.paused()
        }
    }

    /// Selects runs that stopped with an error: [`RunStatus::Failed`].
    #[must_use]
    pub fn failed(self) -> Self {
        self.status("failed", None)
    }

    /// Selects runs that ended: [`RunStatus::Ended`].
    #[must_use]
    pub fn ended(self) -> Self {
        self.status("ended", None)
    }

    fn status(self, status: &'static str, event: Option<String>) -> Self {
        Self {
            status: Some(status),
            event,
            due: None,
            ..self
        }
    }

    /// Selects runs that were started at this time or later.
    #[must_use]
    pub fn started_since(mut self, time: SystemTime) -> Self {
        self.since = Some(millis(time));
        self
    }

    /// Sets the maximum number of runs.
    ///
    /// # Default
    ///
    /// [`RunQuery::DEFAULT_LIMIT`].
    #[must_use]
    pub fn limit(mut self, runs: u32) -> Self {
        self.limit = runs.into();
        self
    }

    /// Skips the first `runs` runs.
    ///
    /// # Default
    ///
    /// 0.
    #[must_use]
    pub fn offset(mut self, runs: u64) -> Self {
        self.offset = i64::try_from(runs).unwrap_or(i64::MAX);
        self
    }

    /// Returns only the conditions that are set, so that an index can be used.
    fn sql(&self) -> (String, Vec<Value>) {
        let conditions = [
            ("flow = ?", self.flow.clone().map(Value::from)),
            (
                "status = ?",
                self.status.map(|status| status.to_owned().into()),
            ),
            (
                "key IN (SELECT run FROM waits WHERE event = ?)",
                self.event.clone().map(Value::from),
            ),
            (
                "key IN (SELECT run FROM waits WHERE until <= ?)",
                self.due.map(Value::from),
            ),
            ("started >= ?", self.since.map(Value::from)),
        ];

        let mut sql = format!("SELECT {COLUMNS} FROM runs WHERE true");
        let mut values = Vec::new();
        for (condition, value) in conditions {
            if let Some(value) = value {
                sql.push_str(" AND ");
                sql.push_str(condition);
                values.push(value);
            }
        }

        sql.push_str(&format!(" ORDER BY {} LIMIT ? OFFSET ?", self.order));
        values.extend([self.limit.into(), self.offset.into()]);
        (sql, values)
    }
}

impl Default for RunQuery {
    fn default() -> Self {
        Self::new()
    }
}

impl Database {
    pub(super) fn query(&self, query: &RunQuery) -> Result<Vec<RunSummary>, StoreError> {
        let (sql, values) = query.sql();
        let found = self.read(|reader| {
            let mut find = reader.prepare_cached(&sql)?;
            let mut rows = find.query(params_from_iter(values))?;
            let mut runs = Vec::new();

            while let Some(row) = rows.next()? {
                let mut run = summary(row)?;
                if let RunStatus::Paused { waits } = &mut run.status {
                    *waits = waits_of(reader, row.get("key")?)?;
                }

                runs.push(run);
            }

            Ok(runs)
        });

        Ok(found?.unwrap_or_default())
    }
}

const COLUMNS: &str = "key, id, flow, started, lines, status, error, action, steps";

fn waits_of(reader: &Connection, key: i64) -> rusqlite::Result<Vec<WaitSummary>> {
    let mut find = reader.prepare_cached(
        "SELECT step, event, why, until FROM waits WHERE run = ? ORDER BY number",
    )?;
    let waits = find.query_map([key], |row| {
        let until: Option<i64> = row.get("until")?;
        Ok(WaitSummary {
            step: row.get("step")?,
            event: row.get("event")?,
            why: row.get("why")?,
            until: until.and_then(time),
        })
    })?;

    waits.collect()
}

fn summary(row: &Row<'_>) -> rusqlite::Result<RunSummary> {
    let lines: i64 = row.get("lines")?;
    let status = status(
        row.get_ref("status")?.as_str()?,
        row.get("error")?,
        row.get("action")?,
        row.get("steps")?,
    );

    Ok(RunSummary {
        run_id: row.get("id")?,
        flow: row.get("flow")?,
        started: time(row.get("started")?).unwrap_or(UNIX_EPOCH),
        entries: u64::try_from(lines).unwrap_or_default().saturating_sub(1),
        status,
    })
}

impl WaitChange {
    pub(super) fn write(self, database: &Connection, key: i64) -> rusqlite::Result<()> {
        let row = |number| (key, i64::try_from(number).unwrap_or(i64::MAX));
        match self {
            Self::Began(
                number,
                WaitSummary {
                    step,
                    event,
                    why,
                    until,
                },
            ) => {
                let (key, number) = row(number);
                let sql = "INSERT INTO waits (run, number, step, event, why, until) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
                let mut insert = database.prepare_cached(sql)?;
                insert.execute((key, number, step, event, why, until.map(millis)))?;
            }
            Self::Shortened(number, until) => {
                let (key, number) = row(number);
                let sql = "UPDATE waits SET until = ?3 WHERE run = ?1 AND number = ?2";
                database
                    .prepare_cached(sql)?
                    .execute((key, number, until.map(millis)))?;
            }
            Self::Ended(number) => {
                let sql = "DELETE FROM waits WHERE run = ?1 AND number = ?2";
                database.prepare_cached(sql)?.execute(row(number))?;
            }
            Self::AllEnded => {
                database
                    .prepare_cached("DELETE FROM waits WHERE run = ?1")?
                    .execute([key])?;
            }
        }

        Ok(())
    }
}

fn millis(time: SystemTime) -> i64 {
    i64::try_from(to_millis(time)).unwrap_or(i64::MAX)
}

fn time(millis: i64) -> Option<SystemTime> {
    from_millis(u64::try_from(millis).ok()?)
}
