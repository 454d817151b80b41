//! Writes the lines of a run.

use async_trait::async_trait;
use cogwork_flow::journal::Json;
use deadpool_postgres::Transaction;
use tokio::time::Instant;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;

use super::database::{Database, give_back};
use super::failure::Failure;
use super::lease::{Held, Lease};
use super::run::Run;
use super::statements::{CHANGE, WRITTEN};
use crate::StoreError;
use crate::behind::{Job, Write};
use crate::query::millis;
use crate::rows::{Columns, RowChange, Rows, count};
use crate::waits::WaitChange;

/// Writes a run on which this process has a lease.
pub(super) struct Writer {
    pub(super) run: Run,
    pub(super) rows: Rows,
    pub(super) lease: Lease,
    pub(super) row: RowState,
}

/// What a process that works on a run knows of its row, since nobody else changes that meanwhile.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RowState {
    /// How often the run was changed other than by appending lines.
    pub(super) version: i64,
    /// Whether failures are counted, which the next outcome sets to 0.
    pub(super) has_failures: bool,
}

/// A change of the rows of a run.
pub(super) struct Change {
    pub(super) held: Held,
    pub(super) row: RowState,
    pub(super) rows: RowChange,
    pub(super) is_progress: bool,
    /// The hash of the flow, if it changes.
    pub(super) shape: Option<i64>,
    /// The numbers of the pending answers that the change contains.
    pub(super) answers: Vec<i64>,
}

/// Whether a change was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Written {
    Yes,
    /// The rows aren't as this process left them, or the lease was taken by somebody else.
    Refused,
}

#[async_trait]
impl Write for Writer {
    fn blocks(&self) -> bool {
        false
    }

    async fn write(&mut self, jobs: Vec<Job>) -> Result<(), StoreError> {
        let edit = Job::merged(jobs, None);
        let is_progress = edit.is_progress();
        let rows = self.rows.change(edit)?;

        let change = Change {
            is_progress,
            ..Change::of(self.lease.held, self.row, rows)
        };
        self.row = self.run.write(&change).await?;
        Ok(())
    }
}

impl Run {
    /// Writes a change, and returns the state of the row after it. While the server is gone, this
    /// is repeated for as long as the store is patient.
    pub(super) async fn write(&self, change: &Change) -> Result<RowState, StoreError> {
        let settings = &self.database.settings;
        let give_up = Instant::now() + settings.patience;
        let mut delays = settings.reconnects();
        let mut is_repeated = false;

        loop {
            let failure = match self.database.attempt(change, is_repeated).await {
                Ok(Written::Yes) => return Ok(change.row_after()),
                Ok(Written::Refused) => return Err(self.place.gone()),
                Err(failure) => failure,
            };

            let delay = delays.next_delay();
            if !failure.is_passing() || Instant::now() + delay > give_up {
                return Err(self.database.failed("cannot be written", failure));
            }

            is_repeated = true;
            tokio::time::sleep(delay).await;
        }
    }
}

