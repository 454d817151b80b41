//! Leases: who may write a run, and until when.
//!
//! The decisions of a process are here: when it renews a lease, and when it gives one back. The
//! decisions of the database are the [statements](super::statements).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use cogwork_flow::CancellationToken;
use tokio::runtime::Handle;
use tokio::sync::Notify;
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

/// What a lease is given back with.
#[derive(Debug, Clone, Default)]
pub(super) enum Verdict {
    /// The status on record counts.
    #[default]
    OnRecord,
    /// The run was interrupted, and is to continue elsewhere.
    Interrupted,
    /// The run failed without a record of it.
    Failed(String),
}

impl Verdict {
    pub(super) fn is_interrupted(&self) -> bool {
        matches!(self, Self::Interrupted)
    }

    pub(super) fn failure(&self) -> Option<&str> {
        match self {
            Self::OnRecord | Self::Interrupted => None,
            Self::Failed(error) => Some(error),
        }
    }
}

/// The leases of all runs that this process works on. One task renews all of them with one
/// statement, however many there are.
#[derive(Default)]
pub(super) struct Leases {
    kept: Mutex<Kept>,
    /// Notified when a lease was given back.
    given_back: Notify,
}

#[derive(Default)]
struct Kept {
    by_key: HashMap<i64, KeptLease>,
    /// The task that renews them. A runtime that shuts down ends it.
    renewing: Option<JoinHandle<()>>,
}

struct KeptLease {
    fence: i64,
    lost: CancellationToken,
    /// Whether it is being given back.
    ends: bool,
}

/// The right to write a run. It is given back when this is dropped.
pub(super) struct Lease {
    database: Arc<Database>,
    pub(super) held: Held,
    lost: CancellationToken,
    verdict: Arc<Mutex<Verdict>>,
}

/// Watches a lease that somebody else holds, and sets what it is given back with.
pub(super) struct LeaseWatch {
    /// Cancelled once a renewal found that the run was given to somebody else.
    pub(super) lost: CancellationToken,
    verdict: Arc<Mutex<Verdict>>,
}

impl LeaseWatch {
    pub(super) fn set_verdict(&self, verdict: Verdict) {
        *lock(&self.verdict) = verdict;
    }
}

impl Leases {
    /// Waits while this process gives back the lease of a run. Returns whether it did so.
    pub(super) async fn ends(&self, key: i64) -> bool {
        let given_back = self.given_back.notified();
        let ends = lock(&self.kept)
            .by_key
            .get(&key)
            .is_some_and(|lease| lease.ends);

        if ends {
            given_back.await;
        }

        ends
    }

    /// Waits until this process has given back a lease.
    pub(super) async fn ended(&self, held: Held) {
        loop {
            let given_back = self.given_back.notified();
            if !lock(&self.kept).has(held) {
                return;
            }

            given_back.await;
        }
    }

    /// Forgets a lease that was given back or has expired.
    fn end(&self, held: Held) {
        let mut kept = lock(&self.kept);
        if kept.has(held) {
            kept.by_key.remove(&held.key);
        }

        drop(kept);
        self.given_back.notify_waiters();
    }
}

impl Kept {
    fn has(&self, held: Held) -> bool {
        let lease = self.by_key.get(&held.key);
        lease.is_some_and(|lease| lease.fence == held.fence)
    }

    /// Returns the leases that are to be renewed.
    fn to_renew(&self) -> Vec<Held> {
        let kept = self.by_key.iter().filter(|(_, lease)| !lease.ends);
        let held = kept.map(|(key, lease)| Held {
            key: *key,
            fence: lease.fence,
        });
        held.collect()
    }

    /// Cancels what is done with the leases that weren't renewed.
    fn cancel_lost(&self, leases: &[Held], renewed: &[i64]) {
        for held in leases {
            let lease = self.by_key.get(&held.key);
            if let Some(lease) = lease
                && lease.fence == held.fence
                && !lease.ends
                && !renewed.contains(&held.key)
            {
                lease.lost.cancel();
            }
        }
    }
}

impl Lease {
    /// Keeps a lease that was taken, and renews it from now on.
    pub(super) fn keep(database: &Arc<Database>, held: Held) -> Self {
        let lost = CancellationToken::new();
        let lease = KeptLease {
            fence: held.fence,
            lost: lost.clone(),
            ends: false,
        };

        let mut kept = lock(&database.leases.kept);
        if let Some(earlier) = kept.by_key.insert(held.key, lease) {
            // This process lost it without noticing, and has taken the run again.
            earlier.lost.cancel();
        }
        if kept.renewing.as_ref().is_none_or(JoinHandle::is_finished) {
            let renewing = renew(Arc::downgrade(database), database.settings.lease);
            kept.renewing = Some(tokio::spawn(renewing));
        }

        drop(kept);
        Self {
            database: Arc::clone(database),
            held,
            lost,
            verdict: Arc::default(),
        }
    }

    pub(super) fn watch(&self) -> LeaseWatch {
        LeaseWatch {
            lost: self.lost.clone(),
            verdict: Arc::clone(&self.verdict),
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // Without a runtime, the lease expires.
        let Ok(runtime) = Handle::try_current() else {
            return;
        };

        if let Some(lease) = lock(&self.database.leases.kept)
            .by_key
            .get_mut(&self.held.key)
            && lease.fence == self.held.fence
        {
            lease.ends = true;
        }

        let database = Arc::clone(&self.database);
        let verdict = std::mem::take(&mut *lock(&self.verdict));
        runtime.spawn(give_back(database, self.held, verdict));
    }
}

/// Gives back a lease, and repeats that while the server is gone.
async fn give_back(database: Arc<Database>, held: Held, verdict: Verdict) {
    // After that time, the lease has expired.
    let give_up = Instant::now() + database.settings.lease;
    let mut delays = database.settings.reconnects();

    while let Err(failure) = database.release(held, &verdict).await {
        let delay = delays.next_delay();
        if !failure.is_passing() || Instant::now() + delay > give_up {
            break;
        }

        tokio::time::sleep(delay).await;
    }

    database.leases.end(held);
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
            let mut kept = lock(&database.leases.kept);
            if kept.by_key.is_empty() {
                kept.renewing = None;
                return;
            }
            kept.to_renew()
        };

        // While the server is gone, the next attempt must come soon.
        pause = match database.renew(&leases).await {
            Ok(renewed) => {
                lock(&database.leases.kept).cancel_lost(&leases, &renewed);
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

    async fn release(&self, lease: Held, verdict: &Verdict) -> Result<(), Failure> {
        let delays = self.settings.retry_seconds();
        let channel = self.names.channel();
        let values: [&(dyn ToSql + Sync); 6] = [
            &lease.key,
            &lease.fence,
            &verdict.is_interrupted(),
            &verdict.failure(),
            &delays,
            &channel,
        ];

        self.query(RELEASE, &values).await.map(drop)
    }
}
