//! Finds, starts and takes runs.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use cogwork_flow::Shape;
use cogwork_flow::journal::{Entry, Json, Recorded};
use cogwork_text::Name;
use tokio_postgres::Row;

use super::claim::Claimed;
use super::database::{Database, Lease};
use super::enqueue::Enqueue;
use super::failure::Failure;
use super::new_waits::NewWaits;
use super::protocol::statements::TAKE;
use super::row::RowState;
use crate::error::Kind;
use crate::header::Header;
use crate::keep::Wanted;
use crate::line::Line;
use crate::name::hash;
use crate::rows::{EntryReader, Record, RowChange, RowReader, RunPlace, count, fork_column};
use crate::{RecordedEntry, StoreError};

/// A run, which may not exist.
#[derive(Clone)]
pub(super) struct Run {
    pub(super) database: Arc<Database>,
    pub(super) place: RunPlace,
}

/// The row of a run, if there is one, and the time of the database.
pub(super) struct Found {
    /// Milliseconds since 1970.
    pub(super) now: i64,
    pub(super) row: Option<FoundRow>,
}

pub(super) struct FoundRow {
    pub(super) key: i64,
    /// Who works on it, and for how many more seconds at most unless it is renewed.
    pub(super) held: Option<(String, f64)>,
}

/// A run that was taken, so that nobody else can write it.
pub(super) struct Taken {
    pub(super) lease: Lease,
    pub(super) row: RowState,
    /// Milliseconds since 1970.
    pub(super) now: i64,
    /// How many lines there were at least. Appending lines doesn't update it.
    pub(super) lines: i64,
    /// How many answers arrived while somebody worked on the run.
    pub(super) answers: i64,
}

/// An answer that isn't on record yet.
pub(super) struct PendingAnswer {
    pub(super) number: i64,
    pub(super) entry: Entry,
}

/// Returns the time in the third column of a line, in milliseconds since 1970.
pub(super) fn written_at(row: &Row) -> Option<u64> {
    let at: i64 = row.get(2);
    u64::try_from(at).ok()
}

/// Returns a hash of what must not change in a flow.
pub(super) fn shape_hash(shape: &Shape) -> i64 {
    let text = serde_json::to_vec(shape).unwrap_or_default();
    hash(&text).cast_signed()
}

impl Run {
    pub(super) fn failed(&self, what: &str, failure: impl Into<Failure>) -> StoreError {
        self.database.failed(what, failure)
    }

    pub(super) async fn find(&self) -> Result<Found, StoreError> {
        let found = self
            .database
            .query(
                "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint, key,
                 CASE WHEN wake > clock_timestamp() THEN worker END,
                 extract(epoch FROM wake - clock_timestamp())::float8
             FROM (VALUES (1)) AS one LEFT JOIN @.runs ON id = $1",
                &[&self.place.run_id],
            )
            .await;

        let found = found.and_then(|rows| {
            let row = rows.first().ok_or_else(|| self.place.gone())?;
            let key: Option<i64> = row.get(1);
            let worker: Option<String> = row.get(2);
            let left: Option<f64> = row.get(3);

            Ok(Found {
                now: row.get(0),
                row: key.map(|key| FoundRow {
                    key,
                    held: worker.zip(left),
                }),
            })
        });
        found.map_err(|failure| self.failed("cannot be read", failure))
    }

    /// Records a new run, and returns its key. Returns `None` if it exists. Without `enqueue`, this process takes it.
    pub(super) async fn insert(
        &self,
        header: &Header,
        new: &RowChange,
        enqueue: Option<&Enqueue>,
    ) -> Result<Option<i64>, StoreError> {
        let settings = &self.database.settings;
        let is_queued = enqueue.is_some();
        let empty = Enqueue::new();
        let Enqueue {
            queue,
            priority,
            key,
            metadata,
            delay,
        } = enqueue.unwrap_or(&empty);
        let worker = (!is_queued).then_some(&settings.worker);
        let queue = is_queued.then_some(queue);
        let wake = match enqueue {
            None => settings.lease_seconds(),
            Some(_) => delay.as_secs_f64(),
        };
        let is_ready = is_queued && delay.is_zero();
        let channel = self.database.names.channel();
        let status = new.columns.as_ref().map_or("open", |new| new.status);
        let waits = NewWaits::after(&new.waits);

        let inserted = self.database.query(
            "WITH run AS (
                 INSERT INTO @.runs (id, flow, shape, started, lines, status, fence, worker, wake,
                     queue, priority, limit_key, metadata, ready, fork)
                 VALUES ($1, $2, $3, $4, cardinality($12::text[]), $14, 1, $5,
                     clock_timestamp() + make_interval(secs => $6), $7, $8, $9, $10, $11, $15)
                 ON CONFLICT (id) DO NOTHING RETURNING key, ready
             ), new_lines AS (
                 INSERT INTO @.lines (run, number, line)
                 SELECT key, number, line FROM run, unnest($12) WITH ORDINALITY AS new (line, number)
             ), new_waits AS (
                 INSERT INTO @.waits (run, number, step, event, why, until)
                 SELECT key, new.* FROM run,
                     unnest($16::bigint[], $17::text[], $18::text[], $19::text[], $20::bigint[]) AS new
             )
             SELECT key, CASE WHEN ready THEN pg_notify($13, '')::text END FROM run",
            &[
                &self.place.run_id,
                &header.flow,
                &shape_hash(&header.shape),
                &count(header.started),
                &worker,
                &wake,
                &queue,
                priority,
                key,
                metadata,
                &is_ready,
                &new.lines,
                &channel,
                &status,
                &fork_column(header),
                &waits.numbers,
                &waits.steps,
                &waits.events,
                &waits.reasons,
                &waits.until,
            ],
        )
        .await;

