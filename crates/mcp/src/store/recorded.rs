//! Sessions that are rebuilt from their entries, and kept in memory while they are used.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::Mutex as AsyncMutex;

use super::position::{Addition, Entry, Position, Recent, Start};
use super::{
    Change, NewSession, Owner, SessionId, SessionKind, SessionStore, Shortened, StoreError,
};

/// How often a change is tried again because other processes append to the session as well.
const TRIES: usize = 20;

/// The state of a session, which follows from its entries.
pub(crate) trait Recorded: Sized + Send + 'static {
    /// The kind of session whose entries these are. Others are refused.
    const KIND: Option<SessionKind> = None;

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

    /// Returns what to keep instead of the oldest entries, if some are to be dropped now. Called
    /// after each change. By default, all entries are kept.
    fn shortened(&self) -> Option<Shortened> {
        None
    }

    /// Restores the state from what is kept instead of the oldest entries.
    ///
    /// # Errors
    ///
    /// Returns the reason for which it cannot be read.
    fn restore(&mut self, shortened: Shortened) -> Result<(), String> {
        let dropped = shortened.dropped;
        Err(format!("its first {dropped} entries are missing"))
    }
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

/// A session in memory, or `None` if it must be read first.
pub(super) type Session<R> = Arc<AsyncMutex<Option<Open<R>>>>;

struct Slot<R> {
    session: Session<R>,
    last_use: u64,
}

/// A session in memory.
pub(super) struct Open<R> {
    pub(super) state: R,
    /// The end of the entries that the state contains, or `None` if there is no such session.
    pub(super) position: Option<Position>,
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
        if open.position.is_none() {
            return Err(missing(id));
        }

