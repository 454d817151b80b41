//! Creating, reading, appending to, listing and removing sessions.

use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use cogwork_strategies::Strategies;
use rusqlite::{Connection, OptionalExtension, params};
use tokio::sync::Mutex;

use super::database::Database;
use super::select::{COLUMNS, header_of, select, signed};
use super::{Filter, HeaderChange, NewSession, Owner, SessionHeader, SessionId, StoreError};
use crate::ServerLimits;

/// All sessions. Cloning is cheap.
#[derive(Debug, Clone)]
pub(crate) struct SessionStore {
    pub(super) database: Database,
    limits: ServerLimits,
    strategies: Arc<Strategies>,
    /// Held by the call that changes a session.
    pub(super) turn: Arc<Mutex<()>>,
}

/// The end of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Position {
    /// Another session with the same id has another key.
    pub(super) session: i64,
    /// The number of entries.
    pub(super) entries: u64,
}

/// What is appended.
#[derive(Debug)]
pub(crate) struct Addition {
    pub(crate) body: String,
    pub(crate) change: HeaderChange,
    /// The number of entries to keep, or `None` for all.
    pub(crate) keep: Option<usize>,
}

impl SessionStore {
    /// Opens the database in this folder, or one in memory if it is `None`. May block.
    pub(crate) fn open(folder: Option<&Path>, limits: ServerLimits) -> Result<Self, StoreError> {
        Ok(Self {
            database: Database::open(folder, limits.database_bytes)?,
            limits,
            strategies: Arc::new(Strategies::built_in()),
            turn: Arc::default(),
        })
    }

    /// Sets the strategies that sessions may follow.
    pub(crate) fn with_strategies(mut self, strategies: Strategies) -> Self {
        self.strategies = Arc::new(strategies);
        self
    }

    /// Returns the strategies that sessions may follow.
    pub(crate) fn strategies(&self) -> &Arc<Strategies> {
        &self.strategies
    }

    pub(crate) fn limits(&self) -> &ServerLimits {
        &self.limits
    }

