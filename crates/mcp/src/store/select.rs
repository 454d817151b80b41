//! Lists of sessions, and searches.

use rusqlite::{Connection, Row, ToSql};

use super::{SessionHeader, SessionId, SessionKind, StoreError};

/// The columns of a header.
pub(super) const COLUMNS: &str =
    "id, kind, title, strategy, is_complete, entries, created, updated";

/// Selects sessions of one owner.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filter {
    /// Only sessions of these kinds; all if empty.
    pub(crate) kinds: Vec<SessionKind>,
    pub(crate) strategy: Option<String>,
    pub(crate) is_complete: Option<bool>,
    /// Only sessions whose title and entries contain all of these words.
    pub(crate) words: Vec<String>,
    /// Only sessions whose id starts with this.
    pub(crate) id_prefix: Option<String>,
    /// Only sessions that were created before this one.
    pub(crate) before: Option<Before>,
    pub(crate) order: Order,
    pub(crate) limit: usize,
    pub(crate) offset: usize,
}

/// A session in the order of creation. It may have been removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Before {
    /// In milliseconds since 1970.
    pub(crate) created: i64,
    pub(crate) id: SessionId,
}

/// The order of a list of sessions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Order {
    /// The last used first.
    #[default]
    Updated,
    /// The last created first.
    Created,
    /// The one with the most entries first.
    Entries,
    /// The one with the longest time between its first and its last entry first.
    Duration,
}

/// Conditions, and the values of their parameters.
struct Query {
    sql: String,
    values: Vec<Box<dyn ToSql>>,
}

impl Query {
    fn and(&mut self, condition: &str, values: impl IntoIterator<Item = Box<dyn ToSql>>) {
        self.sql.push_str(" AND ");
        self.sql.push_str(condition);
        self.values.extend(values);
    }
}

fn value(value: impl ToSql + 'static) -> Box<dyn ToSql> {
    Box::new(value)
}

/// Returns the selected sessions.
pub(super) fn select(
    connection: &Connection,
    owner: &str,
    filter: Filter,
) -> Result<Vec<SessionHeader>, StoreError> {
    let mut query = Query {
        sql: format!("SELECT {COLUMNS} FROM sessions WHERE owner = ?"),
        values: vec![value(owner.to_owned())],
    };

    if !filter.kinds.is_empty() {
        let marks = vec!["?"; filter.kinds.len()].join(", ");
        let kinds = filter.kinds.iter().map(|kind| value(kind.as_str()));
        query.and(&format!("kind IN ({marks})"), kinds);
    }
    if let Some(strategy) = filter.strategy {
        query.and("strategy = ?", [value(strategy)]);
    }
    if let Some(is_complete) = filter.is_complete {
        query.and("is_complete = ?", [value(is_complete)]);
    }
    for word in filter.words {
        let word = word.to_lowercase();
        query.and(
            "(instr(words, ?) > 0 OR EXISTS (SELECT 1 FROM entries
                WHERE entries.session = sessions.key AND instr(entries.words, ?) > 0))",
            [value(word.clone()), value(word)],
        );
    }
    if let Some(prefix) = filter.id_prefix {
        query.and(
            "substr(id, 1, length(?)) = ?",
            [value(prefix.clone()), value(prefix)],
        );
    }
    if let Some(Before { created, id }) = filter.before {
        // Of those that were created in the same millisecond, the keys give the order.
        query.and(
            "(created < ? OR (created = ? AND key < coalesce(
                (SELECT key FROM sessions WHERE owner = ? AND id = ?), 9223372036854775807)))",
            [
                value(created),
                value(created),
                value(owner.to_owned()),
                value(id.to_string()),
            ],
        );
    }

    let order = match filter.order {
        Order::Updated => "updated DESC",
        Order::Created => "created DESC",
        Order::Entries => "entries DESC",
        Order::Duration => "updated - created DESC",
    };
    let Query { mut sql, values } = query;
    sql.push_str(&format!(" ORDER BY {order}, key DESC LIMIT ? OFFSET ?"));
    let numbers = [filter.limit, filter.offset].map(|number| value(signed(number)));
    let values = values.into_iter().chain(numbers);

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

/// Returns a number for a column.
pub(super) fn signed(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}
