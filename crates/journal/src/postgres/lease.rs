//! Leases: who may write a run, and until when.

use std::sync::{Arc, Mutex};

use cogwork_flow::CancellationToken;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use super::database::{Database, Sql, reconnects};
use super::statements::RENEW;
use crate::backend::guard;
use crate::{StoreError, StoreErrorKind};

/// The right to write a run. A task renews it, and gives it back once this is dropped.
pub(super) struct Lease {
    pub(super) key: i64,
    /// The database gives every lease on a run a higher number than the one before. Only the holder
    /// of the highest one can write.
    pub(super) fence: i64,
    pub(super) watch: LeaseWatch,
    /// When the lease ends if it isn't renewed, by the clock of this process: not later than by that of
    /// the database. Or why it cannot be renewed for now.
    pub(super) until: watch::Receiver<Result<Instant, StoreError>>,
}

/// Watches a lease that somebody else holds, and sets what it is given back with.
#[derive(Clone, Default)]
pub(super) struct LeaseWatch {
    /// Cancelled to interrupt the run: once a renewal found that it was given to somebody else, or when
    /// the worker shuts down.
    pub(super) interrupt: CancellationToken,
    /// Cancelled once the lease was given back, or has expired.
    pub(super) given_back: CancellationToken,
    dropped: CancellationToken,
    stopped: Arc<Mutex<Stopped>>,
}

/// How the work on a run stopped, with which its lease is given back.
#[derive(Debug, Clone, Default)]
pub(super) enum Stopped {
    /// The run ended, or has the status that is on record.
    #[default]
    Ended,
    /// The run waits.
    Paused,
    /// The run is to continue, here or elsewhere. The reason is for people.
    Interrupted(String),
    /// The run failed, perhaps without a record of it.
    Failed(String),
}

impl LeaseWatch {
    pub(super) fn set_stopped(&self, stopped: Stopped) {
        *guard(&self.stopped) = stopped;
    }
}

impl Lease {
    /// Keeps a lease that was asked for at this time.
    pub(super) fn keep(
        database: &Arc<Database>,
        key: i64,
        fence: i64,
        interrupt: CancellationToken,
        asked: Instant,
    ) -> Self {
        let watch = LeaseWatch {
            interrupt,
            ..LeaseWatch::default()
        };
        let (renewed, until) = watch::channel(Ok(asked + database.settings.lease));
        let keeping = keep(Arc::clone(database), key, fence, watch.clone(), renewed);
        // A task, because the run may be busy for longer than a lease lasts.
        tokio::spawn(keeping);
        Self {
            key,
            fence,
            watch,
            until,
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // Dropping cannot wait for the database, so the task gives the lease back.
        self.watch.dropped.cancel();
    }
}

async fn keep(
    database: Arc<Database>,
    key: i64,
    fence: i64,
    watch: LeaseWatch,
    until: watch::Sender<Result<Instant, StoreError>>,
) {
    let lease = database.settings.lease;
    let mut renewed_at = Instant::now();
    // Two renewals may fail before the lease ends.
    let mut pause = lease / 3;
    loop {
        tokio::select! {
            () = watch.dropped.cancelled() => break,
            () = sleep(pause) => {}
        }

        let seconds = database.lease_seconds();
        let asked = Instant::now();
        let renewed = database
            .query("cannot be renewed", RENEW, &[&key, &fence, &seconds])
            .await;
        pause = match renewed {
            Ok(rows) if rows.is_empty() => {
                // Somebody else has the run: what this process writes now is refused, so it need
                // not go on.
                watch.interrupt.cancel();
                break;
            }
            Ok(_) => {
                renewed_at = asked;
                until.send_modify(|until| *until = Ok(asked + lease));
                lease / 3
            }
            Err(error) => {
                // A call waits for the server as long as a write does: for a lease.
                let is_gone = error.kind() == StoreErrorKind::Unavailable;
                if !is_gone || renewed_at.elapsed() > 2 * lease {
                    until.send_modify(|until| *until = Err(error));
                }
                // The next attempt must come soon.
                lease / 12
            }
        };
    }

    drop(until);
    // Given back only when nothing writes any more.
    watch.dropped.cancelled().await;
    give_back(&database, key, fence, &watch).await;
    watch.given_back.cancel();
}

/// Gives back a lease, and repeats that while the server is gone. After some time, it has expired.
async fn give_back(database: &Database, key: i64, fence: i64, watch: &LeaseWatch) {
    let stopped = std::mem::take(&mut *guard(&watch.stopped));
    let give_up = Instant::now() + database.settings.lease;
    let mut delays = reconnects();

    while let Err(error) = release(database, key, fence, &stopped).await {
        let delay = delays.next().unwrap_or_default();
        if error.kind() != StoreErrorKind::Unavailable || Instant::now() + delay > give_up {
            break;
        }
        sleep(delay).await;
    }
}

async fn release(
    database: &Database,
    key: i64,
    fence: i64,
    stopped: &Stopped,
) -> Result<(), StoreError> {
    let is_interrupted = matches!(stopped, Stopped::Interrupted(_));
    let failure = match stopped {
        Stopped::Failed(error) => Some(error),
        _ => None,
    };
    let delays = database.retry_seconds();

    let sql = "SELECT @.release($1, $2, $3, $4, $5)";
    let values: [Sql<'_>; 5] = [&key, &fence, &is_interrupted, &failure, &delays];
    let released = database.query("cannot be given back", sql, &values);
    released.await.map(drop)
}
