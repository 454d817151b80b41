//! The leases that a process has.

use std::collections::HashMap;
use std::sync::Mutex;

use cogwork_flow::CancellationToken;
use tokio::sync::Notify;

use super::held::Held;
use crate::mutex::lock;

/// The leases of a process, shared with the tasks that renew them and give them back.
#[derive(Default)]
pub(super) struct Shared {
    pub(super) kept: Mutex<Kept>,
    /// Notified when a lease was given back.
    pub(super) given_back: Notify,
}

impl Shared {
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

impl Kept {
    pub(super) fn has(&self, held: Held) -> bool {
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
