//! Sessions that are rebuilt from their entries, and kept in memory while they are used.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, params};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::Mutex as AsyncMutex;

use super::select::signed;
use super::sessions::{Addition, Position, append, begin, missing, position};
use super::{Change, NewSession, Owner, SessionId, SessionKind, SessionStore, StoreError};

/// How often a change is tried again because other processes append to the session as well.
const TRIES: usize = 20;

/// The maximum number of sessions that are ready for use.
const OPEN: usize = 64;

/// The state of a session, which follows from its entries.
pub(crate) trait Recorded: Sized + Send + 'static {
    /// The kind of session whose entries these are. Others are refused.
    const KIND: SessionKind;

    /// What one call adds.
    type Entry: Serialize + DeserializeOwned + Send;

    /// Returns the state of a session without entries, or without those that were dropped.
    fn empty(store: &SessionStore, dropped: u64) -> Self;

    /// Applies an entry that was recorded earlier.
    ///
    /// # Errors
    ///
    /// Returns the reason for which the entry cannot follow the ones before it.
    fn replay(&mut self, entry: Self::Entry) -> Result<(), String>;

    /// Returns how many of the newest entries are kept. By default, all of them.
    fn keep(&self) -> Option<usize> {
        None
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
    open: Mutex<HashMap<(Owner, SessionId), Slot<R>>>,
}

/// The place of a session in memory, or `None` if it must be read first.
type Slot<R> = Arc<AsyncMutex<Option<Open<R>>>>;

/// A session in memory.
struct Open<R> {
    state: R,
    /// The end of the entries that the state contains, or `None` if there is no such session.
    position: Option<Position>,
}

impl<R: Recorded> RecordedSessions<R> {
    pub(crate) fn new(store: SessionStore) -> Self {
        Self {
            store,
            open: Mutex::default(),
        }
    }

    pub(crate) fn store(&self) -> &SessionStore {
        &self.store
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

        let open = self.caught_up(owner, id, session.take()).await?;
        if open.position.is_none() {
            return Err(missing(id));
        }
        let open = session.insert(open);
        Ok(read(&open.state))
    }

    /// Changes a session, or creates it if there is none and `new` says how. The change is visible to
    /// others once its entry is stored.
    ///
    /// `change` is called again if another process has appended entries in the meantime. If it
    /// returns an error, it must leave the state as it was.
    pub(crate) async fn change<T, E: From<StoreError>>(
        &self,
        owner: &Owner,
        id: &SessionId,
        new: Option<&NewSession>,
        mut change: impl FnMut(&mut R) -> Result<Changed<R::Entry, T>, E>,
    ) -> Result<T, E> {
        let slot = self.slot(owner, id);
        // If this future is dropped or fails, the session is read again for the next call.
        let mut session = slot.lock().await;

        for _ in 0..TRIES {
            let mut open = self.caught_up(owner, id, session.take()).await?;
            if open.position.is_none() && new.is_none() {
                return Err(missing(id).into());
            }

            let changed = match change(&mut open.state) {
                Ok(changed) => changed,
                Err(error) => {
                    *session = Some(open);
                    return Err(error);
                }
            };
            let addition = Addition {
                body: written(&changed.entry)?,
                change: changed.change,
                keep: open.state.keep(),
            };
            let position = self.append(owner, id, open.position, new, addition).await?;
            if position.is_some() {
                open.position = position;
                *session = Some(open);
                return Ok(changed.result);
            }
        }

        let message = format_args!("the session `{id}` is used by too many others; try again");
        Err(StoreError::new(message).into())
    }

