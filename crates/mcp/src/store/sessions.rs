//! Creating, reading, appending to, listing and removing sessions.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use cogwork_strategies::Strategies;
use futures_util::future::Either;
use tokio::sync::broadcast;

use super::backend::Backend;
use super::changes::Changes;
use super::position::{Addition, Position, Recent};
use super::search::search;
use super::transaction::Transaction;
use super::values::random_stamp;
use super::{
    Appended, Change, Filter, NewSession, Owner, SessionChange, SessionHeader, SessionId,
    StoreError,
};
use crate::ServerLimits;

/// All sessions. Cloning is cheap.
#[derive(Debug, Clone)]
pub(crate) struct SessionStore {
    backend: Backend,
    limits: ServerLimits,
    strategies: Arc<Strategies>,
    stamps: Arc<AtomicI64>,
    changes: Changes,
}

impl SessionStore {
    /// Opens the database in this folder, or keeps sessions in memory if it is `None`. May block.
    pub(crate) fn open(folder: Option<&Path>, limits: ServerLimits) -> Result<Self, StoreError> {
        let backend = Backend::open(folder, &limits)?;
        let stamps = Arc::new(AtomicI64::new(random_stamp()));
        let strategies = Arc::new(Strategies::built_in());
        Ok(Self {
            backend,
            limits,
            strategies,
            stamps,
            changes: Changes::default(),
        })
    }

    /// Sets the strategies that sessions may follow.
    pub(crate) fn with_strategies(mut self, strategies: Strategies) -> Self {
        self.strategies = Arc::new(strategies);
        self
    }

    /// Returns the strategies that sessions may follow, and by which they are rebuilt.
    pub(crate) fn strategies(&self) -> &Arc<Strategies> {
        &self.strategies
    }

    /// Returns a stamp that no other entry has.
    pub(super) fn stamp(&self) -> i64 {
        self.stamps.fetch_add(1, Ordering::Relaxed)
    }

    /// Returns the changes of sessions by this process from now on.
    pub(crate) fn changes(&self) -> broadcast::Receiver<SessionChange> {
        self.changes.subscribe()
    }

    pub(crate) fn limits(&self) -> &ServerLimits {
        &self.limits
    }

    /// Creates a session, and returns its id.
    ///
    /// If there are too many, the one that wasn't used for the longest time is removed, provided
    /// that the client hasn't chosen its id and it has nothing to continue: sessions of
    /// `sequentialthinking` without an id.
    pub(crate) async fn create(
        &self,
        owner: &Owner,
        new: NewSession,
    ) -> Result<SessionId, StoreError> {
        let of = owner.0.clone();
        let most = self.limits.sessions;
        let id = new.id.clone().unwrap_or_else(SessionId::random);
        let named = id.clone();

        self.backend
            .write(move |sessions| {
                let begun = sessions.begin(&of, &named, &new, None, most)?;
                let exists =
                    || StoreError::new(format_args!("the session `{named}` already exists"));
                begun.map(drop::<Position>).ok_or_else(exists)
            })
            .await?;

        self.changes.listed_anew(owner, &id);
        Ok(id)
    }

    /// Returns the header of a session, or `None` if the owner has no such session.
    pub(crate) async fn header(
        &self,
        owner: &Owner,
        id: &SessionId,
    ) -> Result<Option<SessionHeader>, StoreError> {
        let owner = owner.0.clone();
        let id = id.clone();
        self.backend
            .read(move |sessions| sessions.header(&owner, &id))
            .await
    }

    /// Returns the newest entries, in order. All of them together have at most this many bytes,
    /// unless a single one is longer.
    pub(crate) async fn newest_entries(
        &self,
        owner: &Owner,
        id: &SessionId,
        max_bytes: usize,
    ) -> Result<Vec<String>, StoreError> {
        let owner = owner.0.clone();
        let id = id.clone();
        self.backend
            .read(move |sessions| {
                let key = key_of(sessions, &owner, &id)?;
                sessions.newest(key, max_bytes)
            })
            .await
    }

