//! Notifying other parts of this process of sessions that have changed.

use tokio::sync::broadcast;

use super::{Owner, SessionId};

/// How many changes a slow receiver may be behind.
const BEHIND: usize = 1_024;

/// A session that was changed by this process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SessionChange {
    pub(crate) owner: Owner,
    pub(crate) id: SessionId,
    pub(crate) is_listed_anew: bool,
}

/// Sends changes to all receivers.
#[derive(Debug, Clone)]
pub(super) struct Changes(broadcast::Sender<SessionChange>);

impl Default for Changes {
    fn default() -> Self {
        Self(broadcast::Sender::new(BEHIND))
    }
}

impl Changes {
    /// Sends that a session has another entry.
    pub(super) fn appended(&self, owner: &Owner, id: &SessionId) {
        self.send(owner, id, false);
    }

    /// Sends that the list of sessions has changed.
    pub(super) fn listed_anew(&self, owner: &Owner, id: &SessionId) {
        self.send(owner, id, true);
    }

    pub(super) fn subscribe(&self) -> broadcast::Receiver<SessionChange> {
        self.0.subscribe()
    }

    fn send(&self, owner: &Owner, id: &SessionId, is_listed_anew: bool) {
        if self.0.receiver_count() == 0 {
            return;
        }

        let change = SessionChange {
            owner: owner.clone(),
            id: id.clone(),
            is_listed_anew,
        };
        // All receivers may have gone in the meantime.
        let _ = self.0.send(change);
    }
}
