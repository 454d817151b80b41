//! Sessions that are rebuilt from their entries, and kept in memory while they are used.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::Mutex as AsyncMutex;

use super::{Appended, Change, NewSession, Owner, SessionId, SessionStore, StoreError};

/// How often a change is tried again because other processes append to the session as well.
const TRIES: usize = 20;

/// The state of a session, which follows from its entries.
pub(crate) trait Recorded: Sized + Send + 'static {
    /// What one call adds.
    type Entry: Serialize + DeserializeOwned + Send;

    /// Returns the state of a session without entries.
    fn empty(store: &SessionStore) -> Self;

    /// Applies an entry that was recorded earlier.
    ///
    /// # Errors
    ///
    /// Returns the reason for which the entry cannot follow the ones before it.
    fn replay(&mut self, entry: Self::Entry) -> Result<(), String>;
}

/// What a change returns: the entry to record, and a result for the caller.
pub(crate) struct Changed<E, T> {
    pub(crate) entry: E,
    pub(crate) change: Change,
    pub(crate) result: T,
}

/// The sessions of one kind.
pub(crate) struct RecordedSessions<R> {
    store: SessionStore,
    open: Mutex<HashMap<Key, Slot<R>>>,
    uses: AtomicU64,
}

type Key = (Owner, SessionId);

struct Slot<R> {
    session: Arc<AsyncMutex<Option<Open<R>>>>,
    last_use: u64,
}

/// A session in memory.
struct Open<R> {
    state: R,
    /// The number of entries that the state contains.
    entries: u64,
}

impl<R: Recorded> RecordedSessions<R> {
    pub(crate) fn new(store: SessionStore) -> Self {
        Self {
            store,
            open: Mutex::default(),
            uses: AtomicU64::new(0),
        }
    }

    pub(crate) fn store(&self) -> &SessionStore {
        &self.store
    }

    /// Creates a session, and returns its id.
    pub(crate) async fn create(
        &self,
        owner: &Owner,
        new: NewSession,
    ) -> Result<SessionId, StoreError> {
        self.store.create(owner, new).await
    }

    /// Reads a session.
    pub(crate) async fn read<T>(
        &self,
        owner: &Owner,
        id: &SessionId,
        read: impl FnOnce(&R) -> T,
    ) -> Result<T, StoreError> {
        let slot = self.slot(owner, id);
        let mut session = slot.lock().await;

        let open = session.take();
        let open = self.caught_up(owner, id, open).await?;
        let result = read(&open.state);
        *session = Some(open);
        Ok(result)
    }

    /// Changes a session. The change is visible to others once its entry is stored.
    ///
    /// `change` is called again if another process has appended entries in the meantime. If it
    /// returns an error, it must leave the state as it was.
    pub(crate) async fn change<T, E: From<StoreError>>(
        &self,
        owner: &Owner,
        id: &SessionId,
        mut change: impl FnMut(&mut R) -> Result<Changed<R::Entry, T>, E>,
    ) -> Result<T, E> {
        let slot = self.slot(owner, id);
        let mut session = slot.lock().await;

        for _ in 0..TRIES {
            // If this future is dropped or fails, the session is read again for the next call.
            let open = match session.take() {
                Some(open) => open,
                None => self.caught_up(owner, id, None).await?,
            };

            let Open { mut state, entries } = open;
            let changed = match change(&mut state) {
                Ok(changed) => changed,
                Err(error) => {
                    // Another process may have appended what is missing here.
                    let same = Open { state, entries };
                    let open = session.insert(self.caught_up(owner, id, Some(same)).await?);
                    if open.entries == entries {
                        return Err(error);
                    }
                    continue;
                }
            };

            let body = written(&changed.entry)?;
            let appended = self.store.append(owner, id, entries, body, changed.change);
            if appended.await? == Appended::Done {
                let entries = entries.saturating_add(1);
                *session = Some(Open { state, entries });
                return Ok(changed.result);
            }
        }

        let message = format_args!("the session `{id}` is used by too many others; try again");
        Err(StoreError::new(message).into())
    }

    /// Removes a session. Returns whether there was one.
    pub(crate) async fn remove(&self, owner: &Owner, id: &SessionId) -> Result<bool, StoreError> {
        let slot = self.slot(owner, id);
        let mut session = slot.lock().await;
        *session = None;
        self.store.remove(owner, id).await
    }

    /// Returns the session with all entries that are stored.
    async fn caught_up(
        &self,
        owner: &Owner,
        id: &SessionId,
        open: Option<Open<R>>,
    ) -> Result<Open<R>, StoreError> {
        let mut open = open.unwrap_or_else(|| Open {
            state: R::empty(&self.store),
            entries: 0,
        });

        for body in self.store.entries(owner, id, open.entries).await? {
            let number = open.entries.saturating_add(1);
            let damaged = |reason: String| {
                let message = format_args!("entry {number} of the session `{id}`: {reason}");
                StoreError::new(message)
            };

            let entry = serde_json::from_str(&body).map_err(|error| damaged(error.to_string()))?;
            open.state.replay(entry).map_err(damaged)?;
            open.entries = number;
        }

        Ok(open)
    }

    /// Returns the place of a session in memory. The least recently used one is dropped if there
    /// are too many.
    fn slot(&self, owner: &Owner, id: &SessionId) -> Arc<AsyncMutex<Option<Open<R>>>> {
        let last_use = self.uses.fetch_add(1, Ordering::Relaxed);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);

        let key = (owner.clone(), id.clone());
        let most = self.store.limits().open_sessions;
        if open.len() >= most && !open.contains_key(&key) {
            let oldest = open.iter().min_by_key(|(_, slot)| slot.last_use);
            let oldest = oldest.map(|(key, _)| key.clone());
            oldest.map(|key| open.remove(&key));
        }

        let slot = open.entry(key).or_insert_with(|| Slot {
            session: Arc::default(),
            last_use,
        });
        slot.last_use = last_use;
        Arc::clone(&slot.session)
    }
}

fn written(entry: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(entry)
        .map_err(|error| StoreError::new(format_args!("the entry cannot be written: {error}")))
}
