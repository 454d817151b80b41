//! Finds, starts and takes runs.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use cogwork_flow::Shape;
use cogwork_flow::journal::{Entry, Json};
use cogwork_text::Name;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::claim::Claimed;
use super::database::{Database, give_back};
use super::failure::Failure;
use super::lease::Lease;
use super::names::hash;
use super::statements::TAKE;
use super::write::RowState;
use crate::error::Kind;
use crate::header::Header;
use crate::keep::{RecordedRun, Wanted};
use crate::line::{Line, check_order};
use crate::rows::{LineRow, RowChange, RowReader, RunPlace, count, fork_column, numbers};
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

/// Returns the line in a row with its number, text and time.
fn line(row: &Row) -> LineRow<'_> {
    LineRow {
        number: row.get(0),
        text: row.get(1),
        at: row.get(2),
    }
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

    /// Records a new run, and returns its key. Returns `None` if it exists. Without a queue, this
    /// process takes it.
    pub(super) async fn insert(
        &self,
        header: &Header,
        new: &RowChange,
        queue: Option<&str>,
    ) -> Result<Option<i64>, StoreError> {
        let inserted = self.try_to_insert(header, new, queue).await;
        inserted.map_err(|failure| self.failed("cannot be written", failure))
    }

    async fn try_to_insert(
        &self,
        header: &Header,
        new: &RowChange,
        queue: Option<&str>,
    ) -> Result<Option<i64>, Failure> {
        let database = &self.database;
        let settings = &database.settings;
        let lease = queue.is_none().then_some(settings.lease.as_secs_f64());
        let values: [&(dyn ToSql + Sync); 9] = [
            &self.place.run_id,
            &header.flow,
            &shape_hash(&header.shape),
            &count(header.started),
            &new.all,
            &lease.map(|_| &settings.worker),
            &lease,
            &queue,
            &fork_column(header),
        ];

        let mut client = database.client().await?;
        let done = async {
            let transaction = client.transaction().await?;
            let insert = database.sql(
                "INSERT INTO @.runs (id, flow, shape, started, lines, status, fence, worker, wake,
                     queue, ready, fork)
                 VALUES ($1, $2, $3, $4, $5, 'open', 1, $6,
                     clock_timestamp() + make_interval(secs => $7), $8::text, $8::text IS NOT NULL, $9)
                 ON CONFLICT (id) DO NOTHING RETURNING key",
            );
            let insert = transaction.prepare_cached(&insert).await?;
            let Some(row) = transaction.query_opt(&insert, &values).await? else {
                return Ok(None);
            };

            let key = row.get(0);
            database.write_rows(&transaction, key, new).await?;
            if queue.is_some() {
                let notify = "SELECT pg_notify($1, '')";
                transaction
                    .execute(notify, &[&database.names.channel()])
                    .await?;
            }

            transaction.commit().await?;
            Ok(Some(key))
        };

        let done = database.timed(done).await;
        give_back(client, done)
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
                    &settings.lease.as_secs_f64(),
                ],
            )
            .await;

        let rows = taken.map_err(|failure| self.failed("cannot be taken", failure))?;
        let claimed = rows.first().map(Claimed::of);
        Ok(claimed.map(|claimed| Taken {
            lease: Lease::keep(&self.database, claimed.held),
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
    ) -> Result<RecordedRun, StoreError> {
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

        let mut read = RowReader::of_run(&self.place);
        for row in &rows {
            read.add(&line(row))?;
        }

        let record = read.record(wanted, lines.max(count(rows.len())))?;
        record.ok_or_else(|| self.missing())
    }

    /// Reads entries of a run, on which somebody may work.
    pub(super) async fn read_entries(
        &self,
        range: &Range<u64>,
    ) -> Result<Vec<RecordedEntry>, StoreError> {
        let found = self.find().await?.row.ok_or_else(|| self.missing())?;
        let (first, last) = numbers(range);
        let rows = self
            .database
            .query(
                "SELECT number, CASE WHEN octet_length(line)::bigint <= $2 THEN line END,
                     (extract(epoch FROM at) * 1000)::bigint
                 FROM @.lines WHERE run = $1 AND number BETWEEN $3 AND $4 ORDER BY number",
                &[&found.key, &count(self.place.max_line), &first, &last],
            )
            .await;
        let rows = rows.map_err(|failure| self.failed("cannot be read", failure))?;

        let mut read = RowReader::of_entries(&self.place, first);
        for row in &rows {
            read.add(&line(row))?;
        }

        Ok(read.entries())
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
        check_order(lines).map_err(|error| self.place.out_of_place(error))
    }
}
