//! Writes a run on which this process has a lease.

use std::sync::Arc;

use async_trait::async_trait;
use cogwork_flow::FlowGraph;
use deadpool_postgres::Transaction;
use tokio::time::Instant;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;

use super::claim::Claimed;
use super::database::{Database, give_back};
use super::failure::Failure;
use super::lease::{Held, Lease, Stopped};
use super::statements::{CHANGE, EVENTS, WRITTEN};
use crate::StoreError;
use crate::backend::{self, Edit, Taken, TextLine};
use crate::header::Header;
use crate::rows::{count, fork_column, gone, millis, time};
use crate::waits::WaitChange;

/// A run that this process writes.
pub(super) struct HeldRun {
    database: Arc<Database>,
    run_id: String,
    /// Whether a new run is for workers. Otherwise, this process takes it.
    is_queued: bool,
    /// `None` if the run doesn't exist yet.
    lease: Option<Lease>,
    row: RowState,
    /// The numbers of the answers that were offered.
    offered: Vec<i64>,
    has_answers: bool,
    now: i64,
}

/// What a process that works on a run knows of its row, since nobody else changes that meanwhile.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RowState {
    /// How often the run was changed other than by appending lines.
    pub(super) version: i64,
    /// Whether failures are counted, which the next outcome sets to 0.
    pub(super) has_failures: bool,
}

/// Whether a change was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Written {
    Yes,
    /// The rows aren't as this process left them, or the lease was taken by somebody else.
    Refused,
}

/// A change of a run that exists.
struct Change<'a> {
    held: Held,
    row: RowState,
    edit: &'a Edit,
    /// The numbers of the offered answers that the change contains.
    answers: &'a [i64],
}

/// Returns a hash of what must not change in a flow.
pub(super) fn shape_hash(graph: &FlowGraph) -> i64 {
    graph.digest().cast_signed()
}

impl HeldRun {
    fn of(database: &Arc<Database>, run_id: &str) -> Self {
        Self {
            database: Arc::clone(database),
            run_id: run_id.to_owned(),
            is_queued: false,
            lease: None,
            row: RowState::default(),
            offered: Vec::new(),
            has_answers: false,
            now: 0,
        }
    }

    /// Returns a run that this process is about to start. The time is in milliseconds since 1970.
    pub(super) fn to_start(database: &Arc<Database>, run_id: &str, now: i64) -> Taken {
        Taken {
            held: Box::new(Self::of(database, run_id)),
            lines: Vec::new(),
            offered: Vec::new(),
            now: time(now),
        }
    }

    /// Returns a run that is about to be recorded for workers.
    pub(super) fn queued(database: &Arc<Database>, run_id: &str) -> Self {
        Self {
            is_queued: true,
            ..Self::of(database, run_id)
        }
    }

    /// Keeps the lease of a run that was taken.
    pub(super) fn taken(database: &Arc<Database>, claimed: Claimed) -> Self {
        Self {
            lease: Some(Lease::keep(database, claimed.held)),
            row: claimed.row,
            has_answers: claimed.answers > 0,
            now: claimed.now,
            ..Self::of(database, &claimed.run_id)
        }
    }

    pub(super) fn lease(&self) -> Option<&Lease> {
        self.lease.as_ref()
    }

    /// Reads the lines of a run that was taken, and the answers that were offered.
    pub(super) async fn with_lines(mut self) -> Result<Taken, StoreError> {
        let read = self.read().await;
        if let Err(error) = &read {
            backend::Held::refused(&mut self, error);
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
        let lines = self.database.lines(&self.run_id, &(1..u64::MAX)).await?;
        let lines = lines.unwrap_or_default();
        let Some(lease) = self.lease.as_ref().filter(|_| self.has_answers) else {
            return Ok((lines, Vec::new()));
        };

        let find = "SELECT number, line FROM @.answers WHERE run = $1 ORDER BY number";
        let rows = self.database.query(find, &[&lease.held.key]).await;
        let rows = rows.map_err(|failure| self.database.failed("cannot be read", failure))?;
        self.offered = rows.iter().map(|row| row.get(0)).collect();
        let offered = rows.iter().map(|row| TextLine {
            text: row.get(1),
            at: None,
        });
        Ok((lines, offered.collect()))
    }

    /// Writes a change of a run that exists. While the server is gone, this is repeated for as long as
    /// the lease lasts.
    async fn change(&self, held: Held, edit: &Edit) -> Result<RowState, StoreError> {
        let database = &self.database;
        let give_up = Instant::now() + database.settings.lease;
        let mut delays = database.settings.reconnects();
        let mut is_repeated = false;
        let change = Change {
            held,
            row: self.row,
            edit,
            answers: if edit.takes_offered {
                &self.offered
            } else {
                &[]
            },
        };

        loop {
            let failure = match database.attempt(&change, is_repeated).await {
                Ok(Written::Yes) => return Ok(change.row_after()),
                Ok(Written::Refused) => return Err(gone(&database.place(), &self.run_id)),
                Err(failure) => failure,
            };

            let delay = delays.next_delay();
            if !failure.is_passing() || Instant::now() + delay > give_up {
                return Err(database.failed("cannot be written", failure));
            }

            is_repeated = true;
            tokio::time::sleep(delay).await;
        }
    }
}

#[async_trait]
impl backend::Held for HeldRun {
    async fn write(&mut self, edit: Edit) -> Result<(), StoreError> {
        if let Some(lease) = &self.lease {
            self.row = self.change(lease.held, &edit).await?;
            return Ok(());
        }

        let database = &self.database;
        let inserted = database.insert(&self.run_id, &edit, self.is_queued).await;
        let inserted = inserted.map_err(|failure| database.failed("cannot be written", failure))?;
        let exists = || StoreError::already_there(&self.run_id, &database.place());
        let key = inserted.ok_or_else(exists)?;
        if !self.is_queued {
            self.lease = Some(Lease::keep(database, Held { key, fence: 1 }));
        }
        Ok(())
    }

