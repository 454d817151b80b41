//! Reading and appending entries.

use rusqlite::{Connection, OptionalExtension, params};

use super::numbers::{signed, signed_size};
use crate::store::position::{Addition, Entry, PAGE, Position, Recent, Start};
use crate::store::values::now;
use crate::store::{Replaced, SessionId, SessionKind, Shortened, StoreError};

/// Reads entries after a position, or all of them if there are others at the position.
pub(super) fn recent(
    connection: &Connection,
    owner: &str,
    id: &SessionId,
    position: Option<Position>,
) -> Result<Option<Recent>, StoreError> {
    let Some(row) = row_of(connection, owner, id)? else {
        return Ok(None);
    };

    let there = match position {
        Some(position) if is_there(connection, &row, position)? => Some(position),
        _ => None,
    };
    let (start, after) = match there {
        Some(position) => (Start::There, position.entries),
        None => (anew(connection, &row)?, row.dropped),
    };

    let entries = page(connection, row.key, after)?;
    let read = u64::try_from(entries.len()).unwrap_or(u64::MAX);
    Ok(Some(Recent {
        kind: row.kind,
        start,
        is_complete: after.saturating_add(read) >= row.entries,
        entries,
    }))
}

struct Found {
    key: i64,
    kind: SessionKind,
    entries: u64,
    dropped: u64,
}

fn row_of(
    connection: &Connection,
    owner: &str,
    id: &SessionId,
) -> Result<Option<Found>, StoreError> {
    let found = connection
        .prepare_cached(
            "SELECT key, kind, entries, dropped FROM sessions WHERE owner = ?1 AND id = ?2",
        )?
        .query_row([owner, id.as_str()], |row| {
            let kind: String = row.get(1)?;
            let entries: i64 = row.get(2)?;
            let dropped: i64 = row.get(3)?;
            Ok((row.get(0)?, kind, entries, dropped))
        })
        .optional()?;

    let Some((key, kind, entries, dropped)) = found else {
        return Ok(None);
    };
    let unknown = || StoreError::new(format_args!("the session `{id}` is of an unknown kind"));
    Ok(Some(Found {
        key,
        kind: SessionKind::named(&kind).ok_or_else(unknown)?,
        entries: entries.unsigned_abs(),
        dropped: dropped.unsigned_abs(),
    }))
}

/// Returns whether the session has the entry that a position is after, and the next ones.
fn is_there(connection: &Connection, row: &Found, position: Position) -> Result<bool, StoreError> {
    let kept = row.dropped..=row.entries;
    if position.session != row.key || !kept.contains(&position.entries) {
        return Ok(false);
    }
    let Some(stamp) = position.stamp else {
        return Ok(true);
    };

    let found = connection
        .prepare_cached("SELECT stamp FROM entries WHERE session = ?1 AND number = ?2")?
        .query_row([row.key, signed(position.entries)], |row| row.get(0))
        .optional()?;
    Ok(found == Some(stamp))
}

fn anew(connection: &Connection, row: &Found) -> Result<Start, StoreError> {
    let base = connection
        .prepare_cached("SELECT base FROM sessions WHERE key = ?1")?
        .query_row([row.key], |row| row.get(0))?;
    let position = Position {
        entries: row.dropped,
        ..Position::start_of(row.key)
    };
    Ok(Start::Anew { position, base })
}

fn page(connection: &Connection, session: i64, after: u64) -> Result<Vec<Entry>, StoreError> {
    let mut query = connection.prepare_cached(
        "SELECT number, stamp, body FROM entries WHERE session = ?1 AND number > ?2 ORDER BY number",
    )?;
    let mut rows = query.query(params![session, signed(after)])?;

    let mut entries = Vec::new();
    let mut bytes = 0_usize;
    let mut number = signed(after);
    while bytes < PAGE
        && let Some(row) = rows.next()?
    {
        number = number.saturating_add(1);
        if row.get::<_, i64>(0)? != number {
            let message = format_args!("entry {number} of the session is missing");
            return Err(StoreError::new(message));
        }

        let entry = Entry {
            stamp: row.get(1)?,
            body: row.get(2)?,
        };
        bytes = bytes.saturating_add(entry.body.len());
        entries.push(entry);
    }
    Ok(entries)
}

/// Returns the newest entries, in order.
pub(super) fn newest(
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

/// Appends entries, and returns the new position. Returns `None` if the session isn't at the
/// position.
pub(super) fn append(
    connection: &Connection,
    position: Position,
    additions: &[Addition],
) -> Result<Option<Position>, StoreError> {
    let now = now();
    if !advance(connection, position, additions, now)? {
        return Ok(None);
    }

    let end = insert(connection, position, additions, now)?;
    for addition in additions {
        if let Some(replaced) = &addition.change.replaced {
            replace_text(connection, position.session, replaced)?;
        }
    }

    let mut shortened = additions.iter().rev();
    if let Some(shortened) = shortened.find_map(|addition| addition.shortened.as_ref()) {
        shorten(connection, position.session, shortened)?;
    }
    Ok(Some(end))
}

/// Adds rows after a position, and returns the new position.
fn insert(
    connection: &Connection,
    mut position: Position,
    additions: &[Addition],
    now: i64,
) -> Result<Position, StoreError> {
    let mut insert =
        connection.prepare_cached("INSERT INTO entries VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?;

    for addition in additions {
        position = position.next(addition.stamp);
        insert.execute(params![
            position.session,
            signed(position.entries),
            addition.stamp,
            now,
            addition.body,
            addition.change.text.to_lowercase()
        ])?;
    }
    Ok(position)
}

/// Adds to the number of entries. Returns whether the session was at the position.
fn advance(
    connection: &Connection,
    position: Position,
    additions: &[Addition],
    now: i64,
) -> Result<bool, StoreError> {
    let changes = || additions.iter().rev().map(|addition| &addition.change);
    let title = changes().find_map(|change| change.title.as_deref());
    let strategy = changes().find_map(|change| change.strategy.as_deref());
    let is_complete = changes().find_map(|change| change.is_complete);

    let advanced = connection
        .prepare_cached(
            "UPDATE sessions SET entries = entries + ?8, updated = ?3,
                title = coalesce(?4, title), strategy = coalesce(?5, strategy),
                is_complete = coalesce(?6, is_complete)
            WHERE key = ?1 AND entries = ?2 AND (?7 IS NULL OR ?7 =
                (SELECT stamp FROM entries WHERE session = ?1 AND number = ?2))",
        )?
        .execute(params![
            position.session,
            signed(position.entries),
            now,
            title,
            strategy,
            is_complete,
            position.stamp,
            signed_size(additions.len())
        ])?;
    Ok(advanced > 0)
}

fn replace_text(
    connection: &Connection,
    session: i64,
    replaced: &Replaced,
) -> Result<(), StoreError> {
    let entry = signed(replaced.entry);
    let words = replaced.text.to_lowercase();
    connection
        .prepare_cached("UPDATE entries SET words = ?3 WHERE session = ?1 AND number = ?2")?
        .execute(params![session, entry, words])?;
    Ok(())
}

fn shorten(connection: &Connection, session: i64, shortened: &Shortened) -> Result<(), StoreError> {
    let dropped = signed(shortened.dropped);
    connection
        .prepare_cached("DELETE FROM entries WHERE session = ?1 AND number <= ?2")?
        .execute([session, dropped])?;
    connection
        .prepare_cached("UPDATE sessions SET dropped = ?2, base = ?3 WHERE key = ?1")?
        .execute(params![session, dropped, shortened.base])?;
    Ok(())
}
