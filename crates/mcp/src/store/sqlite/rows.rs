//! Sessions as rows of the tables.

use std::ops::ControlFlow;

use rusqlite::{Connection, OptionalExtension, params};

use super::entries;
use super::numbers::{signed, signed_size};
use super::select::{COLUMNS, header_of, select};
use crate::store::position::{Addition, Position, Recent};
use crate::store::transaction::{Transaction, too_many};
use crate::store::values::now;
use crate::store::{Filter, NewSession, SessionHeader, SessionId, StoreError};

/// A connection within a transaction.
pub(crate) struct Rows<'a>(pub(crate) &'a Connection);

impl Transaction for Rows<'_> {
    fn begin(
        &mut self,
        owner: &str,
        id: &SessionId,
        new: &NewSession,
        first: Option<Addition>,
        most: usize,
    ) -> Result<Option<Position>, StoreError> {
        make_room(self.0, owner, most)?;
        let Some(key) = insert_session(self.0, owner, id, new)? else {
            return Ok(None);
        };

        let start = Position::start_of(key);
        match first {
            Some(first) => entries::append(self.0, start, &[first]),
            None => Ok(Some(start)),
        }
    }

    fn append(
        &mut self,
        position: Position,
        additions: Vec<Addition>,
    ) -> Result<Option<Position>, StoreError> {
        entries::append(self.0, position, &additions)
    }

    fn remove(&mut self, owner: &str, id: &SessionId) -> Result<bool, StoreError> {
        let removed = { self.0 }
            .prepare_cached("DELETE FROM sessions WHERE owner = ?1 AND id = ?2")?
            .execute([owner, id.as_str()])?;
        Ok(removed > 0)
    }

    fn key(&self, owner: &str, id: &SessionId) -> Result<Option<i64>, StoreError> {
        let key = { self.0 }
            .prepare_cached("SELECT key FROM sessions WHERE owner = ?1 AND id = ?2")?
            .query_row([owner, id.as_str()], |row| row.get(0))
            .optional()?;
        Ok(key)
    }

    fn header(&self, owner: &str, id: &SessionId) -> Result<Option<SessionHeader>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM sessions WHERE owner = ?1 AND id = ?2");
        let mut query = self.0.prepare_cached(&sql)?;
        Ok(query
            .query_row([owner, id.as_str()], header_of)
            .optional()?)
    }

    fn recent(
        &self,
        owner: &str,
        id: &SessionId,
        position: Option<Position>,
    ) -> Result<Option<Recent>, StoreError> {
        entries::recent(self.0, owner, id, position)
    }

    fn newest(&self, session: i64, max_bytes: usize) -> Result<Vec<String>, StoreError> {
        entries::newest(self.0, session, max_bytes)
    }

    fn select(&self, owner: &str, filter: &Filter) -> Result<Vec<SessionHeader>, StoreError> {
        select(self.0, owner, filter)
    }

    fn texts(
        &self,
        owner: &str,
        id: &SessionId,
        after: u64,
        read: &mut dyn FnMut(u64, &str) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, StoreError> {
        let mut query = self.0.prepare_cached(
            "SELECT number, words FROM entries
            WHERE session = (SELECT key FROM sessions WHERE owner = ?1 AND id = ?2) AND number > ?3
            ORDER BY number",
        )?;
        let mut rows = query.query(params![owner, id.as_str(), signed(after)])?;

        while let Some(row) = rows.next()? {
            let number: i64 = row.get(0)?;
            let text = row.get_ref(1)?.as_str().unwrap_or_default();
            if read(number.unsigned_abs(), text).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
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
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        return Err(too_many(count, most));
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