impl Database {
    async fn attempt(&self, change: &Change, is_repeated: bool) -> Result<Written, Failure> {
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
    async fn append(&self, change: &Change) -> Result<Written, Failure> {
        let Change {
            held: Held { key, fence },
            row: RowState { version, .. },
            rows: RowChange { before, lines, .. },
            ..
        } = change;
        let values: [&(dyn ToSql + Sync); 5] = [key, fence, version, before, lines];

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
    async fn write(&self, change: &Change) -> Result<Written, Failure> {
        let mut client = self.client().await?;
        let done = async {
            let transaction = client.transaction().await?;
            let key = change.held.key;
            if !self.take_row(&transaction, change).await? {
                return Ok(Written::Refused);
            }

            self.remove_lines(&transaction, change).await?;
            self.write_rows(&transaction, key, &change.rows).await?;
            transaction.commit().await?;
            Ok(Written::Yes)
        };

        let done = self.timed(done).await;
        give_back(client, done)
    }

    /// Returns whether the change is already in the database.
    async fn has_written(&self, change: &Change) -> Result<bool, Failure> {
        let Held { key, fence } = change.held;
        let RowState { version, .. } = change.row_after();
        let found = self
            .query(WRITTEN, &[&key, &fence, &version, &change.rows.all])
            .await;

        Ok(!found?.is_empty())
    }

    /// Updates the row of the run, if it is as this process left it. It is locked from then on.
    async fn take_row(
        &self,
        transaction: &Transaction<'_>,
        change: &Change,
    ) -> Result<bool, Failure> {
        let Change {
            held: Held { key, fence },
            row: RowState { version, .. },
            rows,
            is_progress,
            shape,
            answers,
        } = change;
        let answered = count(answers.len());
        let values: [&(dyn ToSql + Sync); 7] = [
            key,
            fence,
            version,
            &rows.all,
            is_progress,
            shape,
            &answered,
        ];

        let taken = self.execute(transaction, CHANGE, &values).await?;
        Ok(taken > 0)
    }

    /// Removes the lines that the change replaces, and the answers that it contains.
    async fn remove_lines(
        &self,
        transaction: &Transaction<'_>,
        change: &Change,
    ) -> Result<(), Failure> {
        let Change {
            held: Held { key, .. },
            rows,
            answers,
            ..
        } = change;

        if rows.replaces {
            let delete = "DELETE FROM @.lines WHERE run = $1";
            self.execute(transaction, delete, &[key]).await?;
        }

        if !answers.is_empty() {
            let delete = "DELETE FROM @.answers WHERE number = ANY($1)";
            self.execute(transaction, delete, &[answers]).await?;
        }

        Ok(())
    }

    /// Writes the lines, waits and columns of a run with this key.
    pub(super) async fn write_rows(
        &self,
        transaction: &Transaction<'_>,
        key: i64,
        rows: &RowChange,
    ) -> Result<(), Failure> {
        let insert = "INSERT INTO @.lines (run, number, line, at)
             SELECT $1, $2::bigint + number - 1, line, coalesce(to_timestamp(at / 1000.0), clock_timestamp())
             FROM unnest($3::text[], $4::bigint[]) WITH ORDINALITY AS new (line, at, number)";
        let values: [&(dyn ToSql + Sync); 4] = [&key, &rows.first(), &rows.lines, &rows.times];
        self.execute(transaction, insert, &values).await?;

        for wait in &rows.waits {
            self.write_wait(transaction, key, wait).await?;
        }
        if let Some(columns) = &rows.columns {
            self.write_columns(transaction, key, columns).await?;
        }

        Ok(())
    }

    async fn write_wait(
        &self,
        transaction: &Transaction<'_>,
        key: i64,
        change: &WaitChange,
    ) -> Result<(), Failure> {
        match change {
            WaitChange::Began(number, wait) => {
                let insert = "INSERT INTO @.waits (run, number, step, event, why, until, schema)
                     VALUES ($1, $2, $3, $4, $5, $6, $7)";
                let schema = wait.schema.as_ref().map(Json::as_str);
                let values: [&(dyn ToSql + Sync); 7] = [
                    &key,
                    &count(*number),
                    &for_column(&wait.step),
                    &for_column(&wait.event),
                    &for_column(&wait.why),
                    &wait.until.map(millis),
                    &schema.map(for_column),
                ];
                self.execute(transaction, insert, &values).await?;
            }
            WaitChange::Shortened(number, until) => {
                let update = "UPDATE @.waits SET until = $3 WHERE run = $1 AND number = $2";
                let until = until.map(millis);
                self.execute(transaction, update, &[&key, &count(*number), &until])
                    .await?;
            }
            WaitChange::Ended(number) => {
                let delete = "DELETE FROM @.waits WHERE run = $1 AND number = $2";
                self.execute(transaction, delete, &[&key, &count(*number)])
                    .await?;
            }
            WaitChange::AllEnded => {
                let delete = "DELETE FROM @.waits WHERE run = $1";
                self.execute(transaction, delete, &[&key]).await?;
            }
        }

        Ok(())
    }

    async fn write_columns(
        &self,
        transaction: &Transaction<'_>,
        key: i64,
        columns: &Columns,
    ) -> Result<(), Failure> {
        let Columns {
            status,
            error,
            action,
            steps,
        } = columns;
        let error = error.as_deref().map(for_column);
        let action = action.as_deref().map(for_column);

        let update = "UPDATE @.runs SET status = $2, error = $3, action = $4, steps = $5
             WHERE key = $1";
        let values: [&(dyn ToSql + Sync); 5] = [&key, status, &error, &action, steps];
        self.execute(transaction, update, &values).await?;
        Ok(())
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

impl Change {
    pub(super) fn of(held: Held, row: RowState, rows: RowChange) -> Self {
        Self {
            held,
            row,
            rows,
            is_progress: false,
            shape: None,
            answers: Vec::new(),
        }
    }

    /// Returns whether it only adds lines.
    fn is_append(&self) -> bool {
        let RowChange {
            replaces,
            waits,
            columns,
            ..
        } = &self.rows;
        let ends_failures = self.is_progress && self.row.has_failures;

        !replaces
            && !ends_failures
            && waits.is_empty()
            && columns.is_none()
            && self.answers.is_empty()
    }

    fn row_after(&self) -> RowState {
        let version = if self.is_append() {
            self.row.version
        } else {
            self.row.version + 1
        };
        RowState {
            version,
            has_failures: self.row.has_failures && !self.is_progress,
        }
    }
}

/// Returns a text that a column can contain. PostgreSQL has no text with NUL, so the symbol for it
/// is listed instead. The lines contain it escaped, as JSON does.
fn for_column(text: &str) -> String {
    text.replace('\0', "\u{2400}")
}
