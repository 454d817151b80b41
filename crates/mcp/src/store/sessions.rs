//! Creating, reading, appending to, listing and removing sessions.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use cogwork_strategies::Strategies;
use futures_util::future::Either;
use rusqlite::{Connection, OptionalExtension, params};
use tokio::sync::broadcast;

use super::changes::Changes;
use super::database::Database;
use super::position::{self, Addition, Position, Recent};
use super::search::search;
use super::select::{COLUMNS, header_of, select};
use super::values::{now, random_stamp, signed_size};
use super::{
    Appended, Change, Filter, NewSession, Owner, SessionChange, SessionHeader, SessionId,
    StoreError,
};
use crate::ServerLimits;

/// All sessions. Cloning is cheap.
#[derive(Debug, Clone)]
pub(crate) struct SessionStore {
    database: Database,
    limits: ServerLimits,
    strategies: Arc<Strategies>,
    stamps: Arc<AtomicI64>,
    changes: Changes,
}

impl SessionStore {
    /// Opens the database in this folder, or one in memory if it is `None`. May block.
    pub(crate) fn open(folder: Option<&Path>, limits: ServerLimits) -> Result<Self, StoreError> {
        let database = Database::open(folder, &limits)?;
        let stamps = Arc::new(AtomicI64::new(random_stamp()));
        let strategies = Arc::new(Strategies::built_in());
        Ok(Self {
            database,
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

        self.database
            .write(move |connection| {
                make_room(connection, &of, most)?;
                let key = insert_session(connection, &of, &named, &new)?;
                let exists =
                    || StoreError::new(format_args!("the session `{named}` already exists"));
                key.map(drop::<i64>).ok_or_else(exists)
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
        self.database
            .read(move |connection| {
                let sql = format!("SELECT {COLUMNS} FROM sessions WHERE owner = ?1 AND id = ?2");
                let mut query = connection.prepare_cached(&sql)?;
                Ok(query
                    .query_row([&owner, id.as_str()], header_of)
                    .optional()?)
            })
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
        self.database
            .read(move |connection| {
                let key = key_of(connection, &owner, &id)?;
                newest(connection, key, max_bytes)
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
        self.database
            .read(move |connection| position::recent(connection, &owner, &id, position))
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
            .database
            .write(move |connection| {
                let session = key_of(connection, &of, &named)?;
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
                let appended = position::append(connection, position, &[addition])?;
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
            Ok(position) => Either::Left(self.database.append(position, addition)),
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

    /// Appends entries to the session that this position is in. Returns whether the session was at
    /// the position.
    ///
    /// This is started at once.
    pub(super) fn append_now(
        &self,
        owner: &Owner,
        id: &SessionId,
        position: Position,
        additions: Vec<Addition>,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send + use<> {
        let count = additions.len();
        let written = self.database.append_now(position, additions);

        let changes = self.changes.clone();
        let owner = owner.clone();
        let id = id.clone();
        async move {
            let is_appended = written.await?.is_some();
            if is_appended {
                (0..count).for_each(|_| changes.appended(&owner, &id));
            }
            Ok(is_appended)
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

        self.database.write(move |connection| {
            make_room(connection, &owner, most)?;
            match insert_session(connection, &owner, &id, &new)? {
                Some(key) => position::append(connection, Position::start_of(key), &[addition]),
                None => Ok(None),
            }
        })
    }

    /// Removes a session. Returns whether there was one.
    pub(crate) async fn remove(&self, owner: &Owner, id: &SessionId) -> Result<bool, StoreError> {
        let of = owner.0.clone();
        let named = id.clone();
        let was_there = self
            .database
            .write(move |connection| {
                let removed = connection
                    .prepare_cached("DELETE FROM sessions WHERE owner = ?1 AND id = ?2")?
                    .execute([&of, named.as_str()])?;
                Ok(removed > 0)
            })
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
            return search(&self.database, owner, &filter).await;
        }
        let owner = owner.0.clone();
        self.database
            .read(move |connection| select(connection, &owner, &filter))
            .await
    }
}

/// Removes the oldest sessions that may be removed if an owner has this many.
fn make_room(connection: &Connection, owner: &str, most: usize) -> Result<(), StoreError> {
    let count: i64 = connection
        .prepare_cached("SELECT count(*) FROM sessions WHERE owner = ?1")?
        .query_row([owner], |row| row.get(0))?;

    let excess = count.saturating_add(1).saturating_sub(signed_size(most));
    if excess <= 0 {
        return Ok(());
    }

    let removed = connection
        .prepare_cached(
            "DELETE FROM sessions WHERE key IN (
                SELECT key FROM sessions WHERE owner = ?1 AND kind = 'sequential' AND named = 0
                ORDER BY updated, key LIMIT ?2)",
        )?
        .execute(params![owner, excess])?;

    if signed_size(removed) < excess {
        let message = format_args!("there already are {count} sessions; at most {most} are kept");
        return Err(StoreError::new(message));
    }
    Ok(())
}

/// Returns the key of the new session, or `None` if there already is one with this id.
fn insert_session(
    connection: &Connection,
    owner: &str,
    id: &SessionId,
    new: &NewSession,
) -> Result<Option<i64>, StoreError> {
    let now = now();
    let inserted = connection
        .prepare_cached(
            "INSERT INTO sessions (owner, id, kind, named, title, strategy, created, updated)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7) ON CONFLICT DO NOTHING",
        )?
        .execute(params![
            owner,
            id.as_str(),
            new.kind.as_str(),
            new.id.is_some(),
            new.title,
            new.strategy,
            now
        ])?;

    Ok((inserted > 0).then(|| connection.last_insert_rowid()))
}

fn key_of(connection: &Connection, owner: &str, id: &SessionId) -> Result<i64, StoreError> {
    connection
        .prepare_cached("SELECT key FROM sessions WHERE owner = ?1 AND id = ?2")?
        .query_row([owner, id.as_str()], |row| row.get(0))
        .optional()?
        .ok_or_else(|| StoreError::new(format_args!("there is no session `{id}`")))
}

fn newest(
    connection: &Connection,
    session: i64,
    max_bytes: usize,
) -> Result<Vec<String>, StoreError> {
    let mut query = connection
        .prepare_cached("SELECT body FROM entries WHERE session = ?1 ORDER BY number DESC")?;
    let mut rows = query.query([session])?;

    let mut entries = Vec::new();
    let mut bytes = 0_usize;
    while let Some(row) = rows.next()? {
        let body: String = row.get(0)?;
        bytes = bytes.saturating_add(body.len());
        if bytes > max_bytes && !entries.is_empty() {
            break;
        }
        entries.push(body);
    }

    entries.reverse();
    Ok(entries)
}
