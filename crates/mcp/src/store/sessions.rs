//! Creating, reading, appending to, listing and removing sessions.

use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use cogwork_strategies::Strategies;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::database::Database;
use super::{Changed, NewSession, Owner, Recorded, SessionHeader, SessionId, SessionKind, Stored};
use crate::ServerLimits;
use crate::failure::Failure;

/// All sessions, and the strategies that they may follow. Cloning is cheap.
#[derive(Debug, Clone)]
pub(crate) struct SessionStore {
    database: Database,
    pub(crate) limits: ServerLimits,
    pub(crate) strategies: Arc<Strategies>,
}

impl SessionStore {
    /// Opens the database in this folder, or one in memory if it is `None`. May block.
    pub(crate) fn open(
        folder: Option<&Path>,
        limits: ServerLimits,
        strategies: Strategies,
    ) -> Result<Self, Failure> {
        Ok(Self {
            database: Database::open(folder, limits.database_bytes)?,
            limits,
            strategies: Arc::new(strategies),
        })
    }

    /// Changes a session, or creates it if there is none and `new` says how. The change is visible
    /// to others once its entry is stored.
    pub(crate) async fn change<R: Recorded, T: Send + 'static>(
        &self,
        owner: &Owner,
        id: &SessionId,
        new: Option<NewSession>,
        change: impl FnOnce(&mut R) -> Result<Changed<R::Entry, T>, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let (owner, id) = (owner.clone(), id.clone());
        let most = self.limits.sessions;

        let done = self.database.write(move |connection| {
            let stored = stored(connection, &owner, &id)?;
            let mut state = match &stored {
                Some(stored) => stored.state()?,
                None => R::default(),
            };
            let (key, entries) = match (stored, &new) {
                (Some(Stored { header, .. }), _) => (header.key, header.entries),
                // In the same transaction as its first entry, so that no session is empty.
                (None, Some(new)) => (create(connection, &owner, &id, R::KIND, new, most)?, 0),
                (None, None) => return Err(missing(&id)),
            };

            let changed = change(&mut state)?;
            append(connection, key, entries, &changed)?;
            Ok(changed.result)
        });
        done.await
    }

    /// Returns a session, or `None` if the owner has no such session.
    pub(crate) async fn find(
        &self,
        owner: &Owner,
        id: &SessionId,
    ) -> Result<Option<Stored>, Failure> {
        let (owner, id) = (owner.clone(), id.clone());
        let found = self
            .database
            .read(move |connection| stored(connection, &owner, &id));
        found.await
    }

    /// Returns a session.
    pub(crate) async fn get(&self, owner: &Owner, id: &SessionId) -> Result<Stored, Failure> {
        self.find(owner, id).await?.ok_or_else(|| missing(id))
    }

    /// Removes a session.
    pub(crate) async fn remove(&self, owner: &Owner, id: &SessionId) -> Result<(), Failure> {
        let (owner, id) = (owner.clone(), id.clone());
        let removed = self.database.write(move |connection| {
            let sql = "DELETE FROM sessions WHERE owner = ?1 AND id = ?2";
            match connection.execute(sql, [&owner.0, id.as_str()])? {
                0 => Err(missing(&id)),
                _ => Ok(()),
            }
        });
        removed.await
    }

    /// Returns sessions of an owner, from the newest to the oldest. With `before`, only those that
    /// were created before the session with this key.
    pub(crate) async fn list(
        &self,
        owner: &Owner,
        before: Option<i64>,
        limit: usize,
    ) -> Result<Vec<SessionHeader>, Failure> {
        let owner = owner.clone();
        let list = self.database.read(move |connection| {
            let sql = format!(
                "SELECT {COLUMNS} FROM sessions WHERE owner = ?1 AND (?2 IS NULL OR key < ?2)
                ORDER BY key DESC LIMIT ?3"
            );
            let mut query = connection.prepare_cached(&sql)?;
            let mut rows = query.query(params![owner.0, before, signed(limit)])?;

            let mut sessions = Vec::new();
            while let Some(row) = rows.next()? {
                sessions.push(header_of(row)?);
            }
            Ok(sessions)
        });
        list.await
    }
}

