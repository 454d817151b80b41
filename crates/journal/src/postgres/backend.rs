//! Takes, reads, lists and removes runs.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cogwork_text::Name;
use tokio::time::Instant;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::claim::Claimed;
use super::database::Database;
use super::run::HeldRun;
use super::statements::TAKE;
use crate::backend::{Backend, EVENTS_PART, Expected, Taken, TextLine};
use crate::error::Kind;
use crate::lock::PATIENCE;
use crate::record::Reader;
use crate::rows::{RunRow, WaitRow, check_number, count, event_line};
use crate::{EventLine, RunQuery, RunSummary, StoreError};

/// The delay between two attempts to take a run on which somebody works.
const BETWEEN: Duration = Duration::from_millis(25);

/// The maximum number of answers to a run that aren't on record yet.
const MAX_OFFERED: i64 = 1_000;

/// A PostgreSQL database, as a store uses it.
#[derive(Debug)]
pub(super) struct Postgres(pub(super) Arc<Database>);

/// Who works on a run, and for how many more seconds at most unless it is renewed.
struct User {
    worker: String,
    seconds: f64,
}

/// A run that may exist.
enum Found {
    /// It doesn't exist. The time is in milliseconds since 1970.
    Missing {
        now: i64,
    },
    /// Nobody works on it.
    Free,
    InUse(User),
}

#[async_trait]
impl Backend for Postgres {
    fn place(&self) -> String {
        self.0.place()
    }

    fn line_place(&self, run_id: &str, number: u64) -> String {
        self.0.line_place(run_id, number)
    }

    async fn take(&self, run_id: &str, expected: Expected) -> Result<Option<Taken>, StoreError> {
        let mut give_up = None;

        loop {
            let found = self.0.find_run(run_id).await?;
            match found {
                Found::Missing { .. } if expected == Expected::Existing => return Ok(None),
                Found::Missing { now } => return Ok(Some(HeldRun::to_start(&self.0, run_id, now))),
                Found::Free | Found::InUse(_) if expected == Expected::New => {
                    return Err(StoreError::already_there(run_id, &self.place()));
                }
                Found::Free | Found::InUse(_) => {}
            }

            if let Some(claimed) = self.0.take(run_id).await? {
                let run = HeldRun::taken(&self.0, claimed);
                return run.with_lines().await.map(Some);
            }
            if let Found::InUse(user) = found {
                self.wait_for(run_id, &user, &mut give_up).await?;
            }
        }
    }

    async fn read(
        &self,
        run_id: &str,
        numbers: Range<u64>,
    ) -> Result<Option<Vec<TextLine>>, StoreError> {
        self.0.lines(run_id, &numbers).await
    }

    async fn read_events(
        &self,
        run_id: &str,
        from: u64,
    ) -> Result<Option<Vec<EventLine>>, StoreError> {
        self.0.events(run_id, from).await
    }

    async fn list(&self, query: RunQuery) -> Result<Vec<RunSummary>, StoreError> {
        let found = self.0.find(&query, "").await?;
        Ok(found.into_iter().map(|(_, run)| run).collect())
    }

    async fn remove(&self, run_id: &str) -> Result<bool, StoreError> {
        let mut give_up = None;

        loop {
            let remove = "DELETE FROM @.runs
                WHERE id = $1 AND (worker IS NULL OR wake <= clock_timestamp()) RETURNING key";
            let removed = self.0.query(remove, &[&run_id]).await;
            let removed = removed.map_err(|failure| self.0.failed("cannot be removed", failure))?;
            if !removed.is_empty() {
                return Ok(true);
            }

            match self.0.find_run(run_id).await? {
                Found::Missing { .. } => return Ok(false),
                Found::Free => {}
                Found::InUse(user) => self.wait_for(run_id, &user, &mut give_up).await?,
            }
        }
    }

    async fn is_in_use(&self, run_id: &str) -> Result<Option<bool>, StoreError> {
        Ok(match self.0.find_run(run_id).await? {
            Found::Missing { .. } => None,
            Found::Free => Some(false),
            Found::InUse(_) => Some(true),
        })
    }

    async fn offer(&self, run_id: &str, event: &str, line: &str) -> Result<bool, StoreError> {
        // A column cannot contain such a name, so the answer is only accepted once the run is free.
        if event.contains('\0') || !self.can_use(run_id, event).await? {
            return Ok(false);
        }

        // The row is locked before the answer is inserted, so that the run isn't given back without
        // it. A run that paused and isn't given back yet is open again, as if it had been free.
        let offer = "WITH run AS (
                 UPDATE @.runs SET answers = answers + 1,
                     status = CASE
                         WHEN status = 'paused' AND EXISTS (
                             SELECT FROM @.waits WHERE run = key AND event = $2
                         ) THEN 'open' ELSE status END
                 WHERE id = $1 AND worker IS NOT NULL AND wake > clock_timestamp() AND answers < $4
                     AND status <> 'ended'
                 RETURNING key
             ), offered AS (
                 INSERT INTO @.answers (run, line) SELECT key, $3 FROM run
             )
             SELECT FROM run";
        let values: [&(dyn ToSql + Sync); 4] = [&run_id, &event, &line, &MAX_OFFERED];
        let offered = self.0.query(offer, &values).await;
        let offered = offered.map_err(|failure| self.0.failed("cannot be written", failure))?;
        Ok(!offered.is_empty())
    }
}

