//! Headers of sessions.

use rusqlite::{Connection, Row, ToSql};

use super::numbers::signed_size;
use crate::store::{Filter, Order, SessionHeader, SessionId, SessionKind, StoreError};

/// The columns of a header.
pub(super) const COLUMNS: &str =
    "id, kind, title, strategy, is_complete, entries, created, updated";

/// Returns the selected sessions, whatever their words.
pub(super) fn select(
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
    if let Some(prefix) = &filter.id_prefix {
        sql.push_str(" AND substr(id, 1, length(?)) = ?");
        values.push(Box::new(prefix.clone()));
        values.push(Box::new(prefix.clone()));
    }
    if let Some(before) = &filter.before {
        // Of those that were created in the same millisecond, the keys give the order.
        sql.push_str(
            " AND (created < ? OR (created = ? AND key < coalesce(
                (SELECT key FROM sessions WHERE owner = ? AND id = ?), 9223372036854775807)))",
        );
        values.push(Box::new(before.created));
        values.push(Box::new(before.created));
        values.push(Box::new(owner.to_owned()));
        values.push(Box::new(before.id.as_str().to_owned()));
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

pub(super) fn header_of(row: &Row<'_>) -> rusqlite::Result<SessionHeader> {
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
