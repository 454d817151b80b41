//! Takes queued runs.

use std::sync::Arc;
use std::time::Duration;

use tokio_postgres::Row;

use super::database::Database;
use super::lease::Held;
use super::run::RowState;
use super::settings::Reconnects;
use super::statements::{CLAIM, NEXT_DUE, WAKE_DUE};
use crate::StoreError;

/// The runs that a worker can take.
#[derive(Debug, Clone, Default)]
pub(super) struct Wanted {
    /// The names of the flows…
    pub(super) flows: Vec<String>,
    /// …and the hashes of what must not change in them.
    pub(super) shapes: Vec<i64>,
}

/// A run that was taken. Its lease isn't kept yet.
pub(super) struct Claimed {
    pub(super) run_id: String,
    pub(super) flow: String,
    pub(super) held: Held,
    pub(super) row: RowState,
    /// How many answers arrived while somebody worked on the run.
    pub(super) answers: i64,
    /// Milliseconds since 1970.
    pub(super) now: i64,
}

impl Claimed {
    pub(super) fn of(row: &Row) -> Self {
        Self {
            run_id: row.get("id"),
            flow: row.get("flow"),
            held: Held {
                key: row.get("key"),
                fence: row.get("fence"),
            },
            row: RowState {
                version: row.get("version"),
                has_failures: row.get("has_failures"),
            },
            answers: row.get("answers"),
            now: row.get("now"),
        }
    }
}

impl Database {
    /// Takes up to `most` runs.
    async fn claim(&self, wanted: &Wanted, most: usize) -> Result<Vec<Claimed>, StoreError> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let rows = self
            .query(
                CLAIM,
                &[
                    &self.settings.worker,
                    &self.settings.lease.as_secs_f64(),
                    &wanted.flows,
                    &wanted.shapes,
                    &most,
                ],
            )
            .await
            .map_err(|failure| self.failed("runs cannot be taken", failure))?;

        Ok(rows.iter().map(Claimed::of).collect())
    }

    /// Makes runs ready that are due: after a delay, when a wait times out, or when the lease of a
    /// worker that died expires. A run that failed or whose worker died too often is set aside.
    /// Returns how many seconds it takes until the next one is due.
    async fn wake_due(&self) -> Result<Option<f64>, StoreError> {
        let failed = |failure| self.failed("runs cannot be woken", failure);
        let delays = self.settings.retry_seconds();
        let channel = self.names.channel();

        self.query(WAKE_DUE, &[&delays, &channel])
            .await
            .map_err(failed)?;

        let next = self.query(NEXT_DUE, &[]).await.map_err(failed)?;
        Ok(next.first().and_then(|row| row.get(0)))
    }
}

/// What a worker does to get runs.
pub(super) struct Taking {
    database: Arc<Database>,
    /// How long to wait for a notification before looking for runs anyway.
    poll: Duration,
    delays: Reconnects,
}

/// The result of looking for runs once.
pub(super) struct Round {
    pub(super) claimed: Vec<Claimed>,
    /// How long to wait before the next round, unless something happens.
    pub(super) pause: Duration,
    /// Why the database could not be used. Notifications don't shorten the pause then.
    pub(super) failed: Option<StoreError>,
}

impl Taking {
    pub(super) fn new(database: Arc<Database>, poll: Duration) -> Self {
        let delays = database.settings.reconnects();
        Self {
            database,
            poll,
            delays,
        }
    }

    /// Takes up to `room` runs.
    pub(super) async fn round(&mut self, wanted: &Wanted, room: usize) -> Round {
        match self.take(wanted, room).await {
            Ok(round) => {
                self.delays = self.database.settings.reconnects();
                round
            }
            Err(error) => Round {
                claimed: Vec::new(),
                pause: self.delays.next_delay(),
                failed: Some(error),
            },
        }
    }

    async fn take(&self, wanted: &Wanted, room: usize) -> Result<Round, StoreError> {
        let due = self.database.wake_due().await?;
        let claimed = if room > 0 {
            self.database.claim(wanted, room).await?
        } else {
            Vec::new()
        };

        let due = due.and_then(|due| Duration::try_from_secs_f64(due.max(0.001)).ok());
        Ok(Round {
            claimed,
            pause: due.unwrap_or(self.poll).min(self.poll),
            failed: None,
        })
    }
}
