//! Lists of sessions, and searches.

use cogwork_tools::schemars::{self, JsonSchema};
use rusqlite::{Connection, Row, params};
use serde::Deserialize;

use super::{SessionHeader, SessionId, SessionKind, StoreError};

/// The columns of a header.
pub(super) const COLUMNS: &str =
    "id, kind, title, strategy, is_complete, entries, created, updated, key";

/// Selects sessions of one owner.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filter {
    pub(crate) kind: Option<SessionKind>,
    pub(crate) strategy: Option<String>,
    pub(crate) is_complete: Option<bool>,
    /// Only sessions whose title and entries contain all of these words.
    pub(crate) words: Vec<String>,
    /// Only sessions whose id starts with this.
    pub(crate) id_prefix: Option<String>,
    /// Only sessions whose key is less, which were created before.
    pub(crate) before: Option<i64>,
    pub(crate) order: Order,
    pub(crate) limit: usize,
    pub(crate) offset: usize,
}

/// The order of a list of sessions: the last used, the last created, the one with the most entries,
/// or the one with the longest time between its first and its last entry first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Order {
    #[default]
    Updated,
    Created,
    Entries,
    Duration,
}

/// The conditions of a filter. A word is found in the title or in an entry.
const CONDITIONS: &str = "owner = ?1
    AND (?2 IS NULL OR kind = ?2)
    AND (?3 IS NULL OR strategy = ?3)
    AND (?4 IS NULL OR is_complete = ?4)
    AND (?5 IS NULL OR substr(id, 1, length(?5)) = ?5)
    AND (?6 IS NULL OR key < ?6)
    AND NOT EXISTS (SELECT 1 FROM json_each(?7) AS word
        WHERE instr(sessions.words, word.value) = 0 AND NOT EXISTS (SELECT 1 FROM entries
            WHERE entries.session = sessions.key AND instr(entries.words, word.value) > 0))";

/// Returns the selected sessions.
pub(super) fn select(
    connection: &Connection,
    owner: &str,
    filter: &Filter,
) -> Result<Vec<SessionHeader>, StoreError> {
    let order = match filter.order {
        Order::Updated => "updated DESC",
        Order::Created => "key DESC",
        Order::Entries => "entries DESC",
        Order::Duration => "updated - created DESC",
    };
    let sql = format!(
        "SELECT {COLUMNS} FROM sessions WHERE {CONDITIONS}
        ORDER BY {order}, key DESC LIMIT ?8 OFFSET ?9"
    );
    let words: Vec<_> = filter
        .words
        .iter()
        .map(|word| word.to_lowercase())
        .collect();

    let mut query = connection.prepare_cached(&sql)?;
    let parameters = params![
        owner,
        filter.kind.map(SessionKind::as_str),
        filter.strategy,
        filter.is_complete,
        filter.id_prefix,
        filter.before,
        serde_json::json!(words).to_string(),
        signed(filter.limit),
        signed(filter.offset)
    ];
    let rows = query.query_map(parameters, header_of)?;
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
        key: row.get(8)?,
    })
}

/// Returns a number for a column.
pub(super) fn signed(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}
