//! Sessions that are rebuilt from their entries with each call.

use rusqlite::{Connection, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::sessions::{Addition, Position, missing, position};
use super::{HeaderChange, NewSession, Owner, SessionId, SessionKind, SessionStore, StoreError};

/// How often a change is tried again because other processes append to the session as well.
const TRIES: usize = 20;

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
    pub(crate) change: HeaderChange,
    pub(crate) result: T,
}

impl SessionStore {
    /// Reads a session.
    pub(crate) async fn read<R: Recorded>(
        &self,
        owner: &Owner,
        id: &SessionId,
    ) -> Result<R, StoreError> {
        let (state, position) = self.replayed(owner, id).await?;
        position.map(|_| state).ok_or_else(|| missing(id))
    }

    /// Changes a session, or creates it if there is none and `new` says how. The change is visible to
    /// others once its entry is stored.
    ///
    /// `change` is called again, on the new state, if another process has appended entries in the
    /// meantime.
    pub(crate) async fn change<R: Recorded, T, E: From<StoreError>>(
        &self,
        owner: &Owner,
        id: &SessionId,
        new: Option<&NewSession>,
        mut change: impl FnMut(&mut R) -> Result<Changed<R::Entry, T>, E>,
    ) -> Result<T, E> {
        // The calls of this process take turns, in their order.
        let _turn = self.turn.lock().await;
        for _ in 0..TRIES {
            let (mut state, position) = self.replayed(owner, id).await?;
            if position.is_none() && new.is_none() {
                return Err(missing(id).into());
            }

            let changed = change(&mut state)?;
            let addition = Addition {
                body: serde_json::to_string(&changed.entry).map_err(StoreError::new)?,
                change: changed.change,
                keep: state.keep(),
            };
            let appended = self.append(owner, id, position, new, addition).await?;
            if appended.is_some() {
                return Ok(changed.result);
            }
        }

        let message = format_args!("the session `{id}` is used by too many others; try again");
        Err(StoreError::new(message).into())
    }

    /// Returns the state of a session, and its end if there is one.
    async fn replayed<R: Recorded>(
        &self,
        owner: &Owner,
        id: &SessionId,
    ) -> Result<(R, Option<Position>), StoreError> {
        let key = (owner.clone(), id.clone());
        let stored = self
            .database
            .read(move |connection| stored(connection, &key.0, &key.1, R::KIND));
        let Some((position, bodies)) = stored.await? else {
            return Ok((R::empty(self, 0), None));
        };

        let kept = u64::try_from(bodies.len()).unwrap_or(u64::MAX);
        let dropped = position.entries.saturating_sub(kept);
        let mut state = R::empty(self, dropped);
        for (body, number) in bodies.iter().zip(dropped.saturating_add(1)..) {
            let entry = serde_json::from_str(body).map_err(|error| error.to_string());
            let replayed = entry.and_then(|entry| state.replay(entry));
            replayed.map_err(|reason| {
                StoreError::new(format_args!(
                    "entry {number} of the session `{id}`: {reason}"
                ))
            })?;
        }
        Ok((state, Some(position)))
    }
}

/// Returns the end of a session and its entries, or `None` if the owner has no such session.
fn stored(
    connection: &Connection,
    owner: &Owner,
    id: &SessionId,
    expected: SessionKind,
) -> Result<Option<(Position, Vec<String>)>, StoreError> {
    let Some(end) = position(connection, owner, id)? else {
        return Ok(None);
    };

    let kind: String = connection
        .prepare_cached("SELECT kind FROM sessions WHERE key = ?1")?
        .query_row([end.session], |row| row.get(0))?;
    if kind != expected.as_str() {
        let message = format_args!("the session `{id}` is of another kind: `{kind}`");
        return Err(StoreError::new(message));
    }

    let mut query =
        connection.prepare_cached("SELECT body FROM entries WHERE session = ?1 ORDER BY number")?;
    let bodies = query.query_map(params![end.session], |row| row.get(0))?;
    Ok(Some((end, bodies.collect::<Result<_, _>>()?)))
}