    /// Returns the header of a session, or `None` if the owner has no such session.
    pub(crate) async fn header(
        &self,
        owner: &Owner,
        id: &SessionId,
    ) -> Result<Option<SessionHeader>, StoreError> {
        let (owner, id) = (owner.clone(), id.clone());
        self.database
            .read(move |connection| {
                let sql = format!("SELECT {COLUMNS} FROM sessions WHERE owner = ?1 AND id = ?2");
                let mut query = connection.prepare_cached(&sql)?;
                let header = query.query_row([&owner.0, id.as_str()], header_of);
                Ok(header.optional()?)
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
        let (owner, id) = (owner.clone(), id.clone());
        self.database
            .read(move |connection| newest(connection, &owner, &id, max_bytes))
            .await
    }

    /// Appends an entry to the session that this position is in, or to a new one, and returns the new
    /// position. Returns `None` if the session isn't at the position, or already exists.
    pub(crate) async fn append(
        &self,
        owner: &Owner,
        id: &SessionId,
        position: Option<Position>,
        new: Option<&NewSession>,
        addition: Addition,
    ) -> Result<Option<Position>, StoreError> {
        let (owner, id, new) = (owner.clone(), id.clone(), new.cloned());
        let most = self.limits.sessions;
        self.database
            .write(move |connection| {
                let at = match (position, &new) {
                    (None, Some(new)) => begin(connection, &owner, &id, new, most)?,
                    (position, _) => position,
                };
                let appended = at.map(|at| append(connection, at, &addition)).transpose()?;
                Ok(appended.flatten())
            })
            .await
    }

    /// Removes a session. Returns whether there was one.
    pub(crate) async fn remove(&self, owner: &Owner, id: &SessionId) -> Result<bool, StoreError> {
        let (owner, id) = (owner.clone(), id.clone());
        self.database
            .write(move |connection| {
                let removed = "DELETE FROM sessions WHERE owner = ?1 AND id = ?2";
                let removed = connection.execute(removed, [&owner.0, id.as_str()])?;
                Ok(removed > 0)
            })
            .await
    }

    /// Returns the selected sessions of an owner.
    pub(crate) async fn list(
        &self,
        owner: &Owner,
        filter: Filter,
    ) -> Result<Vec<SessionHeader>, StoreError> {
        let owner = owner.clone();
        self.database
            .read(move |connection| select(connection, &owner.0, &filter))
            .await
    }
}

/// Returns the end of a session, or `None` if the owner has no such session.
pub(super) fn position(
    connection: &Connection,
    owner: &Owner,
    id: &SessionId,
) -> Result<Option<Position>, StoreError> {
    let position = connection
        .prepare_cached("SELECT key, entries FROM sessions WHERE owner = ?1 AND id = ?2")?
        .query_row([&owner.0, id.as_str()], |row| {
            Ok(Position {
                session: row.get(0)?,
                entries: row.get::<_, i64>(1)?.unsigned_abs(),
            })
        })
        .optional()?;
    Ok(position)
}

/// Creates a session. Returns `None` if there already is one with this id.
///
/// If there are too many, the one that wasn't used for the longest time is removed, provided that the
/// client hasn't chosen its id and it has nothing to continue: sessions of `sequentialthinking`
/// without an id.
fn begin(
    connection: &Connection,
    owner: &Owner,
    id: &SessionId,
    new: &NewSession,
    most: usize,
) -> Result<Option<Position>, StoreError> {
    make_room(connection, owner, most)?;
    let inserted = connection
        .prepare_cached(
            "INSERT INTO sessions (owner, id, kind, named, title, words, strategy, created, updated)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8) ON CONFLICT DO NOTHING",
        )?
        .execute(params![
            owner.0,
            id.as_str(),
            new.kind.as_str(),
            new.id.is_some(),
            new.title,
            new.title.to_lowercase(),
            new.strategy,
            now()
        ])?;

    Ok((inserted > 0).then(|| Position {
        session: connection.last_insert_rowid(),
        entries: 0,
    }))
}

/// Removes the oldest sessions that may be removed if an owner has this many.
fn make_room(connection: &Connection, owner: &Owner, most: usize) -> Result<(), StoreError> {
    let count: i64 = connection
        .prepare_cached("SELECT count(*) FROM sessions WHERE owner = ?1")?
        .query_row([&owner.0], |row| row.get(0))?;

    let excess = count.saturating_add(1).saturating_sub(signed(most));
    if excess <= 0 {
        return Ok(());
    }

    let removed = connection
        .prepare_cached(
            "DELETE FROM sessions WHERE key IN (
                SELECT key FROM sessions WHERE owner = ?1 AND kind = 'sequential' AND named = 0
                ORDER BY updated, key LIMIT ?2)",
        )?
        .execute(params![owner.0, excess])?;
    if signed(removed) < excess {
        let message = format_args!("there already are {count} sessions; at most {most} are kept");
        return Err(StoreError::new(message));
    }
    Ok(())
}

/// Appends an entry. Returns the new position, or `None` if the session wasn't at the position.
fn append(
    connection: &Connection,
    at: Position,
    addition: &Addition,
) -> Result<Option<Position>, StoreError> {
    let HeaderChange {
        title,
        strategy,
        is_complete,
        text,
    } = &addition.change;
    let advanced = connection
        .prepare_cached(
            "UPDATE sessions SET entries = entries + 1, updated = ?3,
                title = coalesce(?4, title), words = coalesce(?5, words),
                strategy = coalesce(?6, strategy), is_complete = coalesce(?7, is_complete)
            WHERE key = ?1 AND entries = ?2",
        )?
        .execute(params![
            at.session,
            signed(at.entries),
            now(),
            title,
            title.as_ref().map(|title| title.to_lowercase()),
            strategy,
            is_complete
        ])?;
    if advanced == 0 {
        return Ok(None);
    }

    let number = signed(at.entries).saturating_add(1);
    connection
        .prepare_cached("INSERT INTO entries VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![
            at.session,
            number,
            addition.body,
            text.to_lowercase()
        ])?;
    if let Some(keep) = addition.keep {
        connection
            .prepare_cached("DELETE FROM entries WHERE session = ?1 AND number <= ?2")?
            .execute([at.session, number.saturating_sub(signed(keep))])?;
    }
    Ok(Some(Position {
        entries: at.entries.saturating_add(1),
        ..at
    }))
}

fn newest(
    connection: &Connection,
    owner: &Owner,
    id: &SessionId,
    max_bytes: usize,
) -> Result<Vec<String>, StoreError> {
    let position = position(connection, owner, id)?.ok_or_else(|| missing(id))?;
    let mut query = connection
        .prepare_cached("SELECT body FROM entries WHERE session = ?1 ORDER BY number DESC")?;
    let mut rows = query.query([position.session])?;

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

pub(super) fn missing(id: &SessionId) -> StoreError {
    StoreError::new(format_args!("there is no session `{id}`"))
}

/// Returns the milliseconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| signed(since.as_millis()))
}
