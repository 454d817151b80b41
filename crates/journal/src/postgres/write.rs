//! Writes the lines of a run.

use async_trait::async_trait;
use cogwork_flow::journal::Json;
use deadpool_postgres::{Object, Transaction};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;

use super::column::for_column;
use super::database::{Database, Lease, Statements};
use super::failure::Failure;
use super::protocol::statements::{CHANGE, WRITTEN};
use super::protocol::{self, Held, WriteError, Written};
use super::row::RowState;
use super::run::Run;
use crate::StoreError;
use crate::behind::{Job, WriteAsync};
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

#[async_trait]
impl WriteAsync for Writer {
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
        let written = protocol::write(&*self.database, change).await;
        written.map_err(|error| match error {
            WriteError::Refused => self.place.gone(),
            WriteError::Failed(failure) => self.database.failed("cannot be written", failure),
        })?;

        Ok(change.row_after())
    }
}

impl Database {
    pub(super) async fn try_to_write(&self, change: &Change) -> Result<Written, Failure> {
        if change.is_append() {
            return self.append(change).await;
        }

        let database = self;
        self.run(&Whole { database, change }).await
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
        let append = Append {
            sql: &self.append,
            values: &values,
        };
        self.run(&append).await
    }

    /// Returns whether the change is already in the database.
    pub(super) async fn has_written(&self, change: &Change) -> Result<bool, Failure> {
        let Held { key, fence } = change.held;
        let RowState { version, .. } = change.row_after();
        let found = self
            .query(WRITTEN, &[&key, &fence, &version, &change.rows.all])
            .await;

        Ok(!found?.is_empty())
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

/// A change that appends lines.
struct Append<'a> {
    sql: &'a str,
    values: &'a [&'a (dyn ToSql + Sync)],
}

#[async_trait]
impl Statements for Append<'_> {
    type Output = Written;

    async fn run(&self, client: &mut Object) -> Result<Written, Failure> {
        let statement = client.prepare_cached(self.sql).await?;

        match client.execute(&statement, self.values).await {
            Ok(0) => Ok(Written::Refused),
            Ok(_) => Ok(Written::Yes),
            // There is such a line, so the rows aren't as this process left them.
            Err(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => Ok(Written::Refused),
            Err(error) => Err(error.into()),
        }
    }
}

/// A change that needs several statements.
struct Whole<'a> {
    database: &'a Database,
    change: &'a Change,
}

#[async_trait]
impl Statements for Whole<'_> {
    type Output = Written;

    async fn run(&self, client: &mut Object) -> Result<Written, Failure> {
        let transaction = client.transaction().await?;
        if !self.take_row(&transaction).await? {
            return Ok(Written::Refused);
        }

        self.write_lines(&transaction).await?;
        for wait in &self.change.rows.waits {
            self.write_wait(&transaction, wait).await?;
        }
        if let Some(columns) = &self.change.rows.columns {
            self.write_columns(&transaction, columns).await?;
        }

        transaction.commit().await?;
        Ok(Written::Yes)
    }
}

impl Whole<'_> {
    fn sql(&self, text: &str) -> String {
        self.database.sql(text)
    }

    /// Updates the row of the run, if it is as this process left it. It is locked from then on.
    async fn take_row(&self, transaction: &Transaction<'_>) -> Result<bool, Failure> {
        let Change {
            held: Held { key, fence },
            row: RowState { version, .. },
            rows,
            is_progress,
            shape,
            answers,
        } = self.change;
        let answered = count(answers.len());

        let taken = transaction.prepare_cached(&self.sql(CHANGE)).await?;
        let taken = transaction
            .execute(
                &taken,
                &[
                    key,
                    fence,
                    version,
                    &rows.all,
                    is_progress,
                    shape,
                    &answered,
                ],
            )
            .await?;
        Ok(taken > 0)
    }

    async fn write_lines(&self, transaction: &Transaction<'_>) -> Result<(), Failure> {
        let Change {
            held: Held { key, .. },
            rows,
            answers,
            ..
        } = self.change;

        if rows.replaces {
            let delete = self.sql("DELETE FROM @.lines WHERE run = $1");
            let delete = transaction.prepare_cached(&delete).await?;
            transaction.execute(&delete, &[key]).await?;
        }

        if !answers.is_empty() {
            let delete = self.sql("DELETE FROM @.answers WHERE number = ANY($1)");
            let delete = transaction.prepare_cached(&delete).await?;
            transaction.execute(&delete, &[answers]).await?;
        }

        let insert = self.sql(
            "INSERT INTO @.lines (run, number, line)
             SELECT $1, $2::bigint + number - 1, line FROM unnest($3::text[]) WITH ORDINALITY AS new (line, number)",
        );
        let insert = transaction.prepare_cached(&insert).await?;
        transaction
            .execute(&insert, &[key, &rows.first(), &rows.lines])
            .await?;
        Ok(())
    }

    async fn write_wait(
        &self,
        transaction: &Transaction<'_>,
        change: &WaitChange,
    ) -> Result<(), Failure> {
        let key = self.change.held.key;

        match change {
            WaitChange::Began(number, wait) => {
                let insert = self.sql(
                    "INSERT INTO @.waits (run, number, step, event, why, until, schema)
                     VALUES ($1, $2, $3, $4, $5, $6, $7)",
                );
                let insert = transaction.prepare_cached(&insert).await?;
                let until = wait.until.map(millis);
                let schema = wait.schema.as_ref().map(Json::as_str);
                let schema = schema.map(for_column);
                transaction
                    .execute(
                        &insert,
                        &[
                            &key,
                            &count(*number),
                            &for_column(&wait.step),
                            &for_column(&wait.event),
                            &for_column(&wait.why),
                            &until,
                            &schema,
                        ],
                    )
                    .await?;
            }
            WaitChange::Shortened(number, until) => {
                let update =
                    self.sql("UPDATE @.waits SET until = $3 WHERE run = $1 AND number = $2");
                let update = transaction.prepare_cached(&update).await?;
                let until = until.map(millis);
                transaction
                    .execute(&update, &[&key, &count(*number), &until])
                    .await?;
            }
            WaitChange::Ended(number) => {
                let delete = self.sql("DELETE FROM @.waits WHERE run = $1 AND number = $2");
                let delete = transaction.prepare_cached(&delete).await?;
                transaction
                    .execute(&delete, &[&key, &count(*number)])
                    .await?;
            }
            WaitChange::AllEnded => {
                let delete = self.sql("DELETE FROM @.waits WHERE run = $1");
                let delete = transaction.prepare_cached(&delete).await?;
                transaction.execute(&delete, &[&key]).await?;
            }
        }

        Ok(())
    }

    async fn write_columns(
        &self,
        transaction: &Transaction<'_>,
        columns: &Columns,
    ) -> Result<(), Failure> {
        let Columns {
            status,
            error,
            action,
            steps,
        } = columns;
        let update = self.sql(
            "UPDATE @.runs SET status = $2, error = $3, action = $4, steps = $5, changed = clock_timestamp()
             WHERE key = $1",
        );

        let error = error.as_deref().map(for_column);
        let action = action.as_deref().map(for_column);
        let update = transaction.prepare_cached(&update).await?;
        transaction
            .execute(
                &update,
                &[&self.change.held.key, status, &error, &action, steps],
            )
            .await?;
        Ok(())
    }
}