        let rows = inserted.map_err(|failure| self.failed("cannot be written", failure))?;
        let Some(row) = rows.first() else {
            return Ok(None);
        };

        Ok(Some(row.get(0)))
    }

    /// Takes the run, unless somebody works on it.
    pub(super) async fn take(&self) -> Result<Option<Taken>, StoreError> {
        let settings = &self.database.settings;
        let taken = self
            .database
            .query(
                TAKE,
                &[
                    &self.place.run_id,
                    &settings.worker,
                    &settings.lease_seconds(),
                ],
            )
            .await;

        let rows = taken.map_err(|failure| self.failed("cannot be taken", failure))?;
        let claimed = rows.first().map(Claimed::of);
        Ok(claimed.map(|claimed| Taken {
            lease: self.database.leases.keep(&self.database, claimed.held),
            row: claimed.row,
            lines: claimed.lines,
            answers: claimed.answers,
            now: claimed.now,
        }))
    }

    /// Reads the lines of a run that was taken, of which there must be as many as this at least.
    pub(super) async fn read(
        &self,
        key: i64,
        lines: i64,
        wanted: &Wanted,
    ) -> Result<Record, StoreError> {
        // A line that is too long isn't read.
        let rows = self
            .database
            .query(
                "SELECT number, CASE WHEN octet_length(line)::bigint <= $2 THEN line END,
                 (extract(epoch FROM at) * 1000)::bigint
             FROM @.lines WHERE run = $1 ORDER BY number",
                &[&key, &count(self.place.max_line)],
            )
            .await;
        let rows = rows.map_err(|failure| self.failed("cannot be read", failure))?;

        let mut read = RowReader::new(&self.place, wanted);
        for row in &rows {
            let line: Option<&str> = row.get(1);
            read.add(row.get(0), line.map(str::as_bytes), written_at(row))?;
        }

        let record = read.finish(lines.max(count(rows.len())))?;
        record.ok_or_else(|| StoreError::missing(&self.place.run_id, &self.place.database))
    }

    /// Reads entries of a run, on which somebody may work.
    pub(super) async fn read_entries(
        &self,
        range: &Range<u64>,
    ) -> Result<Vec<RecordedEntry>, StoreError> {
        let Some(found) = self.find().await?.row else {
            return Err(StoreError::missing(
                &self.place.run_id,
                &self.place.database,
            ));
        };

        let mut read = EntryReader::new(&self.place, range);
        let rows = self
            .database
            .query(
                "SELECT number, CASE WHEN octet_length(line)::bigint <= $2 THEN line END,
                     (extract(epoch FROM at) * 1000)::bigint
                 FROM @.lines WHERE run = $1 AND number BETWEEN $3 AND $4 ORDER BY number",
                &[
                    &found.key,
                    &count(self.place.max_line),
                    &read.before(),
                    &read.last(),
                ],
            )
            .await;
        let rows = rows.map_err(|failure| self.failed("cannot be read", failure))?;

        for row in &rows {
            let line: Option<&str> = row.get(1);
            read.add(row.get(0), line.map(str::as_bytes), written_at(row))?;
        }

        Ok(read.finish())
    }

    /// Reads the answers that aren't on record yet, in the order in which they arrived.
    pub(super) async fn pending_answers(&self, key: i64) -> Result<Vec<PendingAnswer>, StoreError> {
        let rows = self
            .database
            .query(
                "SELECT number, event, answer FROM @.answers WHERE run = $1 ORDER BY number",
                &[&key],
            )
            .await;
        let rows = rows.map_err(|failure| self.failed("cannot be read", failure))?;

        let answers = rows.iter().map(|row| {
            let answer: Json = serde_json::from_str(row.get(2)).map_err(|error| {
                let place = &self.place.database;
                StoreError::caused(
                    Kind::Damaged,
                    format_args!("{place}: an answer cannot be read"),
                    error,
                )
            })?;
            Ok(PendingAnswer {
                number: row.get(0),
                entry: Entry::Answer {
                    event: row.get(1),
                    answer,
                },
            })
        });
        answers.collect()
    }

    /// Returns the error for a run on which somebody works.
    pub(super) fn in_use(&self, worker: &str, left: f64) -> StoreError {
        let run_id = Name(&self.place.run_id);
        let place = &self.place.database;
        let worker = Name(worker);
        let left = Duration::try_from_secs_f64(left).unwrap_or_default();
        StoreError::new(
            Kind::Locked,
            format_args!(
                "the run `{run_id}` is in use by `{worker}`, with a lease in {place} that ends in {left:.1?} \
                 unless it is renewed: it can be resumed after that has stopped"
            ),
        )
    }

    pub(super) fn sound(&self, lines: &[Line]) -> Result<(), StoreError> {
        let entries = lines.iter().map(|line| line.entry.clone());
        let sound = Recorded::over("", entries, ());
        sound
            .map(drop)
            .map_err(|error| self.place.out_of_place(error))
    }
}
