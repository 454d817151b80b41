//! Takes queued runs.

use std::time::Duration;

use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::database::Database;
use super::failure::Failure;
use super::lease::Held;
use super::run::RowState;
use super::statements::{CLAIM, NEXT_DUE, WAKE_DUE};
use crate::rows::count;

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
    /// Makes runs ready that are due, and takes up to `most` of all that are ready. Also returns how long
    /// it takes until the next one is due.
    pub(super) async fn claim(
        &self,
        wanted: &Wanted,
        most: usize,
    ) -> Result<(Vec<Claimed>, Option<Duration>), Failure> {
        // A run that failed or whose worker died too often is set aside.
        let delays = self.settings.retry_seconds();
        let channel = self.names.channel();
        self.query(WAKE_DUE, &[&delays, &channel]).await?;
        let next = self.query(NEXT_DUE, &[]).await?;
        let seconds: Option<f64> = next.first().and_then(|row| row.get(0));
        let due = seconds.map(|seconds| Duration::try_from_secs_f64(seconds.max(0.001)));
        let due = due.and_then(Result::ok);
        if most == 0 {
            return Ok((Vec::new(), due));
        }

        let seconds = self.settings.lease.as_secs_f64();
        let values: [&(dyn ToSql + Sync); 5] = [
            &self.settings.worker,
            &seconds,
            &wanted.flows,
            &wanted.shapes,
            &count(most),
        ];
        let rows = self.query(CLAIM, &values).await?;
        Ok((rows.iter().map(Claimed::of).collect(), due))
    }
}