    async fn write_events(&mut self, events: Vec<String>) -> Result<(), StoreError> {
        let Some(lease) = &self.lease else {
            return Ok(());
        };

        let Held { key, fence } = lease.held;
        let written = self.database.query(EVENTS, &[&key, &fence, &events]).await;
        let written = written.map_err(|failure| self.database.failed("cannot be written", failure));
        written.map(drop)
    }

    /// If the run isn't the wanted one, that is the fault of whoever opens it.
    fn refused(&mut self, error: &StoreError) {
        let stopped = if error.is_damaged() {
            Stopped::Failed(error.to_string())
        } else if error.is_unavailable() {
            Stopped::Interrupted(error.to_string())
        } else {
            return;
        };

        if let Some(lease) = &self.lease {
            lease.watch().set_stopped(stopped);
        }
    }
}

impl Database {
    /// Records a new run, and returns its key. Returns `None` if it exists.
    async fn insert(
        &self,
        run_id: &str,
        edit: &Edit,
        is_queued: bool,
    ) -> Result<Option<i64>, Failure> {
        let Some(header) = &edit.replaces else {
            return Ok(None);
        };
        let lease = (!is_queued).then_some(self.settings.lease.as_secs_f64());
        let values: [&(dyn ToSql + Sync); 8] = [
            &run_id,
            &header.flow,
            &shape_hash(&header.graph),
            &count(header.started),
            &lease.map(|_| &self.settings.worker),
            &lease,
            &is_queued,
            &fork_column(header),
        ];

        let mut client = self.client().await?;
        let done = async {
            let transaction = client.transaction().await?;
            let insert = self.sql(
                "INSERT INTO @.runs (id, flow, shape, started, status, worker, wake, queued, ready, fork)
                 VALUES ($1, $2, $3, $4, 'open', $5,
                     clock_timestamp() + make_interval(secs => $6), $7, $7, $8)
                 ON CONFLICT (id) DO NOTHING RETURNING key",
            );
            let insert = transaction.prepare_cached(&insert).await?;
            let Some(row) = transaction.query_opt(&insert, &values).await? else {
                return Ok(None);
            };

            let key = row.get(0);
            self.write_rows(&transaction, key, edit).await?;
            let update = "UPDATE @.runs SET status = $2 WHERE key = $1 AND status <> $2";
            self.execute(
                &transaction,
                update,
                &[&key, &edit.status.unwrap_or("open")],
            )
            .await?;
            if is_queued {
                let notify = "SELECT pg_notify($1, '')";
                transaction
                    .execute(notify, &[&self.names.channel()])
                    .await?;
            }

            transaction.commit().await?;
            Ok(Some(key))
        };

        let done = self.timed(done).await;
        give_back(client, done)
    }

    async fn attempt(&self, change: &Change<'_>, is_repeated: bool) -> Result<Written, Failure> {
        let written = if change.is_append() {
            self.append(change).await?
        } else {
            self.write(change).await?
        };

        // The connection may have failed after the change was committed.
        if written == Written::Refused && is_repeated && self.has_written(change).await? {
            return Ok(Written::Yes);
        }

        Ok(written)
    }