impl Postgres {
    /// Waits before the next attempt to take a run on which somebody works. The time until this is an
    /// error begins when the run is first found to be in use, because a connection may take longer.
    async fn wait_for(
        &self,
        run_id: &str,
        user: &User,
        give_up: &mut Option<Instant>,
    ) -> Result<(), StoreError> {
        let now = Instant::now();
        if now >= *give_up.get_or_insert(now + PATIENCE) {
            return Err(self.0.in_use(run_id, &user.worker, user.seconds));
        }

        tokio::time::sleep(BETWEEN).await;
        Ok(())
    }

    /// Returns whether somebody works on a run, which can use an answer to this event.
    async fn can_use(&self, run_id: &str, event: &str) -> Result<bool, StoreError> {
        let find = "SELECT line, EXISTS (SELECT FROM @.waits WHERE run = key AND event = $2),
                 status = 'ended'
             FROM @.runs JOIN @.lines ON run = key AND number = 1
             WHERE id = $1 AND worker IS NOT NULL AND wake > clock_timestamp()";
        let found = self.0.query(find, &[&run_id, &event]).await;
        let found = found.map_err(|failure| self.0.failed("cannot be read", failure))?;
        let Some(row) = found.first() else {
            return Ok(false);
        };
        if row.get(2) {
            return Err(StoreError::ended(run_id));
        }
        if row.get(1) {
            return Ok(true);
        }

        let text = row.get(0);
        let reader = Reader {
            backend: self,
            run_id,
        };
        let header = reader.header(&TextLine { text, at: None })?;
        header.check_event(&self.place(), event)?;
        Ok(true)
    }
}

/// What is listed of a run, with its last line.
const COLUMNS: &str = "key, id, flow, started, status, fork, number, line,
    (extract(epoch FROM at) * 1000)::bigint AS updated,
    worker, failures, failure, set_aside";

impl Database {
    pub(super) fn line_place(&self, run_id: &str, number: u64) -> String {
        format!("{}, run `{}`, line {number}", self.place(), Name(run_id))
    }

    async fn find_run(&self, run_id: &str) -> Result<Found, StoreError> {
        let find = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint, key,
                 CASE WHEN wake > clock_timestamp() THEN worker END,
                 extract(epoch FROM wake - clock_timestamp())::float8
             FROM (VALUES (1)) AS one LEFT JOIN @.runs ON id = $1";
        let found = self.query(find, &[&run_id]).await;
        let found = found.map_err(|failure| self.failed("cannot be read", failure))?;

        let exists = |row: &&Row| row.get::<_, Option<i64>>(1).is_some();
        let Some(row) = found.first().filter(exists) else {
            let now = found.first().map_or(0, |row| row.get(0));
            return Ok(Found::Missing { now });
        };

        let worker: Option<String> = row.get(2);
        Ok(worker.map_or(Found::Free, |worker| {
            let seconds: Option<f64> = row.get(3);
            Found::InUse(User {
                worker,
                seconds: seconds.unwrap_or_default(),
            })
        }))
    }

    /// Takes a run, unless somebody works on it.
    async fn take(&self, run_id: &str) -> Result<Option<Claimed>, StoreError> {
        let seconds = self.settings.lease.as_secs_f64();
        let values: [&(dyn ToSql + Sync); 3] = [&run_id, &self.settings.worker, &seconds];
        let taken = self.query(TAKE, &values).await;
        let taken = taken.map_err(|failure| self.failed("cannot be taken", failure))?;
        Ok(taken.first().map(Claimed::of))
    }

    /// Reads lines of a run, on which somebody may work. Returns `None` if it doesn't exist.
    pub(super) async fn lines(
        &self,
        run_id: &str,
        numbers: &Range<u64>,
    ) -> Result<Option<Vec<TextLine>>, StoreError> {
        let read = "SELECT number, line, (extract(epoch FROM at) * 1000)::bigint
             FROM @.runs LEFT JOIN @.lines ON run = key AND number >= $2 AND number < $3
             WHERE id = $1 ORDER BY number";
        let values: [&(dyn ToSql + Sync); 3] =
            [&run_id, &count(numbers.start), &count(numbers.end)];
        let rows = self.query(read, &values).await;
        let rows = rows.map_err(|failure| self.failed("cannot be read", failure))?;
        if rows.is_empty() {
            return Ok(None);
        }

        let rows = rows
            .iter()
            .filter_map(|row| Some((row.get::<_, Option<i64>>(0)?, row)));
        let lines = rows.zip(numbers.start..).map(|((number, row), expected)| {
            check_number(|| self.line_place(run_id, expected), expected, number)?;
            let at: i64 = row.get(2);
            Ok(TextLine {
                text: row.get(1),
                at: u64::try_from(at).ok(),
            })
        });
        lines.collect::<Result<_, _>>().map(Some)
    }

