//! The leases of a process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

use cogwork_flow::CancellationToken;
use tokio::runtime::Handle;
use tokio::sync::Notify;

use super::releasing::Released;
use super::renewing::Renewing;
use super::{Held, Server};
use crate::mutex::lock;

/// The leases of all runs that this process works on. One task renews all of them with one
/// statement, however many there are.
pub(crate) struct Leases<S> {
    server: Weak<S>,
    kept: Arc<Mutex<Kept>>,
    /// Notified when a lease was given back.
    given_back: Notify,
}

#[derive(Default)]
pub(super) struct Kept {
    pub(super) by_key: HashMap<i64, Entry>,
    /// Whether the task that renews them exists.
    pub(super) is_renewed: bool,
}

pub(super) struct Entry {
    pub(super) fence: i64,
    pub(super) lost: CancellationToken,
    /// Whether it is being given back.
    pub(super) ends: bool,
}

/// The right to write a run. It is given back when this is dropped.
pub(crate) struct Lease<S: Server> {
    server: Arc<S>,
    pub(crate) held: Held,
    lost: CancellationToken,
    verdict: Arc<Mutex<Verdict>>,
}

/// Watches a lease that somebody else holds, and sets what it is given back with.
pub(crate) struct LeaseWatch {
    /// Cancelled once a renewal found that the run was given to somebody else.
    pub(crate) lost: CancellationToken,
    verdict: Arc<Mutex<Verdict>>,
}

impl LeaseWatch {
    pub(crate) fn set_verdict(&self, verdict: Verdict) {
        *lock(&self.verdict) = verdict;
    }
}

/// What a lease is given back with.
#[derive(Debug, Clone, Default)]
pub(crate) enum Verdict {
    /// The status on record counts.
    #[default]
    OnRecord,
    /// The run was interrupted, and is to continue elsewhere.
    Interrupted,
    /// The run failed without a record of it.
    Failed(String),
}

impl Verdict {
    pub(crate) fn is_interrupted(&self) -> bool {
        matches!(self, Self::Interrupted)
    }

    pub(crate) fn failure(&self) -> Option<&str> {
        match self {
            Self::OnRecord | Self::Interrupted => None,
            Self::Failed(error) => Some(error),
        }
    }
}

impl<S: Server> Leases<S> {
    pub(crate) fn new(server: Weak<S>) -> Self {
        Self {
            server,
            kept: Arc::default(),
            given_back: Notify::new(),
        }
    }

    /// Keeps a lease that was taken, and renews it from now on.
    pub(crate) fn keep(&self, server: &Arc<S>, held: Held) -> Lease<S> {
        let lost = CancellationToken::new();
        let entry = Entry {
            fence: held.fence,
            lost: lost.clone(),
            ends: false,
        };

        let mut kept = lock(&self.kept);
        if let Some(earlier) = kept.by_key.insert(held.key, entry) {
            // This process lost it without noticing, and has taken the run again.
            earlier.lost.cancel();
        }
        if !kept.is_renewed {
            kept.is_renewed = true;
            let renewing = Renewing::new(Weak::clone(&self.server), Arc::clone(&self.kept));
            let lease = server.durations().lease;
            tokio::spawn(renewing.run(server.clock(), lease));
        }

        drop(kept);
        Lease {
            server: Arc::clone(server),
            held,
            lost,
            verdict: Arc::default(),
        }
    }

    /// Waits while this process gives back the lease of a run. Returns whether it did so.
    pub(crate) async fn ends(&self, key: i64) -> bool {
        let given_back = self.given_back.notified();
        let ends = lock(&self.kept)
            .by_key
            .get(&key)
            .is_some_and(|entry| entry.ends);

        if ends {
            given_back.await;
        }

        ends
    }

    /// Waits until this process has given back a lease.
    pub(crate) async fn ended(&self, held: Held) {
        loop {
            let given_back = self.given_back.notified();
            if !lock(&self.kept).has(held) {
                return;
            }

            given_back.await;
        }
    }

    /// Forgets a lease that was given back or has expired.
    pub(super) fn end(&self, held: Held) {
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
        let entry = self.by_key.get(&held.key);
        entry.is_some_and(|entry| entry.fence == held.fence)
    }

    /// Returns the leases that are to be renewed.
    pub(super) fn to_renew(&self) -> Vec<Held> {
        let kept = self.by_key.iter().filter(|(_, entry)| !entry.ends);
        let held = kept.map(|(key, entry)| Held {
            key: *key,
            fence: entry.fence,
        });
        held.collect()
    }

    /// Cancels what is done with the leases that weren't renewed.
    pub(super) fn cancel_lost(&self, leases: &[Held], renewed: &[i64]) {
        for held in leases {
            let entry = self.by_key.get(&held.key);
            if let Some(entry) = entry
                && entry.fence == held.fence
                && !entry.ends
                && !renewed.contains(&held.key)
            {
                entry.lost.cancel();
            }
        }
    }
}

impl<S: Server> Lease<S> {
    pub(crate) fn watch(&self) -> LeaseWatch {
        LeaseWatch {
            lost: self.lost.clone(),
            verdict: Arc::clone(&self.verdict),
        }
    }
}

impl<S: Server> Drop for Lease<S> {
    fn drop(&mut self) {
        // Without a runtime, the lease expires.
        let Ok(runtime) = Handle::try_current() else {
            return;
        };

        let leases = self.server.leases();
        if let Some(entry) = lock(&leases.kept).by_key.get_mut(&self.held.key)
            && entry.fence == self.held.fence
        {
            entry.ends = true;
        }

        let released = Released {
            server: Arc::clone(&self.server),
            lease: self.held,
            verdict: std::mem::take(&mut *lock(&self.verdict)),
        };
        runtime.spawn(released.give_back());
    }
}