/// The columns of a header.
const COLUMNS: &str = "id, kind, title, strategy, is_complete, entries, created, updated, key";

fn header_of(row: &Row<'_>) -> Result<SessionHeader, Failure> {
    let id: String = row.get(0)?;
    let kind: String = row.get(1)?;
    Ok(SessionHeader {
        id: SessionId::try_from(id).map_err(Failure::new)?,
        kind: SessionKind::named(&kind)?,
        title: row.get(2)?,
        strategy: row.get(3)?,
        is_complete: row.get(4)?,
        entries: row.get::<_, i64>(5)?.unsigned_abs(),
        created: row.get(6)?,
        updated: row.get(7)?,
        key: row.get(8)?,
    })
}

/// Returns a session with its entries, or `None` if the owner has no such session.
fn stored(
    connection: &Connection,
    owner: &Owner,
    id: &SessionId,
) -> Result<Option<Stored>, Failure> {
    let sql = format!("SELECT {COLUMNS} FROM sessions WHERE owner = ?1 AND id = ?2");
    let mut query = connection.prepare_cached(&sql)?;
    let header = query.query_row([&owner.0, id.as_str()], |row| Ok(header_of(row)));
    let Some(header) = header.optional()?.transpose()? else {
        return Ok(None);
    };

    let mut query =
        connection.prepare_cached("SELECT body FROM entries WHERE session = ?1 ORDER BY number")?;
    let bodies = query.query_map([header.key], |row| row.get(0))?;
    let bodies = bodies.collect::<Result<_, _>>()?;
    Ok(Some(Stored { header, bodies }))
}

/// Creates a session, and returns its key.
///
/// If there are too many, the one that wasn't used for the longest time is removed, provided that the
/// client hasn't chosen its id and it has nothing to continue: sessions of `sequentialthinking`
/// without an id.
fn create(
    connection: &Connection,
    owner: &Owner,
    id: &SessionId,
    kind: SessionKind,
    new: &NewSession,
    most: usize,
) -> Result<i64, Failure> {
    // Before the insertion, or the new session could be the one that goes.
    make_room(connection, owner, most)?;
    connection
        .prepare_cached(
            "INSERT INTO sessions (owner, id, kind, named, title, strategy, created, updated)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7)",
        )?
        .execute(params![
            owner.0,
            id.as_str(),
            kind.as_str(),
            new.is_named,
            new.title,
            new.strategy,
            now()
        ])?;
    Ok(connection.last_insert_rowid())
}

/// Removes the oldest sessions that may be removed if an owner has this many.
fn make_room(connection: &Connection, owner: &Owner, most: usize) -> Result<(), Failure> {
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
    // What a client named or may want to continue is never removed for it.
    if signed(removed) < excess {
        let message = format_args!("there already are {count} sessions; at most {most} are kept");
        return Err(Failure::new(message));
    }
    Ok(())
}

/// Appends an entry to a session with this many.
fn append<E: serde::Serialize, T>(
    connection: &Connection,
    key: i64,
    entries: u64,
    changed: &Changed<E, T>,
) -> Result<(), Failure> {
    let number = signed(entries).saturating_add(1);
    let body = serde_json::to_string(&changed.entry).map_err(Failure::new)?;
    connection
        .prepare_cached("INSERT INTO entries VALUES (?1, ?2, ?3)")?
        .execute(params![key, number, body])?;
    connection
        .prepare_cached(
            "UPDATE sessions SET entries = ?2, updated = ?3, is_complete = ?4 WHERE key = ?1",
        )?
        .execute(params![key, number, now(), changed.is_complete])?;

    // Numbers only grow, so the lowest ones are the oldest.
    if let Some(keep) = changed.keep {
        connection
            .prepare_cached("DELETE FROM entries WHERE session = ?1 AND number <= ?2")?
            .execute([key, number.saturating_sub(signed(keep))])?;
    }
    Ok(())
}

fn missing(id: &SessionId) -> Failure {
    Failure::new(format_args!("there is no session `{id}`"))
}

/// Returns a number for a column.
fn signed(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

/// Returns the milliseconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| signed(since.as_millis()))
}
