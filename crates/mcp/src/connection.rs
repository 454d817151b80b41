//! The state of the connection to a client.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tokio_util::task::TaskTracker;

use crate::failure::Failure;
use crate::store::{Owner, SessionHeader, SessionId, SessionKind, SessionStore};

/// A client that is connected.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) owner: Owner,
    /// Runs that were asked for, which record their end even if nobody waits for it any more.
    pub(crate) runs: TaskTracker,
    /// The session of each kind that calls without an id use.
    current: Mutex<HashMap<SessionKind, SessionId>>,
}

impl Connection {
    pub(crate) fn new(owner: Owner) -> Self {
        Self {
            owner,
            runs: TaskTracker::new(),
            current: Mutex::default(),
        }
    }

    /// Returns the session that this client used last, unless it was removed.
    pub(crate) async fn current(
        &self,
        store: &SessionStore,
        kind: SessionKind,
    ) -> Result<Option<SessionHeader>, Failure> {
        let id = {
            let current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
            current.get(&kind).cloned()
        };
        let Some(id) = id else {
            return Ok(None);
        };

        let stored = store.find(&self.owner, &id).await?;
        Ok(stored.map(|stored| stored.header))
    }

    /// Returns the session that this client used last, or the id for a new one.
    pub(crate) fn current_or_new(&self, kind: SessionKind) -> SessionId {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        // Under one lock, so that two first calls at the same time get the same session.
        let id = current.entry(kind).or_insert_with(SessionId::random);
        id.clone()
    }

    /// Sets the session for calls without an id.
    pub(crate) fn set_current(&self, kind: SessionKind, id: SessionId) {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        current.insert(kind, id);
    }
}
