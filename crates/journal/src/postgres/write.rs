//! Writes the lines of a run.

use std::time::Duration;

use async_trait::async_trait;
use deadpool_postgres::{Object, Transaction};
use tokio::time::Instant;

use super::database::Statements;
use super::failure::Failure;
use super::lease::Lease;
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
}

/// A change of the rows of a run.
pub(super) struct Change {
    pub(super) key: i64,
    pub(super) fence: i64,
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
impl WriteAsync for Writer {
    async fn write(&mut self, jobs: Vec<Job>) -> Result<(), StoreError> {
        let edit = Job::merged(jobs);
        let is_progress = edit.is_progress();
        let rows = self.rows.change(edit)?;

        let change = Change {
            is_progress,
            ..Change::of(&self.lease, rows)
        };
        self.run.write(&change).await
    }
}

impl Run {
    /// Writes a change. While the server is gone, this is repeated for as long as the store is
    /// patient.
    pub(super) async fn write(&self, change: &Change) -> Result<(), StoreError> {
        let database = &self.database;
        let give_up = Instant::now() + database.settings.patience;
        let mut delays = database.settings.reconnects().delays();
        let mut is_repeated = false;

        loop {
            let failure = match self.try_to_write(change, is_repeated).await {
                Ok(Written::Yes) => return Ok(()),
                Ok(Written::Refused) => return Err(self.place.gone()),
                Err(failure) => failure,
            };

            let delay = delays.next().unwrap_or(Duration::from_secs(1));
            if !failure.is_passing() || Instant::now() + delay > give_up {
                return Err(database.failed("cannot be written", failure));
            }

            is_repeated = true;
            tokio::time::sleep(delay).await;
        }
    }

    async fn try_to_write(&self, change: &Change, is_repeated: bool) -> Result<Written, Failure> {
        let written = if change.is_append() {
            self.append(change).await?
        } else {
            self.database.run(&Whole { run: self, change }).await?
        };

        // The connection may have failed after the change was committed.
        if written == Written::Refused && is_repeated && self.is_written(change).await? {
            return Ok(Written::Yes);
        }

        Ok(written)
    }

    /// Appends lines with one statement, which also checks the fence.
    async fn append(&self, change: &Change) -> Result<Written, Failure> {
        let RowChange {
            before, all, lines, ..
        } = &change.rows;
        let appended = self
            .database
            .query(
                "WITH held AS (
                 UPDATE @.runs SET lines = $4, failures = CASE WHEN $5 THEN 0 ELSE failures END
                 WHERE key = $1 AND fence = $2 AND lines = $3 AND worker IS NOT NULL
                 RETURNING key
             ), appended AS (
                 INSERT INTO @.lines (run, number, line)
                 SELECT key, $3 + number, line
                 FROM held, unnest($6::text[]) WITH ORDINALITY AS new (line, number)
             )
             SELECT FROM held",
                &[
                    &change.key,
                    &change.fence,
                    before,
                    all,
                    &change.is_progress,
                    lines,
                ],
            )
            .await;

        Ok(Written::if_any(appended?.len()))
    }

    /// Returns whether the change is already in the database.
    async fn is_written(&self, change: &Change) -> Result<bool, Failure> {
        let found = self.database.query(
            "SELECT FROM @.runs WHERE key = $1 AND fence = $2 AND lines = $3 AND worker IS NOT NULL",
            &[&change.key, &change.fence, &change.rows.all],
        )
        .await;

        Ok(!found?.is_empty())
    }
}

impl Written {
    fn if_any(rows: usize) -> Self {
        if rows == 0 { Self::Refused } else { Self::Yes }
    }
}

impl Change {
    pub(super) fn of(lease: &Lease, rows: RowChange) -> Self {
        Self {
            key: lease.key,
            fence: lease.fence,
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
        !replaces && waits.is_empty() && columns.is_none() && self.answers.is_empty()
    }
}

/// A change that needs several statements.
struct Whole<'a> {
    run: &'a Run,
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
        self.run.database.sql(text)
    }

    /// Updates the row of the run, if it is as this process left it. It is locked from then on.
    async fn take_row(&self, transaction: &Transaction<'_>) -> Result<bool, Failure> {
        let Change {
            key,
            fence,
            rows,
            is_progress,
            shape,
            answers,
        } = self.change;
        let taken = self.sql(
            "UPDATE @.runs SET lines = $4, failures = CASE WHEN $5 THEN 0 ELSE failures END,
                 shape = coalesce($6, shape), answers = answers - $7
             WHERE key = $1 AND fence = $2 AND lines = $3 AND worker IS NOT NULL",
        );
        let answered = count(answers.len());

        let taken = transaction.prepare_cached(&taken).await?;
        let taken = transaction
            .execute(
                &taken,
                &[
                    key,
                    fence,
                    &rows.before,
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
            key, rows, answers, ..
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
        let key = self.change.key;

        match change {
            WaitChange::Began(number, wait) => {
                let insert = self.sql(
                    "INSERT INTO @.waits (run, number, step, event, why, until) VALUES ($1, $2, $3, $4, $5, $6)",
                );
                let insert = transaction.prepare_cached(&insert).await?;
                let until = wait.until.map(millis);
                transaction
                    .execute(
                        &insert,
                        &[
                            &key,
                            &count(*number),
                            &wait.step,
                            &wait.event,
                            &wait.why,
                            &until,
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

        let update = transaction.prepare_cached(&update).await?;
        transaction
            .execute(&update, &[&self.change.key, status, error, action, steps])
            .await?;
        Ok(())
    }
}
