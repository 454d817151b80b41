//! Leases: who works on a run, and until when. Only the clock of the database counts.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use cogwork_flow::CancellationToken;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::database::Database;
use super::failure::Failure;
use crate::mutex::lock;

/// The leases of all runs that this process works on. One task renews all of them with one
/// statement, however many there are.
pub(super) struct Leases {
    database: Weak<Database>,
    held: Arc<Mutex<Held>>,
    /// Notified when a lease was given back.
    given_back: Notify,
}

#[derive(Default)]
struct Held {
    by_key: HashMap<i64, Entry>,
    /// Whether the task that renews them exists.
    is_renewed: bool,
}

struct Entry {
    fence: i64,
    lost: CancellationToken,
    /// Whether it is being given back.
    ends: bool,
}

/// The right to write a run. It is given back when this is dropped.
pub(super) struct Lease {
    database: Arc<Database>,
    pub(super) key: i64,
    pub(super) fence: i64,
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

impl Leases {
    pub(super) fn new(database: Weak<Database>) -> Self {
        Self {
            database,
            held: Arc::default(),
            given_back: Notify::new(),
        }
    }

    /// Keeps a lease that was taken, and renews it from now on.
    pub(super) fn keep(&self, database: &Arc<Database>, key: i64, fence: i64) -> Lease {
        let lost = CancellationToken::new();
        let entry = Entry {
            fence,
            lost: lost.clone(),
            ends: false,
        };

        let mut held = lock(&self.held);
        held.by_key.insert(key, entry);
        if !held.is_renewed {
            held.is_renewed = true;
            let renewing = Renewing {
                database: Weak::clone(&self.database),
                held: Arc::clone(&self.held),
                every: database.settings.lease / 3,
                is_done: false,
            };
            tokio::spawn(renewing.run());
        }

        drop(held);
        Lease {
            database: Arc::clone(database),
            key,
            fence,
            lost,
            verdict: Arc::default(),
        }
    }

    /// Waits while this process gives back the lease of a run. Returns whether it did so.
    pub(super) async fn ends(&self, key: i64) -> bool {
        let given_back = self.given_back.notified();
        let ends = lock(&self.held)
            .by_key
            .get(&key)
            .is_some_and(|entry| entry.ends);

        if ends {
            given_back.await;
        }

        ends
    }

    /// Waits until this process has given back a lease.
    pub(super) async fn ended(&self, key: i64, fence: i64) {
        let is_held = || {
            let held = lock(&self.held);
            held.by_key
                .get(&key)
                .is_some_and(|entry| entry.fence == fence)
        };

        loop {
            let given_back = self.given_back.notified();
            if !is_held() {
                return;
            }

            given_back.await;
        }
    }

    fn end(&self, lease: &Given) {
        let mut held = lock(&self.held);
        if held
            .by_key
            .get(&lease.key)
            .is_some_and(|entry| entry.fence == lease.fence)
        {
            held.by_key.remove(&lease.key);
        }

        drop(held);
        self.given_back.notify_waiters();
    }
}

impl Lease {
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

        let leases = &self.database.leases;
        if let Some(entry) = lock(&leases.held).by_key.get_mut(&self.key)
            && entry.fence == self.fence
        {
            entry.ends = true;
        }

        let given = Given {
            database: Arc::clone(&self.database),
            key: self.key,
            fence: self.fence,
            verdict: std::mem::take(&mut *lock(&self.verdict)),
        };
        runtime.spawn(given.give_back());
    }
}

/// Renews all leases of a process.
struct Renewing {
    database: Weak<Database>,
    held: Arc<Mutex<Held>>,
    every: Duration,
    /// Whether there is nothing left to renew.
    is_done: bool,
}

impl Renewing {
    async fn run(mut self) {
        let mut pause = self.every;

        loop {
            tokio::time::sleep(pause).await;
            let Some(database) = self.database.upgrade() else {
                return;
            };

            let leases = {
                let mut held = lock(&self.held);
                if held.by_key.is_empty() {
                    held.is_renewed = false;
                    self.is_done = true;
                    return;
                }
                current(&held)
            };

            // While the server is gone, the next attempt must come soon.
            pause = match renew(&database, &leases).await {
                Ok(renewed) => {
                    self.cancel_lost(&leases, &renewed);
                    self.every
                }
                Err(_) => self.every / 4,
            };
        }
    }

