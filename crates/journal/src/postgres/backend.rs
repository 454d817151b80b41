//! Takes, reads, writes, lists and removes runs.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cogwork_flow::CancellationToken;
use cogwork_flow::engine::Entry;
use cogwork_text::Name;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};
use tokio_postgres::Row;

use super::database::{Database, Sql, reconnects};
use super::lease::{Lease, Stopped};
use super::statements::{APPEND, EVENTS, TAKE};
use crate::backend::{Backend, Edit, Expected, Held, Taken, TextLine};
use crate::delivery::{Delivery, To};
use crate::lock::PATIENCE;
use crate::read::Reader;
use crate::rows::{RunRow, count, event_line, fork_column, time, waits_of};
use crate::{EventLine, RunQuery, RunSummary, StoreError, StoreErrorKind, WaitSummary, schema};

/// The delay between two attempts to take a run on which somebody works.
const BETWEEN: Duration = Duration::from_millis(25);

/// The maximum number of answers to a run that aren't on record yet.
const MAX_OFFERED: i64 = 1_000;

/// How many events are read at once.
const EVENTS_AT_ONCE: i64 = 100;

/// A PostgreSQL database, as a store uses it.
#[derive(Debug)]
pub(super) struct Postgres(pub(super) Arc<Database>);

impl Postgres {
    /// Finds a run, and may take it if nobody works on it.
    async fn find(&self, run_id: &str, takes: bool) -> Result<Row, StoreError> {
        let (worker, seconds) = (&self.0.settings.worker, self.0.lease_seconds());
        let values: [Sql<'_>; 4] = [&run_id, worker, &seconds, &takes];
        self.0.query_one("cannot be read", TAKE, &values).await
    }

    /// Takes a run, or prepares to start it. Returns `None` if it doesn't exist and must.
    async fn hold(&self, run_id: &str, expected: Expected) -> Result<Option<HeldRun>, StoreError> {
        let mut give_up = None;
        loop {
            // A run that must not exist isn't taken, because finding it is an error.
            let asked = Instant::now();
            let found = self.find(run_id, expected != Expected::New).await?;
            let is_missing = found.get::<_, Option<i64>>("found").is_none();
            if is_missing && expected == Expected::Existing {
                return Ok(None);
            }
            if is_missing {
                let now = found.get("now");
                return Ok(Some(HeldRun {
                    now,
                    ..HeldRun::new(&self.0, run_id)
                }));
            }
            if expected == Expected::New {
                return Err(StoreError::already_there(run_id, &self.place()));
            }
            // The statement found the run and took it at once, so nobody can come between the two.
            if found.get::<_, Option<i64>>("key").is_some() {
                let interrupt = CancellationToken::new();
                return Ok(Some(HeldRun::taken(&self.0, &found, interrupt, asked)));
            }

            // The time until this is an error begins when the run is first found to be in use, because a
            // connection may take longer.
            let now = Instant::now();
            let holder: Option<String> = found.get("holder");
            // Without a holder, the next attempt is likely to take the run.
            if let Some(holder) = holder
                && now >= *give_up.get_or_insert(now + PATIENCE)
            {
                return Err(in_use(&self.place(), run_id, &holder, found.get("seconds")));
            }
            sleep(BETWEEN).await;
        }
    }

    /// Finds the waits without an answer to which this one is, as the lines with which they began, if
    /// somebody works on the run. Returns `None` if nobody does.
    async fn find_waits(
        &self,
        run_id: &str,
        delivery: &Delivery,
    ) -> Result<Option<Vec<String>>, StoreError> {
        let Delivery { event, answer, .. } = delivery;
        let sql = "SELECT line, status, waits, unanswered
             FROM @.runs JOIN @.lines ON run = key AND number = 1, LATERAL (
                 SELECT string_agg(began.line, '\n') FILTER (WHERE event = $2) AS waits,
                     string_agg(began.line, '\n') FILTER (WHERE NOT answered AND status <> 'failed') AS unanswered
                 FROM @.waits AS waits JOIN @.lines AS began ON began.run = waits.run AND began.number = waits.line
                 WHERE waits.run = key
             ) AS waits
             WHERE id = $1 AND worker IS NOT NULL AND wake > clock_timestamp()";
        let found = self
            .0
            .query("cannot be read", sql, &[&run_id, &event])
            .await?;
        // Nobody works on it, so the answer can be recorded directly.
        let Some(row) = found.first() else {
            return Ok(None);
        };
        if row.get::<_, &str>("status") == "ended" {
            return Err(StoreError::ended(run_id));
        }

        let unanswered: Option<&str> = row.get("unanswered");
        let unanswered = unanswered.unwrap_or_default().lines();
        let (waits, lines): (Vec<_>, Vec<_>) = unanswered
            .filter_map(|line| {
                let WaitSummary { step, event, .. } = waits_of(line).pop()?;
                Some(((step, event), line))
            })
            .unzip();
        delivery.check_waits(run_id, &waits)?;
        let lines = waits.iter().zip(lines);
        let lines = lines.filter(|((step, event), _)| delivery.is_to(step, event));
        let lines = lines.map(|(_, line)| line.to_owned()).collect();

        if let Some(waits) = row.get::<_, Option<&str>>("waits") {
            let waits = waits_of(waits).into_iter().map(|wait| wait.schema);
            let checked = schema::check_answer(event, waits, answer);
            checked.map_err(|problem| StoreError::new(StoreErrorKind::RefusedAnswer, problem))?;
            return Ok(Some(lines));
        }

        // No step waits for the event yet, but one may do so later.
        let reader = Reader {
            backend: self,
            run_id,
        };
        let text = row.get("line");
        let header = reader.header(&TextLine { text, at: None })?;
        header.check_event(&self.place(), event)?;
        Ok(Some(lines))
    }
}

/// Returns the error for a run on which somebody works.
pub(super) fn in_use(place: &str, run_id: &str, worker: &str, left: Option<f64>) -> StoreError {
    let (run_id, worker) = (Name(run_id), Name(worker));
    let left = Duration::try_from_secs_f64(left.unwrap_or_default()).unwrap_or_default();
    let text = format_args!(
        "the run `{run_id}` is in use by `{worker}`, with a lease in {place} that ends in {left:.1?} \
         unless it is renewed: it can be resumed after that has stopped"
    );
    StoreError::new(StoreErrorKind::InUse, text)
}

#[async_trait]
impl Backend for Postgres {
    fn place(&self) -> String {
        self.0.place()
    }

