//! All sessions.

use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;

use super::room::Room;
use super::select::{Keyed, select};
use super::session::{Session, bytes_of};
use crate::store::position::{Addition, Position, Recent};
use crate::store::transaction::{Transaction, too_many};
use crate::store::{Filter, NewSession, SessionHeader, SessionId, SessionKind, StoreError};

#[derive(Debug)]
pub(super) struct Sessions {
    by_key: BTreeMap<i64, Session>,
    keys: HashMap<String, HashMap<SessionId, i64>>,
    /// The key of the last session that was created. Keys aren't used again.
    last_key: i64,
    room: Room,
}

impl Sessions {
    /// `bytes` is the maximum size of all sessions, approximately.
    pub(super) fn new(bytes: usize) -> Self {
        Self {
            by_key: BTreeMap::new(),
            keys: HashMap::new(),
            last_key: 0,
            room: Room::new(bytes),
        }
    }

    fn key_of(&self, owner: &str, id: &SessionId) -> Option<i64> {
        self.keys.get(owner)?.get(id).copied()
    }

    fn session(&self, owner: &str, id: &SessionId) -> Option<&Session> {
        let key = self.key_of(owner, id)?;
        self.by_key.get(&key)
    }

    fn of_owner(&self, owner: &str) -> impl Iterator<Item = Keyed<'_>> {
        let keys = self.keys.get(owner).into_iter().flatten();
        keys.filter_map(|(_, key)| Some((*key, self.by_key.get(key)?)))
    }

    /// Returns the keys of the sessions that make room for another one.
    fn excess(&self, owner: &str, most: usize) -> Result<Vec<i64>, StoreError> {
        let count = self.keys.get(owner).map_or(0, HashMap::len);
        let excess = count.saturating_add(1).saturating_sub(most);
        if excess == 0 {
            return Ok(Vec::new());
        }

        let unnamed = self.of_owner(owner).filter(|(_, session)| {
            session.header.kind == SessionKind::Sequential && !session.is_named
        });
        let mut unnamed: Vec<_> = unnamed
            .map(|(key, session)| (session.header.updated, key))
            .collect();
        if unnamed.len() < excess {
            return Err(too_many(count, most));
        }

        unnamed.sort_unstable();
        unnamed.truncate(excess);
        Ok(unnamed.into_iter().map(|(_, key)| key).collect())
    }

    /// Adds a session, and returns its end.
    fn insert(&mut self, session: Session) -> Position {
        let key = self.last_key.saturating_add(1);
        let end = session.end(key);
        self.last_key = key;
        self.room.replace(0, session.bytes());

        let ids = self.keys.entry(session.owner.clone()).or_default();
        ids.insert(session.header.id.clone(), key);
        self.by_key.insert(key, session);
        end
    }

    /// Removes a session. Returns whether there was one.
    fn drop_session(&mut self, key: i64) -> bool {
        let Some(session) = self.by_key.remove(&key) else {
            return false;
        };
        self.room.replace(session.bytes(), 0);

        if let Some(ids) = self.keys.get_mut(&session.owner) {
            ids.remove(&session.header.id);
            if ids.is_empty() {
                self.keys.remove(&session.owner);
            }
        }
        true
    }
}

impl Transaction for Sessions {
    fn begin(
        &mut self,
        owner: &str,
        id: &SessionId,
        new: &NewSession,
        first: Option<Addition>,
        most: usize,
    ) -> Result<Option<Position>, StoreError> {
        let removed = self.excess(owner, most)?;
        let existing = self.key_of(owner, id);
        if existing.is_some_and(|key| !removed.contains(&key)) {
            return Ok(None);
        }

        let mut session = Session::new(owner, id, new);
        session.append(first.into_iter().collect());
        let freed = removed.iter().filter_map(|key| self.by_key.get(key));
        let freed = freed.map(Session::bytes).sum();
        self.room.check(session.bytes(), freed)?;

        for key in removed {
            self.drop_session(key);
        }
        Ok(Some(self.insert(session)))
    }

    fn append(
        &mut self,
        position: Position,
        additions: Vec<Addition>,
    ) -> Result<Option<Position>, StoreError> {
        let session = self.by_key.get_mut(&position.session);
        let Some(session) = session.filter(|session| session.ends_at(position)) else {
            return Ok(None);
        };

        let added = additions.iter().map(bytes_of).sum();
        self.room.check(added, 0)?;

        let stamps = additions.iter().map(|addition| addition.stamp);
        let end = stamps.fold(position, Position::next);
        let before = session.bytes();
        session.append(additions);
        self.room.replace(before, session.bytes());
        Ok(Some(end))
    }

    fn remove(&mut self, owner: &str, id: &SessionId) -> Result<bool, StoreError> {
        let key = self.key_of(owner, id);
        Ok(key.is_some_and(|key| self.drop_session(key)))
    }

    fn key(&self, owner: &str, id: &SessionId) -> Result<Option<i64>, StoreError> {
        Ok(self.key_of(owner, id))
    }

    fn header(&self, owner: &str, id: &SessionId) -> Result<Option<SessionHeader>, StoreError> {
        let session = self.session(owner, id);
        Ok(session.map(|session| session.header.clone()))
    }

    fn recent(
        &self,
        owner: &str,
        id: &SessionId,
        position: Option<Position>,
    ) -> Result<Option<Recent>, StoreError> {
        let key = self.key_of(owner, id);
        let recent = key.and_then(|key| Some(self.by_key.get(&key)?.recent(key, position)));
        Ok(recent)
    }

    fn newest(&self, session: i64, max_bytes: usize) -> Result<Vec<String>, StoreError> {
        let session = self.by_key.get(&session);
        let newest = session.map(|session| session.newest(max_bytes));
        Ok(newest.unwrap_or_default())
    }

    fn select(&self, owner: &str, filter: &Filter) -> Result<Vec<SessionHeader>, StoreError> {
        let before = filter.before.as_ref();
        let before = before.and_then(|before| self.key_of(owner, &before.id));
        Ok(select(self.of_owner(owner), filter, before))
    }

    fn texts(
        &self,
        owner: &str,
        id: &SessionId,
        after: u64,
        read: &mut dyn FnMut(u64, &str) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, StoreError> {
        let session = self.session(owner, id);
        let mut texts = session.into_iter().flat_map(|session| session.texts(after));
        Ok(texts.try_for_each(|(number, text)| read(number, &text.to_lowercase())))
    }
}