    /// Reads some events of a run. Returns `None` if it doesn't exist.
    async fn events(&self, run_id: &str, from: u64) -> Result<Option<Vec<EventLine>>, StoreError> {
        // The sum is that of the events before, so that a single one may be longer than a part.
        let read = "SELECT number, event FROM @.runs LEFT JOIN (
                 SELECT *, sum(octet_length(event)) OVER (PARTITION BY run ORDER BY number) - octet_length(event)
                     AS before
                 FROM (SELECT events.* FROM @.events JOIN @.runs ON run = key
                     WHERE id = $1 AND number >= $2 ORDER BY number LIMIT 1000) AS following
             ) AS part ON run = key AND before < $3
             WHERE id = $1 ORDER BY number";
        let values: [&(dyn ToSql + Sync); 3] = [&run_id, &count(from), &count(EVENTS_PART)];
        let rows = self.query(read, &values).await;
        let rows = rows.map_err(|failure| self.failed("cannot be read", failure))?;
        if rows.is_empty() {
            return Ok(None);
        }

        let numbered = rows
            .iter()
            .filter_map(|row| Some((row.get::<_, Option<i64>>(0)?, row)));
        Ok(Some(
            numbered
                .map(|(number, row)| event_line(number, row.get(1)))
                .collect(),
        ))
    }

    /// Finds the runs that match a query, and a further condition.
    pub(super) async fn find(
        &self,
        query: &RunQuery,
        further: &str,
    ) -> Result<Vec<(Row, RunSummary)>, StoreError> {
        let mut sql = format!(
            "SELECT {COLUMNS} FROM @.runs JOIN @.lines ON run = key
                 AND number = (SELECT max(number) FROM @.lines WHERE run = key)
             WHERE true{further}"
        );
        let conditions = query.conditions();
        let mut values: Vec<&(dyn ToSql + Sync)> = Vec::new();
        for (condition, value) in &conditions {
            values.push(value);
            let condition = condition.replace("FROM waits", "FROM @.waits");
            let condition = condition.replacen('?', &format!("${}", values.len()), 1);
            sql.push_str(&format!(" AND {condition}"));
        }
        let (order, limit, offset) = (query.order(), query.limit, query.offset);
        sql.push_str(&format!(" ORDER BY {order} LIMIT {limit} OFFSET {offset}"));

        let failed = |failure| self.failed("cannot be read", failure);
        let rows = self.query(&sql, &values).await.map_err(failed)?;
        let paused = rows
            .iter()
            .filter(|row| row.get::<_, &str>("status") == "paused");
        let paused: Vec<i64> = paused.map(|row| row.get("key")).collect();
        let waits = "SELECT waits.run, lines.line, until FROM @.waits JOIN @.lines
                 ON lines.run = waits.run AND number = waits.line
             WHERE waits.run = ANY($1) ORDER BY waits.run, number";
        let waits = if paused.is_empty() {
            Vec::new()
        } else {
            self.query(waits, &[&paused]).await.map_err(failed)?
        };

        let found = rows.into_iter().map(|row| {
            let summary = summary(&row, &waits);
            (row, summary)
        });
        Ok(found.collect())
    }

    /// Returns the error for a run on which somebody works.
    pub(super) fn in_use(&self, run_id: &str, worker: &str, left: f64) -> StoreError {
        let place = self.place();
        let (run_id, worker) = (Name(run_id), Name(worker));
        let left = Duration::try_from_secs_f64(left).unwrap_or_default();
        let text = format_args!(
            "the run `{run_id}` is in use by `{worker}`, with a lease in {place} that ends in {left:.1?} \
             unless it is renewed: it can be resumed after that has stopped"
        );
        StoreError::new(Kind::Locked, text)
    }
}

fn summary(row: &Row, waits: &[Row]) -> RunSummary {
    let key: i64 = row.get("key");
    let waits = waits.iter().filter(|wait| wait.get::<_, i64>(0) == key);
    let waits = waits.map(|wait| WaitRow {
        line: wait.get(1),
        until: wait.get(2),
    });

    let run = RunRow {
        run_id: row.get("id"),
        flow: row.get("flow"),
        fork: row.get("fork"),
        started: row.get("started"),
        status: row.get("status"),
        lines: row.get("number"),
        last: row.get("line"),
        updated: row.get("updated"),
        waits: waits.collect(),
    };
    run.summary()
}