    async fn take(&self, run_id: &str, expected: Expected) -> Result<Option<Taken>, StoreError> {
        match self.hold(run_id, expected).await? {
            Some(run) => run.with_lines().await.map(Some),
            None => Ok(None),
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
        let sql =
            "SELECT number, event FROM @.runs LEFT JOIN @.events ON run = key AND number >= $2
             WHERE id = $1 ORDER BY number LIMIT $3";
        let values: [Sql<'_>; 3] = [&run_id, &count(from), &EVENTS_AT_ONCE];
        let rows = self.0.query("cannot be read", sql, &values).await?;
        // A run without further events still has one row, in which both are null.
        let events = rows.iter().filter_map(|row| {
            let number: Option<i64> = row.get(0);
            Some(event_line(number?, row.get(1)))
        });
        Ok((!rows.is_empty()).then(|| events.collect()))
    }

    async fn list(&self, query: RunQuery) -> Result<Vec<RunSummary>, StoreError> {
        let rows = self.0.rows(&query, "").await?;
        Ok(rows.iter().map(summary).collect())
    }

    async fn remove(&self, run_id: &str) -> Result<bool, StoreError> {
        let held = self.hold(run_id, Expected::Existing).await?;
        let Some(lease) = held.as_ref().and_then(|run| run.lease.as_ref()) else {
            return Ok(false);
        };

        // With the fence, because the lease may have expired since it was taken.
        let sql = "DELETE FROM @.runs WHERE key = $1 AND fence = $2 RETURNING key";
        let what = "cannot be removed";
        let removed = self.0.query(what, sql, &[&lease.key, &lease.fence]).await?;
        Ok(!removed.is_empty())
    }

    async fn is_in_use(&self, run_id: &str) -> Result<Option<bool>, StoreError> {
        let found = self.find(run_id, false).await?;
        let holder: Option<String> = found.get("holder");
        let key: Option<i64> = found.get("found");
        Ok(key.map(|_| holder.is_some()))
    }

    async fn take_away(&self, run_id: &str) -> Result<(), StoreError> {
        // Whoever has the lease can write no more, and stops when it is to be renewed.
        let sql = "UPDATE @.runs SET fence = fence + 1, worker = NULL, wake = NULL, ready = false, set_aside = queued
             WHERE id = $1 AND status <> 'ended'";
        let taken_away = self.0.query("cannot be written", sql, &[&run_id]).await;
        taken_away.map(drop)
    }

    async fn offer(&self, run_id: &str, delivery: &Delivery) -> Result<bool, StoreError> {
        let Delivery { event, answer, to } = delivery;
        // A column cannot contain such a name, so the answer is only accepted once the run is free.
        if event.contains('\0') {
            return Ok(false);
        }
        let Some(waits) = self.find_waits(run_id, delivery).await? else {
            return Ok(false);
        };

        let entry = Entry::Answer {
            event: event.clone(),
            answer: answer.clone(),
        };
        let line = serde_json::to_string(&entry).unwrap_or_default();
        let waits = matches!(to, To::Waiting(_)).then_some(waits);
        // This checks again that somebody has the run, who may have given it back in the meantime, and
        // that nobody else has answered.
        let sql = "SELECT @.offer($1, $2, $3, $4, $5)";
        let values: [Sql<'_>; 5] = [&run_id, event, &line, &waits, &MAX_OFFERED];
        let offered = self.0.query_one("cannot be written", sql, &values).await?;
        let is_offered: bool = offered.get(0);
        if !is_offered {
            // Refuses the answer if somebody else was faster.
            self.find_waits(run_id, delivery).await?;
        }
        Ok(is_offered)
    }
}

impl Database {
    /// Reads lines of a run, on which somebody may work. Returns `None` if it doesn't exist.
    async fn lines(
        &self,
        run_id: &str,
        numbers: &Range<u64>,
    ) -> Result<Option<Vec<TextLine>>, StoreError> {
        let sql = "SELECT line, at FROM @.runs LEFT JOIN @.lines ON run = key AND number >= $2 AND number < $3
             WHERE id = $1 ORDER BY number";
        let (start, end) = (count(numbers.start), count(numbers.end));
        let rows = self
            .query("cannot be read", sql, &[&run_id, &start, &end])
            .await?;
        let lines = rows.iter().filter_map(|row| {
            let text: Option<String> = row.get(0);
            let at: Option<i64> = row.get(1);
            Some(TextLine {
                text: text?,
                at: at.and_then(|at| at.try_into().ok()),
            })
        });
        Ok((!rows.is_empty()).then(|| lines.collect()))
    }

    /// Finds the runs that match a query, and a further condition.
    pub(super) async fn rows(
        &self,
        query: &RunQuery,
        further: &str,
    ) -> Result<Vec<Row>, StoreError> {
        let (sql, values) = query.sql(further);
        let values: Vec<Sql<'_>> = values.iter().map(|value| value as _).collect();
        self.query("cannot be read", &sql, &values).await
    }
}

pub(super) fn summary(row: &Row) -> RunSummary {
    let run = RunRow {
        run_id: row.get("id"),
        flow: row.get("flow"),
        fork: row.get("fork"),
        started: row.get("started"),
        status: row.get("status"),
        lines: row.get("number"),
        last: row.get("line"),
        updated: row.get("at"),
        waits: row.get("waiting"),
    };
    run.summary()
}

/// A run that this process writes.
pub(super) struct HeldRun {
    database: Arc<Database>,
    run_id: String,
    /// `None` if the run doesn't exist yet.
    pub(super) lease: Option<Lease>,
    /// Whether a new run is for workers. Otherwise, this process takes it.
    is_queued: bool,
    /// How often the run was changed other than by appending lines.
    version: i64,
    /// Whether failures are counted, which the next outcome sets to 0.
    has_failures: bool,
    has_answers: bool,
    /// The numbers of the answers that were offered.
    offered: Vec<i64>,
    now: i64,
}

impl HeldRun {
    /// Returns a run that this process is about to start.
    fn new(database: &Arc<Database>, run_id: &str) -> Self {
        Self {
            database: Arc::clone(database),
            run_id: run_id.to_owned(),
            lease: None,
            is_queued: false,
            version: 0,
            has_failures: false,
            has_answers: false,
            offered: Vec::new(),
            now: 0,
        }
    }

    /// Returns a run that is about to be recorded for workers.
    pub(super) fn queued(database: &Arc<Database>, run_id: &str) -> Self {
        Self {
            is_queued: true,
            ..Self::new(database, run_id)
        }
    }

    /// Returns a run that was taken with a statement of this time, and keeps its lease.
    pub(super) fn taken(
        database: &Arc<Database>,
        row: &Row,
        interrupt: CancellationToken,
        asked: Instant,
    ) -> Self {
        let answers: i64 = row.get("answers");
        let lease = Lease::keep(database, row.get("key"), row.get("fence"), interrupt, asked);
        Self {
            lease: Some(lease),
            version: row.get("version"),
            has_failures: row.get("has_failures"),
            has_answers: answers > 0,
            now: row.get("now"),
            ..Self::new(database, row.get("id"))
        }
    }

    /// Reads the lines of a run that was taken, and the answers that were offered. A new run has none.
    pub(super) async fn with_lines(mut self) -> Result<Taken, StoreError> {
        let read = self.read().await;
        if let Err(error) = &read {
            self.refused(error);
        }

        let (lines, offered) = read?;
        Ok(Taken {
            now: time(self.now),
            held: Box::new(self),
            lines,
            offered,
        })
    }

    async fn read(&mut self) -> Result<(Vec<TextLine>, Vec<TextLine>), StoreError> {
        let Some(lease) = &self.lease else {
            return Ok((Vec::new(), Vec::new()));
        };
        let lines = self.database.lines(&self.run_id, &(1..u64::MAX)).await?;
        let lines = lines.unwrap_or_default();
        if !self.has_answers {
            return Ok((lines, Vec::new()));
        }

        let sql = "SELECT number, line FROM @.answers WHERE run = $1 ORDER BY number";
        let rows = self
            .database
            .query("cannot be read", sql, &[&lease.key])
            .await?;
        self.offered = rows.iter().map(|row| row.get(0)).collect();
        let offered = rows.iter().map(|row| TextLine {
            text: row.get(1),
            at: None,
        });
        Ok((lines, offered.collect()))
    }

    async fn start(&mut self, edit: &Edit) -> Result<(), StoreError> {
        let database = &self.database;
        // Without a lease, the run is new, and a new run begins with its header.
        let Some(header) = &edit.replaces else {
            return Err(StoreError::missing(&self.run_id, &database.place()));
        };

        let sql = "SELECT @.start_run($1, $2, $3, $4, $5, $6, $7, $8::text::json)";
        let worker = (!self.is_queued).then_some(&database.settings.worker);
        let values: [Sql<'_>; 8] = [
            &self.run_id,
            &header.flow,
            &header.graph.digest().cast_signed(),
            &count(header.started),
            &fork_column(header),
            &worker,
            &database.lease_seconds(),
            &json(edit),
        ];
        let asked = Instant::now();
        let started = database
            .query_one("cannot be written", sql, &values)
            .await?;
        let key: Option<i64> = started.get(0);
        let exists = || StoreError::already_there(&self.run_id, &database.place());
        let key = key.ok_or_else(exists)?;

        if !self.is_queued {
            // The fence of a new run is the default of its column.
            self.lease = Some(Lease::keep(
                database,
                key,
                1,
                CancellationToken::new(),
                asked,
            ));
        }
        Ok(())
    }

    /// Writes a change once. Returns whether the lease and the rows are as this process left them.
    async fn attempt(&self, lease: &Lease, edit: &Edit) -> Result<bool, StoreError> {
        let Lease { key, fence, .. } = lease;
        let (database, version) = (&self.database, &self.version);
        let what = "cannot be written";
        if self.is_append(edit) {
            let before = count(edit.first) - 1;
            let lines: Vec<&str> = edit.lines.iter().map(|line| line.text.as_str()).collect();
            let values: [Sql<'_>; 5] = [key, fence, version, &before, &lines];
            // The usual case of a step, with one round trip.
            return Ok(!database.query(what, APPEND, &values).await?.is_empty());
        }

        let sql = "SELECT @.change_run($1, $2, $3, $4, $5, $6::text::json)";
        let header = edit.replaces.as_ref();
        let shape = header.map(|header| header.graph.digest().cast_signed());
        let answers = if edit.takes_offered {
            self.offered.as_slice()
        } else {
            &[]
        };
        let values: [Sql<'_>; 6] = [key, fence, version, &shape, &answers, &json(edit)];
        Ok(database.query_one(what, sql, &values).await?.get(0))
    }

    /// Returns whether a change only adds lines.
    fn is_append(&self, edit: &Edit) -> bool {
        // Failures are counted in the row of the run, which appending doesn't update.
        let ends_failures = edit.is_progress && self.has_failures;

        edit.replaces.is_none()
            && edit.status.is_none()
            && edit.waits.begun.is_empty()
            && edit.waits.ended.is_empty()
            && edit.waits.answered.is_empty()
            && !edit.takes_offered
            && !ends_failures
    }
}

/// PostgreSQL has no text with NUL.
fn without_nul(event: &str) -> String {
    event.replace('\0', "\u{2400}")
}

fn json(edit: &Edit) -> String {
    // Texts and numbers can always be written.
    serde_json::to_string(edit).unwrap_or_default()
}

#[async_trait]
impl Held for HeldRun {
    /// While the server is gone, this is repeated for as long as the lease lasts.
    async fn write(&mut self, mut edit: Edit) -> Result<(), StoreError> {
        for wait in &mut edit.waits.begun {
            wait.event = without_nul(&wait.event);
        }
        let answered = std::mem::take(&mut edit.waits.answered).into_iter();
        edit.waits.answered = answered
            .map(|(event, is_answered)| (without_nul(&event), is_answered))
            .collect();
        let Some(lease) = &self.lease else {
            return self.start(&edit).await;
        };

        // After that, the lease has expired, and somebody else may have the run.
        let give_up = Instant::now() + self.database.settings.lease;
        let mut delays = reconnects();
        // Repeating a change is safe: the statements notice if it was written before.
        loop {
            let error = match self.attempt(lease, &edit).await {
                Ok(true) => break,
                Ok(false) => return Err(StoreError::gone(&self.run_id, &self.database.place())),
                Err(error) => error,
            };

            let delay = delays.next().unwrap_or_default();
            if error.kind() != StoreErrorKind::Unavailable || Instant::now() + delay > give_up {
                return Err(error);
            }
            sleep(delay).await;
        }

        // As the statements count, so that the next one finds the row as this process left it.
        self.version += i64::from(!self.is_append(&edit));
        self.has_failures &= !edit.is_progress;
        Ok(())
    }

    async fn write_events(&mut self, events: Vec<String>) -> Result<(), StoreError> {
        let Some(Lease { key, fence, .. }) = &self.lease else {
            // Nothing happens in a queued run before a worker takes it.
            return Ok(());
        };
        let values: [Sql<'_>; 3] = [key, fence, &events];
        let written = self.database.query("cannot be written", EVENTS, &values);
        written.await.map(drop)
    }

    fn until(&self) -> Option<watch::Receiver<Result<Instant, StoreError>>> {
        Some(self.lease.as_ref()?.until.clone())
    }

    /// If the run isn't the wanted one, that is the fault of whoever opens it.
    fn refused(&mut self, error: &StoreError) {
        let stopped = if error.kind() == StoreErrorKind::Damaged {
            Stopped::Failed(error.to_string())
        } else if error.kind() == StoreErrorKind::Unavailable {
            Stopped::Interrupted(error.to_string())
        } else {
            return;
        };

        if let Some(lease) = &self.lease {
            lease.watch.set_stopped(stopped);
        }
    }
}