    /// Appends lines with one statement, which also checks the fence.
    async fn append(&self, change: &Change<'_>) -> Result<Written, Failure> {
        let Held { key, fence } = change.held;
        let before = count(change.edit.first) - 1;
        let lines: Vec<&str> = change
            .edit
            .lines
            .iter()
            .map(|line| line.text.as_str())
            .collect();
        let values: [&(dyn ToSql + Sync); 5] = [&key, &fence, &change.row.version, &before, &lines];

        let client = self.client().await?;
        let done = async {
            let statement = client.prepare_cached(&self.append).await?;
            match client.execute(&statement, &values).await {
                Ok(0) => Ok(Written::Refused),
                Ok(_) => Ok(Written::Yes),
                // There is such a line, so the rows aren't as this process left them.
                Err(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => {
                    Ok(Written::Refused)
                }
                Err(error) => Err(error.into()),
            }
        };

        let done = self.timed(done).await;
        give_back(client, done)
    }

    /// Writes a change that needs several statements.
    async fn write(&self, change: &Change<'_>) -> Result<Written, Failure> {
        let Held { key, fence } = change.held;
        let edit = change.edit;
        let shape = edit
            .replaces
            .as_ref()
            .map(|header: &Header| shape_hash(&header.graph));
        let answered = count(change.answers.len());
        let values: [&(dyn ToSql + Sync); 7] = [
            &key,
            &fence,
            &change.row.version,
            &edit.is_progress,
            &shape,
            &edit.status,
            &answered,
        ];

        let mut client = self.client().await?;
        let done = async {
            let transaction = client.transaction().await?;
            // The row is locked from then on, if it is as this process left it.
            if self.execute(&transaction, CHANGE, &values).await? == 0 {
                return Ok(Written::Refused);
            }

            if edit.replaces.is_some() {
                let delete = "DELETE FROM @.lines WHERE run = $1";
                self.execute(&transaction, delete, &[&key]).await?;
            }
            if !change.answers.is_empty() {
                let delete = "DELETE FROM @.answers WHERE number = ANY($1)";
                self.execute(&transaction, delete, &[&change.answers])
                    .await?;
            }

            self.write_rows(&transaction, key, edit).await?;
            transaction.commit().await?;
            Ok(Written::Yes)
        };

        let done = self.timed(done).await;
        give_back(client, done)
    }

    /// Returns whether the change is already in the database.
    async fn has_written(&self, change: &Change<'_>) -> Result<bool, Failure> {
        let Held { key, fence } = change.held;
        let RowState { version, .. } = change.row_after();
        let last = count(change.edit.first) - 1 + count(change.edit.lines.len());
        let found = self.query(WRITTEN, &[&key, &fence, &version, &last]).await;
        Ok(!found?.is_empty())
    }

    /// Writes the lines and waits of a run with this key.
    async fn write_rows(
        &self,
        transaction: &Transaction<'_>,
        key: i64,
        edit: &Edit,
    ) -> Result<(), Failure> {
        let insert = "INSERT INTO @.lines (run, number, line, at)
             SELECT $1, $2::bigint + number - 1, line, coalesce(to_timestamp(at / 1000.0), clock_timestamp())
             FROM unnest($3::text[], $4::bigint[]) WITH ORDINALITY AS new (line, at, number)";
        let lines: Vec<&str> = edit.lines.iter().map(|line| line.text.as_str()).collect();
        let times: Vec<Option<i64>> = edit.lines.iter().map(|line| line.at.map(count)).collect();
        let values: [&(dyn ToSql + Sync); 4] = [&key, &count(edit.first), &lines, &times];
        self.execute(transaction, insert, &values).await?;

        for wait in &edit.waits {
            self.write_wait(transaction, key, wait).await?;
        }
        Ok(())
    }

    async fn write_wait(
        &self,
        transaction: &Transaction<'_>,
        key: i64,
        change: &WaitChange,
    ) -> Result<u64, Failure> {
        match change {
            WaitChange::Began { line, event, until } => {
                let insert =
                    "INSERT INTO @.waits (run, line, event, until) VALUES ($1, $2, $3, $4)";
                // PostgreSQL has no text with NUL.
                let event = event.replace('\0', "\u{2400}");
                let values: [&(dyn ToSql + Sync); 4] =
                    [&key, &count(*line), &event, &until.map(millis)];
                self.execute(transaction, insert, &values).await
            }
            WaitChange::Ended { line } => {
                let delete = "DELETE FROM @.waits WHERE run = $1 AND line = $2";
                self.execute(transaction, delete, &[&key, &count(*line)])
                    .await
            }
            WaitChange::AllEnded => {
                let delete = "DELETE FROM @.waits WHERE run = $1";
                self.execute(transaction, delete, &[&key]).await
            }
        }
    }

    /// Executes a statement of a transaction. Returns how many rows it changed.
    async fn execute(
        &self,
        transaction: &Transaction<'_>,
        sql: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<u64, Failure> {
        let statement = transaction.prepare_cached(&self.sql(sql)).await?;
        Ok(transaction.execute(&statement, values).await?)
    }
}

impl Change<'_> {
    /// Returns whether it only adds lines.
    fn is_append(&self) -> bool {
        let ends_failures = self.edit.is_progress && self.row.has_failures;

        self.edit.replaces.is_none()
            && !ends_failures
            && self.edit.waits.is_empty()
            && self.edit.status.is_none()
            && self.answers.is_empty()
    }

    fn row_after(&self) -> RowState {
        RowState {
            version: self.row.version + i64::from(!self.is_append()),
            has_failures: self.row.has_failures && !self.edit.is_progress,
        }
    }
}