    fn cancel_lost(&self, leases: &[(i64, i64)], renewed: &[i64]) {
        let held = lock(&self.held);

        for (key, fence) in leases {
            let entry = held.by_key.get(key);
            if let Some(entry) = entry
                && entry.fence == *fence
                && !entry.ends
                && !renewed.contains(key)
            {
                entry.lost.cancel();
            }
        }
    }
}

/// A runtime that shuts down drops the task. The next lease starts a new one.
impl Drop for Renewing {
    fn drop(&mut self) {
        if !self.is_done {
            lock(&self.held).is_renewed = false;
        }
    }
}

/// Returns the keys and fences of the leases that are to be renewed.
fn current(held: &Held) -> Vec<(i64, i64)> {
    let kept = held.by_key.iter().filter(|(_, entry)| !entry.ends);
    kept.map(|(key, entry)| (*key, entry.fence)).collect()
}

/// Renews leases. Returns the keys of those that still exist.
async fn renew(database: &Database, leases: &[(i64, i64)]) -> Result<Vec<i64>, Failure> {
    let keys: Vec<i64> = leases.iter().map(|(key, _)| *key).collect();
    let fences: Vec<i64> = leases.iter().map(|(_, fence)| *fence).collect();
    let seconds = database.settings.lease_seconds();

    let renewed = database
        .query(
            "UPDATE @.runs SET wake = clock_timestamp() + make_interval(secs => $3)
         FROM unnest($1::bigint[], $2::bigint[]) AS held (held_key, held_fence)
         WHERE key = held_key AND fence = held_fence AND worker IS NOT NULL
         RETURNING key",
            &[&keys, &fences, &seconds],
        )
        .await;

    Ok(renewed?.iter().map(|row| row.get(0)).collect())
}

/// A lease that is being given back.
struct Given {
    database: Arc<Database>,
    key: i64,
    fence: i64,
    verdict: Verdict,
}

impl Given {
    async fn give_back(self) {
        // After that time, the lease has expired.
        let give_up = Instant::now() + self.database.settings.lease;
        let mut delays = self.database.settings.reconnects().delays();

        while let Err(failure) = self.release().await {
            let delay = delays.next().unwrap_or_default();
            if !failure.is_passing() || Instant::now() + delay > give_up {
                break;
            }

            tokio::time::sleep(delay).await;
        }

        self.database.leases.end(&self);
    }

    /// Gives back the lease, and decides when the run is to continue: at once if it was interrupted
    /// or answered, when its first wait times out if it waits, and after a delay if it failed.
    async fn release(&self) -> Result<(), Failure> {
        let delays = self.database.settings.retry_seconds();
        let channel = self.database.names.channel();
        let (is_interrupted, failure) = match &self.verdict {
            Verdict::OnRecord => (false, None),
            Verdict::Interrupted => (true, None),
            Verdict::Failed(error) => (false, Some(error)),
        };

        let released = self.database.query(
            "WITH at AS (
                 SELECT *, NOT $3 AND ($4::text IS NOT NULL OR status = 'failed') AS failed
                 FROM @.runs WHERE key = $1 AND fence = $2 AND worker IS NOT NULL FOR UPDATE
             ), next AS (
                 SELECT key, failed,
                     queue IS NOT NULL AND (set_aside OR failed AND failures >= cardinality($5::float8[]))
                         AS is_set_aside,
                     CASE
                         WHEN queue IS NULL OR status = 'ended' THEN NULL
                         WHEN failed THEN clock_timestamp() + make_interval(secs => $5[failures + 1])
                         WHEN $3 OR answers > 0 OR status = 'open' THEN clock_timestamp()
                         WHEN status = 'paused' THEN
                             (SELECT to_timestamp(min(until) / 1000.0) FROM @.waits WHERE run = key)
                     END AS continues
                 FROM at
             ), released AS (
                 UPDATE @.runs AS runs SET worker = NULL,
                     failures = runs.failures + failed::int,
                     failure = CASE WHEN failed THEN coalesce($4, runs.error) ELSE runs.failure END,
                     set_aside = is_set_aside,
                     ready = NOT is_set_aside AND coalesce(continues <= clock_timestamp(), false),
                     wake = CASE WHEN NOT is_set_aside THEN continues END
                 FROM next WHERE runs.key = next.key
                 RETURNING runs.ready
             )
             SELECT pg_notify($6, '') FROM released WHERE ready",
            &[&self.key, &self.fence, &is_interrupted, &failure, &delays, &channel],
        )
        .await;

        released.map(drop)
    }
}
