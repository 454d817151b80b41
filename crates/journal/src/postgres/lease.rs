//! Leases: who may write a run, and until when.
//!
//! The decisions of a process are here: when it renews a lease, and when it gives one back. The
//! decisions of the database are the [statements](super::statements).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use cogwork_flow::CancellationToken;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_postgres::types::ToSql;

use super::database::Database;
use super::failure::Failure;
use super::statements::{RELEASE, RENEW};
use crate::mutex::lock;

/// A run on which this process has a lease, and the number of that lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) key: i64,
    /// The database gives every lease on a run a higher number than the one before. Only the holder
    /// of the highest one can write.
    pub(super) fence: i64,
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

/// The leases of all runs that this process works on. One task renews all of them with one
/// statement, however many there are.
#[derive(Default)]
pub(super) struct Leases(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    /// By the key of the run. The token is cancelled once the lease is lost.
    leases: HashMap<i64, (Held, CancellationToken)>,
    /// The task that renews them. A runtime that shuts down ends it.
    renewing: Option<JoinHandle<()>>,
}

/// The right to write a run. It is given back when this is dropped.
pub(super) struct Lease {
    database: Arc<Database>,
    pub(super) held: Held,
    watch: LeaseWatch,
}

/// Watches a lease that somebody else holds, and sets what it is given back with.
#[derive(Clone, Default)]
pub(super) struct LeaseWatch {
    /// Cancelled once a renewal found that the run was given to somebody else.
    pub(super) lost: CancellationToken,
    /// Cancelled once the lease was given back, or has expired.
    pub(super) given_back: CancellationToken,
    stopped: Arc<Mutex<Stopped>>,
}

impl LeaseWatch {
    pub(super) fn set_stopped(&self, stopped: Stopped) {
        *lock(&self.stopped) = stopped;
    }
}

impl Leases {
    fn remove(&self, held: Held) {
        let leases = &mut lock(&self.0).leases;
        if leases.get(&held.key).is_some_and(|(kept, _)| *kept == held) {
            leases.remove(&held.key);
        }
    }
}

impl Kept {
    /// Cancels what is done with the leases that weren't renewed.
    fn cancel_lost(&self, leases: &[Held], renewed: &[i64]) {
        for held in leases.iter().filter(|held| !renewed.contains(&held.key)) {
            match self.leases.get(&held.key) {
                Some((kept, lost)) if kept == held => lost.cancel(),
                _ => {}
            }
        }
    }
}

impl Lease {
    /// Keeps a lease that was taken, and renews it from now on.
    pub(super) fn keep(database: &Arc<Database>, held: Held) -> Self {
        let watch = LeaseWatch::default();
        let mut kept = lock(&database.leases.0);
        if let Some((_, earlier)) = kept.leases.insert(held.key, (held, watch.lost.clone())) {
            // This process lost it without noticing, and has taken the run again.
            earlier.cancel();
        }
        if kept.renewing.as_ref().is_none_or(JoinHandle::is_finished) {
            let renewing = renew(Arc::downgrade(database), database.settings.lease);
            kept.renewing = Some(tokio::spawn(renewing));
        }

        drop(kept);
        Self {
            database: Arc::clone(database),
            held,
            watch,
        }
    }

    pub(super) fn watch(&self) -> LeaseWatch {
        self.watch.clone()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.database.leases.remove(self.held);

        // Without a runtime, the lease expires.
        if let Ok(runtime) = Handle::try_current() {
            let database = Arc::clone(&self.database);
            runtime.spawn(give_back(database, self.held, self.watch()));
        }
    }
}

/// Gives back a lease, and repeats that while the server is gone.
async fn give_back(database: Arc<Database>, held: Held, watch: LeaseWatch) {
    let stopped = std::mem::take(&mut *lock(&watch.stopped));
    // After that time, the lease has expired.
    let give_up = Instant::now() + database.settings.lease;
    let mut delays = database.settings.reconnects();

    while let Err(failure) = database.release(held, &stopped).await {
        let delay = delays.next_delay();
        if !failure.is_passing() || Instant::now() + delay > give_up {
            break;
        }

        tokio::time::sleep(delay).await;
    }

    watch.given_back.cancel();
}

/// Renews all leases of a process until there are none.
async fn renew(database: Weak<Database>, lease: Duration) {
    let every = lease / 3;
    let mut pause = every;

    loop {
        tokio::time::sleep(pause).await;
        let Some(database) = database.upgrade() else {
            return;
        };

        let leases = {
            let mut kept = lock(&database.leases.0);
            if kept.leases.is_empty() {
                kept.renewing = None;
                return;
            }
            let leases = kept.leases.values();
            leases.map(|(held, _)| *held).collect::<Vec<_>>()
        };

        // While the server is gone, the next attempt must come soon.
        pause = match database.renew(&leases).await {
            Ok(renewed) => {
                lock(&database.leases.0).cancel_lost(&leases, &renewed);
                every
            }
            Err(_) => every / 4,
        };
    }
}

impl Database {
    /// Renews leases. Returns the keys of those that still exist.
    async fn renew(&self, leases: &[Held]) -> Result<Vec<i64>, Failure> {
        let keys: Vec<i64> = leases.iter().map(|held| held.key).collect();
        let fences: Vec<i64> = leases.iter().map(|held| held.fence).collect();
        let seconds = self.settings.lease.as_secs_f64();

        let renewed = self.query(RENEW, &[&keys, &fences, &seconds]).await?;
        Ok(renewed.iter().map(|row| row.get(0)).collect())
    }

    async fn release(&self, lease: Held, stopped: &Stopped) -> Result<(), Failure> {
        let delays = self.settings.retry_seconds();
        let channel = self.names.channel();
        let failure = match stopped {
            Stopped::Failed(error) => Some(error),
            _ => None,
        };
        let values: [&(dyn ToSql + Sync); 6] = [
            &lease.key,
            &lease.fence,
            &matches!(stopped, Stopped::Interrupted(_)),
            &failure,
            &delays,
            &channel,
        ];

        self.query(RELEASE, &values).await.map(drop)
    }
}