        let result = read(&open.state);
        *session = Some(open);
        Ok(result)
    }

    /// Reads a session without keeping it in memory.
    pub(crate) async fn read_once<T>(
        &self,
        owner: &Owner,
        id: &SessionId,
        read: impl FnOnce(&R) -> T,
    ) -> Result<T, StoreError> {
        let open = self.caught_up(owner, id, None).await?;
        if open.position.is_none() {
            return Err(missing(id));
        }
        Ok(read(&open.state))
    }

    /// Changes a session. The change is visible to others once its entry is stored.
    ///
    /// `change` is called again if another process has appended entries in the meantime. If it
    /// returns an error, it must leave the state as it was.
    pub(crate) async fn change<T, E: From<StoreError>>(
        &self,
        owner: &Owner,
        id: &SessionId,
        change: impl FnMut(&mut R) -> Result<Changed<R::Entry, T>, E>,
    ) -> Result<T, E> {
        self.change_or_create(owner, id, None, change).await
    }

    /// Like [`change`](Self::change), but creates the session if there is none.
    pub(crate) async fn change_or_create<T, E: From<StoreError>>(
        &self,
        owner: &Owner,
        id: &SessionId,
        new: Option<&NewSession>,
        change: impl FnMut(&mut R) -> Result<Changed<R::Entry, T>, E>,
    ) -> Result<T, E> {
        let new = || new.cloned();
        self.change_or_create_with(owner, id, new, change).await
    }

    /// Like [`change`](Self::change), but creates the session that `new` returns if there is none.
    pub(crate) async fn change_or_create_with<T, E: From<StoreError>>(
        &self,
        owner: &Owner,
        id: &SessionId,
        new: impl Fn() -> Option<NewSession>,
        mut change: impl FnMut(&mut R) -> Result<Changed<R::Entry, T>, E>,
    ) -> Result<T, E> {
        let slot = self.slot(owner, id);

        for attempt in 0..TRIES {
            let mut session = slot.lock().await;
            // If this future is dropped or fails, the session is read again for the next call.
            let known = session.take().filter(|_| attempt == 0);
            let mut open = match known {
                Some(open) => open,
                None => self.caught_up(owner, id, None).await?,
            };
            let position = open.position;
            let at = match position {
                Some(position) => Ok(position),
                None => Err(new().ok_or_else(|| missing(id))?),
            };

            let changed = match change(&mut open.state) {
                Ok(changed) => changed,
                Err(error) => {
                    // Another process may have appended what is missing here.
                    let open = session.insert(self.caught_up(owner, id, Some(open)).await?);
                    if open.position == position {
                        return Err(error);
                    }
                    continue;
                }
            };

            let stamp = self.store.stamp();
            let addition = Addition {
                stamp,
                body: written(&changed.entry)?,
                change: changed.change,
                shortened: open.state.shortened(),
            };
            let appended = self.store.append_at(owner, id, at, addition);
            open.position = position.map(|position| position.next(stamp));

            // Other calls go on with the new state before it is stored. If it cannot be stored, what
            // they append is refused, because there is no entry with this stamp.
            let held = if attempt == 0 && position.is_some() {
                *session = Some(open);
                drop(session);
                None
            } else {
                Some((session, open))
            };

            let Some(position) = appended.await? else {
                continue;
            };
            if let Some((mut session, mut open)) = held {
                open.position = Some(position);
                *session = Some(open);
            }
            return Ok(changed.result);
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
        let mut open = open.unwrap_or_else(|| self.empty());

        loop {
            let recent = self.store.recent(owner, id, open.position).await?;
            let Some(recent) = recent else {
                return Ok(self.empty());
            };

            let is_complete = recent.is_complete;
            open = self.followed_by(id, open, recent)?;
            if is_complete {
                return Ok(open);
            }
        }
    }

    fn empty(&self) -> Open<R> {
        Open {
            state: R::empty(&self.store),
            position: None,
        }
    }

    /// Returns the session with further entries.
    fn followed_by(
        &self,
        id: &SessionId,
        mut open: Open<R>,
        recent: Recent,
    ) -> Result<Open<R>, StoreError> {
        if R::KIND.is_some_and(|kind| kind != recent.kind) {
            let kind = recent.kind.as_str();
            let message = format_args!("the session `{id}` is of another kind: `{kind}`");
            return Err(StoreError::new(message));
        }
        if let Start::Anew { position, base } = recent.start {
            open = self.restored(id, position, base)?;
        }

        for Entry { stamp, body } in recent.entries {
            let position = open.position.map(|position| position.next(stamp));
            let number = position.map_or(0, |position| position.entries);
            let damaged = |reason: String| {
                let message = format_args!("entry {number} of the session `{id}`: {reason}");
                StoreError::new(message)
            };

            let entry = serde_json::from_str(&body).map_err(|error| damaged(error.to_string()))?;
            open.state.replay(entry).map_err(damaged)?;
            open.position = position;
        }
        Ok(open)
    }

    fn restored(
        &self,
        id: &SessionId,
        position: Position,
        base: Option<String>,
    ) -> Result<Open<R>, StoreError> {
        let mut open = self.empty();
        open.position = Some(position);

        if let Some(base) = base {
            let dropped = position.entries;
            let restored = open.state.restore(Shortened { dropped, base });
            let damaged = |reason| StoreError::new(format_args!("the session `{id}`: {reason}"));
            restored.map_err(damaged)?;
        }
        Ok(open)
    }

    /// Returns the place of a session in memory. The least recently used one is dropped if there
    /// are too many.
    pub(super) fn slot(&self, owner: &Owner, id: &SessionId) -> Session<R> {
        let last_use = self.uses.fetch_add(1, Ordering::Relaxed);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);

        let key = (owner.clone(), id.clone());
        let most = self.store.limits().open_sessions;
        if open.len() >= most && !open.contains_key(&key) {
            // Calls that are in progress have clones of theirs.
            let unused = |slot: &Slot<R>| Arc::strong_count(&slot.session) == 1;
            let oldest = open.iter().filter(|(_, slot)| unused(slot));
            let oldest = oldest.min_by_key(|(_, slot)| slot.last_use);
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

fn missing(id: &SessionId) -> StoreError {
    StoreError::new(format_args!("there is no session `{id}`"))
}

pub(super) fn written(entry: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(entry)
        .map_err(|error| StoreError::new(format_args!("the entry cannot be written: {error}")))
}
