//! The leases of a process.

use std::sync::{Arc, Mutex, Weak};

use cogwork_flow::CancellationToken;
use tokio::runtime::Handle;

use super::held::{Held, Verdict};
use super::kept::{Entry, Shared};
use super::releasing::Released;
use super::renewing::Renewing;
use super::server::Server;
use crate::mutex::lock;

/// The leases of all runs that this process works on. One task renews all of them with one
/// statement, however many there are.
pub(crate) struct Leases<S> {
    server: Weak<S>,
    shared: Arc<Shared>,
}

/// The right to write a run. It is given back when this is dropped.
pub(crate) struct Lease<S: Server> {
    server: Arc<S>,
    shared: Arc<Shared>,
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

impl<S: Server> Leases<S> {
    pub(crate) fn new(server: Weak<S>) -> Self {
        Self {
            server,
            shared: Arc::default(),
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

        let mut kept = lock(&self.shared.kept);
        if let Some(earlier) = kept.by_key.insert(held.key, entry) {
            // This process lost it without noticing, and has taken the run again.
            earlier.lost.cancel();
        }
        if !kept.is_renewed {
            kept.is_renewed = true;
            let renewing = Renewing::new(Weak::clone(&self.server), Arc::clone(&self.shared));
            let lease = server.durations().lease;
            tokio::spawn(renewing.run(server.clock(), lease));
        }

        drop(kept);
        Lease {
            server: Arc::clone(server),
            shared: Arc::clone(&self.shared),
            held,
            lost,
            verdict: Arc::default(),
        }
    }

    /// Waits while this process gives back the lease of a run. Returns whether it did so.
    pub(crate) async fn ends(&self, key: i64) -> bool {
        let given_back = self.shared.given_back.notified();
        let ends = lock(&self.shared.kept)
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
            let given_back = self.shared.given_back.notified();
            if !lock(&self.shared.kept).has(held) {
                return;
            }

            given_back.await;
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

        if let Some(entry) = lock(&self.shared.kept).by_key.get_mut(&self.held.key)
            && entry.fence == self.held.fence
        {
            entry.ends = true;
        }

        let released = Released {
            server: Arc::clone(&self.server),
            shared: Arc::clone(&self.shared),
            lease: self.held,
            verdict: std::mem::take(&mut *lock(&self.verdict)),
        };
        runtime.spawn(released.give_back());
    }
}
