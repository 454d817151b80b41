//! Creating, reading, appending to, listing and removing sessions.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use cogwork_strategies::Strategies;
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};

use super::database::Database;
use super::position::{self, Addition, Position, Recent};
use super::{
    Appended, Change, Filter, NewSession, Order, Owner, SessionHeader, SessionId, SessionKind,
    StoreError,
};
use crate::Limits;

const COLUMNS: &str = "id, kind, title, strategy, is_complete, entries, created, updated";

/// All sessions. Cloning is cheap.
#[derive(Debug, Clone)]
pub(crate) struct SessionStore {
    database: Database,
    limits: Limits,
    strategies: Arc<Strategies>,
    stamps: Arc<AtomicI64>,
}

impl SessionStore {
    /// Opens the database in this folder, or one in memory if it is `None`. May block.
    pub(crate) fn open(folder: Option<&Path>, limits: Limits) -> Result<Self, StoreError> {
        let database = Database::open(folder, &limits)?;
        let stamps = Arc::new(AtomicI64::new(random_stamp()));
        let strategies = Arc::new(Strategies::built_in());
        Ok(Self {
            database,
            limits,
            strategies,
            stamps,
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

    pub(crate) fn limits(&self) -> &Limits {
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
        let owner = owner.0.clone();
        let most = self.limits.sessions;
        let id = new.id.clone().unwrap_or_else(SessionId::random);
        let created = id.clone();

        self.database
            .write(move |connection| {
                make_room(connection, &owner, most)?;
                let key = insert_session(connection, &owner, &id, &new)?;
                let exists = || StoreError::new(format_args!("the session `{id}` already exists"));
                key.map(drop::<i64>).ok_or_else(exists)
            })
            .await?;
        Ok(created)
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

    /// Returns the entries after this number that are kept, in order.
    pub(crate) async fn entries(
        &self,
        owner: &Owner,
        id: &SessionId,
        after: u64,
    ) -> Result<Vec<String>, StoreError> {
        let owner = owner.0.clone();
        let id = id.clone();
        self.database
            .read(move |connection| {
                let key = key_of(connection, &owner, &id)?;
                let mut query = connection.prepare_cached(
                    "SELECT body FROM entries WHERE session = ?1 AND number > ?2 ORDER BY number",
                )?;
                let rows = query.query_map(params![key, signed(after)], |row| row.get(0))?;
                Ok(rows.collect::<Result<_, _>>()?)
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
        let owner = owner.0.clone();
        let id = id.clone();
        let stamp = self.stamp();
        self.database
            .write(move |connection| {
                let session = key_of(connection, &owner, &id)?;
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
                let appended = position::append(connection, position, &addition)?;
                Ok(appended.map_or(Appended::Behind, |_| Appended::Done))
            })
            .await
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
        let owner = owner.0.clone();
        let id = id.clone();
        let most = self.limits.sessions;

        self.database.write(move |connection| {
            let position = match at {
                Ok(position) => Some(position),
                Err(new) => {
                    make_room(connection, &owner, most)?;
                    insert_session(connection, &owner, &id, &new)?.map(Position::start_of)
                }
            };

            let Some(position) = position else {
                return Ok(None);
            };
            position::append(connection, position, &addition)
        })
    }

    /// Removes a session. Returns whether there was one.
    pub(crate) async fn remove(&self, owner: &Owner, id: &SessionId) -> Result<bool, StoreError> {
        let owner = owner.0.clone();
        let id = id.clone();
        self.database
            .write(move |connection| {
                let removed = connection
                    .prepare_cached("DELETE FROM sessions WHERE owner = ?1 AND id = ?2")?
                    .execute([&owner, id.as_str()])?;
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

fn select(
    connection: &Connection,
    owner: &str,
    filter: &Filter,
) -> Result<Vec<SessionHeader>, StoreError> {
    let mut sql = format!("SELECT {COLUMNS} FROM sessions WHERE owner = ?");
    let mut values: Vec<Box<dyn ToSql>> = vec![Box::new(owner.to_owned())];

    if !filter.kinds.is_empty() {
        let marks = vec!["?"; filter.kinds.len()].join(", ");
        sql.push_str(&format!(" AND kind IN ({marks})"));
        values.extend(
            filter
                .kinds
                .iter()
                .map(|kind| Box::new(kind.as_str()) as Box<dyn ToSql>),
        );
    }
    if let Some(strategy) = &filter.strategy {
        sql.push_str(" AND strategy = ?");
        values.push(Box::new(strategy.clone()));
    }
    if let Some(is_complete) = filter.is_complete {
        sql.push_str(" AND is_complete = ?");
        values.push(Box::new(is_complete));
    }
    for word in &filter.words {
        sql.push_str(
            " AND (instr(lower(title), ?) > 0 OR EXISTS (
                SELECT 1 FROM entries WHERE session = sessions.key AND instr(words, ?) > 0))",
        );
        let word = word.to_lowercase();
        values.push(Box::new(word.clone()));
        values.push(Box::new(word));
    }

    let order = match filter.order {
        Order::Updated => "updated DESC",
        Order::Created => "created DESC",
        Order::Entries => "entries DESC",
        Order::Duration => "updated - created DESC",
    };
    sql.push_str(&format!(" ORDER BY {order}, key DESC LIMIT ? OFFSET ?"));
    values.push(Box::new(signed_size(filter.limit)));
    values.push(Box::new(signed_size(filter.offset)));

    let mut query = connection.prepare_cached(&sql)?;
    let rows = query.query_map(rusqlite::params_from_iter(values), header_of)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn header_of(row: &Row<'_>) -> rusqlite::Result<SessionHeader> {
    let id: String = row.get(0)?;
    let kind: String = row.get(1)?;
    let unknown = |column, what: &str| {
        let error = format!("{what} isn't known");
        rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, error.into())
    };

    Ok(SessionHeader {
        id: SessionId::named(&id).ok_or_else(|| unknown(0, "the id"))?,
        kind: SessionKind::named(&kind).ok_or_else(|| unknown(1, "the kind"))?,
        title: row.get(2)?,
        strategy: row.get(3)?,
        is_complete: row.get(4)?,
        entries: row.get::<_, i64>(5)?.unsigned_abs(),
        created: row.get(6)?,
        updated: row.get(7)?,
    })
}

pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn signed_size(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Returns the first of many stamps, which others will hardly choose.
fn random_stamp() -> i64 {
    let (high, _) = uuid::Uuid::new_v4().as_u64_pair();
    high.cast_signed()
}

/// Returns the milliseconds since 1970.
pub(super) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    })
}