    /// Appends an entry to the session that this position is in, or to a new one, and returns the new
    /// position. Returns `None` if the session isn't at the position, or already exists.
    async fn append(
        &self,
        owner: &Owner,
        id: &SessionId,
        position: Option<Position>,
        new: Option<&NewSession>,
        addition: Addition,
    ) -> Result<Option<Position>, StoreError> {
        let (owner, id, new) = (owner.clone(), id.clone(), new.cloned());
        let most = self.store.limits().sessions;

        let write = move |connection: &rusqlite::Transaction<'_>| {
            let at = match (position, &new) {
                (Some(position), _) => Some(position),
                (None, Some(new)) => begin(connection, &owner, &id, new, most)?,
                (None, None) => None,
            };
            let Some(at) = at else {
                return Ok(None);
            };
            let is_appended = append(connection, at, &addition)?;
            Ok(is_appended.then_some(Position {
                entries: at.entries.saturating_add(1),
                ..at
            }))
        };
        self.store.database().write(write).await
    }

    /// Returns the session with all entries that are stored.
    async fn caught_up(
        &self,
        owner: &Owner,
        id: &SessionId,
        known: Option<Open<R>>,
    ) -> Result<Open<R>, StoreError> {
        let (owner, id, store) = (owner.clone(), id.clone(), self.store.clone());
        self.store
            .database()
            .read(move |connection| {
                let Some(end) = position(connection, &owner, &id)? else {
                    return Ok(Open {
                        state: R::empty(&store, 0),
                        position: None,
                    });
                };

                let dropped = dropped(connection, end)?;
                let known = known.filter(|open| {
                    open.position.is_some_and(|known| {
                        known.session == end.session && known.entries >= dropped
                    })
                });
                let mut open = match known {
                    Some(open) => open,
                    None => {
                        check_kind(connection, end, &id, R::KIND)?;
                        Open {
                            state: R::empty(&store, dropped),
                            position: Some(Position {
                                entries: dropped,
                                ..end
                            }),
                        }
                    }
                };
                let after = open.position.map_or(dropped, |position| position.entries);
                replay(connection, end, after, &id, &mut open.state)?;
                open.position = Some(end);
                Ok(open)
            })
            .await
    }

    /// Returns the place of a session in memory.
    fn slot(&self, owner: &Owner, id: &SessionId) -> Slot<R> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.len() >= OPEN {
            // Calls that are in progress have clones of theirs. The others are rebuilt when needed.
            open.retain(|_, slot| Arc::strong_count(slot) > 1);
        }

        let key = (owner.clone(), id.clone());
        Arc::clone(open.entry(key).or_default())
    }
}

/// Returns the number of entries that were dropped.
fn dropped(connection: &Connection, end: Position) -> Result<u64, StoreError> {
    let first: Option<i64> = connection
        .prepare_cached("SELECT min(number) FROM entries WHERE session = ?1")?
        .query_row([end.session], |row| row.get(0))?;
    Ok(first.map_or(end.entries, |first| first.unsigned_abs().saturating_sub(1)))
}

fn check_kind(
    connection: &Connection,
    end: Position,
    id: &SessionId,
    expected: SessionKind,
) -> Result<(), StoreError> {
    let kind: String = connection
        .prepare_cached("SELECT kind FROM sessions WHERE key = ?1")?
        .query_row([end.session], |row| row.get(0))?;
    if kind == expected.as_str() {
        return Ok(());
    }
    let message = format_args!("the session `{id}` is of another kind: `{kind}`");
    Err(StoreError::new(message))
}

/// Applies the entries after the one with this number.
fn replay<R: Recorded>(
    connection: &Connection,
    end: Position,
    after: u64,
    id: &SessionId,
    state: &mut R,
) -> Result<(), StoreError> {
    let mut query = connection.prepare_cached(
        "SELECT number, body FROM entries WHERE session = ?1 AND number > ?2 ORDER BY number",
    )?;
    let mut rows = query.query(params![end.session, signed(after)])?;

    while let Some(row) = rows.next()? {
        let number: i64 = row.get(0)?;
        let body: String = row.get(1)?;
        let damaged = |reason: String| {
            let message = format_args!("entry {number} of the session `{id}`: {reason}");
            StoreError::new(message)
        };
        let entry = serde_json::from_str(&body).map_err(|error| damaged(error.to_string()))?;
        state.replay(entry).map_err(damaged)?;
    }
    Ok(())
}

fn written(entry: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(entry)
        .map_err(|error| StoreError::new(format_args!("the entry cannot be written: {error}")))
}