    /// Returns what follows a position, or `None` if the owner has no such session.
    pub(super) async fn recent(
        &self,
        owner: &Owner,
        id: &SessionId,
        position: Option<Position>,
    ) -> Result<Option<Recent>, StoreError> {
        let owner = owner.0.clone();
        let id = id.clone();
        self.backend
            .read(move |sessions| sessions.recent(&owner, &id, position))
            .await
    }

    /// Appends an entry if the session has exactly `after` entries.
    pub(crate) async fn append(
        &self,
        owner: &Owner,
        id: &SessionId,
        after: u64,
        body: String,
        change: Change,
    ) -> Result<Appended, StoreError> {
        let of = owner.0.clone();
        let named = id.clone();
        let stamp = self.stamp();
        let appended = self
            .backend
            .write(move |sessions| {
                let session = key_of(sessions, &of, &named)?;
                let position = Position {
                    entries: after,
                    ..Position::start_of(session)
                };
                let addition = Addition {
                    stamp,
                    body,
                    change,
                    shortened: None,
                };
                let appended = sessions.append(position, vec![addition])?;
                Ok(appended.map_or(Appended::Behind, |_| Appended::Done))
            })
            .await?;

        if appended == Appended::Done {
            self.changes.appended(owner, id);
        }
        Ok(appended)
    }

    /// Appends an entry to the session that this position is in, or to a new one, and returns the
    /// new position. Returns `None` if the session isn't at the position, or already exists.
    ///
    /// This is queued at once.
    pub(super) fn append_at(
        &self,
        owner: &Owner,
        id: &SessionId,
        at: Result<Position, NewSession>,
        addition: Addition,
    ) -> impl Future<Output = Result<Option<Position>, StoreError>> + Send + use<> {
        let is_new = at.is_err();
        let written = match at {
            Ok(position) => Either::Left(self.backend.append(position, addition)),
            Err(new) => Either::Right(self.begin_with(owner, id, new, addition)),
        };

        let changes = self.changes.clone();
        let owner = owner.clone();
        let id = id.clone();
        async move {
            let position = written.await?;
            match position {
                Some(_) if is_new => changes.listed_anew(&owner, &id),
                Some(_) => changes.appended(&owner, &id),
                None => {}
            }
            Ok(position)
        }
    }

    /// Creates a session with its first entry, unless there already is one with this id.
    fn begin_with(
        &self,
        owner: &Owner,
        id: &SessionId,
        new: NewSession,
        addition: Addition,
    ) -> impl Future<Output = Result<Option<Position>, StoreError>> + Send + use<> {
        let owner = owner.0.clone();
        let id = id.clone();
        let most = self.limits.sessions;

        self.backend
            .write(move |sessions| sessions.begin(&owner, &id, &new, Some(addition), most))
    }

    /// Removes a session. Returns whether there was one.
    pub(crate) async fn remove(&self, owner: &Owner, id: &SessionId) -> Result<bool, StoreError> {
        let of = owner.0.clone();
        let named = id.clone();
        let was_there = self
            .backend
            .write(move |sessions| sessions.remove(&of, &named))
            .await?;

        if was_there {
            self.changes.listed_anew(owner, id);
        }
        Ok(was_there)
    }

    /// Returns the selected sessions of an owner.
    pub(crate) async fn list(
        &self,
        owner: &Owner,
        filter: Filter,
    ) -> Result<Vec<SessionHeader>, StoreError> {
        if !filter.words.is_empty() {
            return search(&self.backend, owner, &filter).await;
        }
        let owner = owner.0.clone();
        self.backend
            .read(move |sessions| sessions.select(&owner, &filter))
            .await
    }
}

fn key_of(
    sessions: &(impl Transaction + ?Sized),
    owner: &str,
    id: &SessionId,
) -> Result<i64, StoreError> {
    let missing = || StoreError::new(format_args!("there is no session `{id}`"));
    sessions.key(owner, id)?.ok_or_else(missing)
}
