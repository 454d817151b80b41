//! Changes of a session in memory that are stored together.

use tokio::sync::OwnedMutexGuard;

use super::position::{Addition, MAX_ENTRIES, Position};
use super::recorded::{self, Open, Session};
use super::{Change, Owner, Recorded, RecordedSessions, SessionId, SessionStore, StoreError};

/// A session that is changed at once, and stored afterwards.
///
/// Other calls wait for the session until it is stored or dropped. If it is dropped, the changes are
/// lost, and the session is read again for the next call.
pub(crate) struct Changing<R> {
    store: SessionStore,
    owner: Owner,
    id: SessionId,
    session: Session<R>,
    guard: OwnedMutexGuard<Option<Open<R>>>,
    open: Open<R>,
    start: Position,
    end: Position,
    additions: Vec<Addition>,
}

/// What has become of changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stored {
    Done,
    /// Another process has appended entries in the meantime, so nothing is stored. The changes must
    /// be made again.
    Behind,
}

impl<R: Recorded> RecordedSessions<R> {
    /// Returns a session to change at once. Returns `None` if it isn't in memory, or if another call
    /// is changing it.
    pub(crate) fn changing(&self, owner: &Owner, id: &SessionId) -> Option<Changing<R>> {
        let session = self.slot(owner, id);
        let mut guard = session.clone().try_lock_owned().ok()?;
        let open = guard.take_if(|open| open.position.is_some())?;
        let start = open.position?;

        Some(Changing {
            store: self.store().clone(),
            owner: owner.clone(),
            id: id.clone(),
            session,
            guard,
            open,
            start,
            end: start,
            additions: Vec::new(),
        })
    }
}

impl<R: Recorded> Changing<R> {
    /// Returns the state, which includes the changes.
    pub(crate) fn state(&self) -> &R {
        &self.open.state
    }

    pub(crate) fn is_unchanged(&self) -> bool {
        self.additions.is_empty()
    }

    /// Lets other calls use the session, which must be unchanged.
    pub(crate) fn release(self) {
        let mut guard = self.guard;
        *guard = Some(self.open);
    }

    /// Changes the session. Returns `None` if too much is changed already.
    pub(crate) fn change<T>(
        &mut self,
        entry: &R::Entry,
        change: Change,
        apply: impl FnOnce(&mut R) -> T,
    ) -> Option<T> {
        if self.additions.len() >= MAX_ENTRIES {
            return None;
        }
        let body = recorded::written(entry).ok()?;
        let stamp = self.store.stamp();
        let result = apply(&mut self.open.state);

        self.end = self.end.next(stamp);
        self.additions.push(Addition {
            stamp,
            body,
            change,
            shortened: self.open.state.shortened(),
        });
        Some(result)
    }

    /// Starts to store the changes, and lets other calls use the session.
    pub(crate) fn store(self) -> impl Future<Output = Result<Stored, StoreError>> + Send + use<R> {
        let Self {
            store,
            owner,
            id,
            session,
            mut guard,
            mut open,
            ..
        } = self;
        let appended = store.append_now(&owner, &id, self.start, self.additions);
        // What other calls append is refused if this cannot be stored, because there is no entry
        // with the stamp of the last one.
        open.position = Some(self.end);
        *guard = Some(open);
        drop(guard);

        async move {
            let appended = appended.await;
            match appended {
                Ok(true) => return Ok(Stored::Done),
                // The state contains what isn't stored.
                Ok(false) | Err(_) => *session.lock().await = None,
            }
            appended.map(|_| Stored::Behind)
        }
    }
}
