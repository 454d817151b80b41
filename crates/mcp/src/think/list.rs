//! Lists of sessions, and searches.

use cogwork_text::{Name, OneLine};
use cogwork_tools::schemars::{self, JsonSchema};
use rmcp::model::CallToolResponse;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::page::size;
use super::sessions::ThinkSessions;
use crate::arguments;
use crate::connection::Connection;
use crate::store::{Filter, Order, SessionHeader, SessionKind};
use crate::tool::{ToolFailure, described};

/// The number of sessions in a list by default.
const LIMIT: u32 = 10;

/// The maximum number of words of a query.
const WORDS: usize = 16;

/// The maximum number of characters of a title in a list.
const TITLE: usize = 200;

/// Which sessions to list.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListArguments {
    /// Words that all occur in the purpose or the thoughts of a session.
    query: Option<String>,
    strategy: Option<String>,
    /// Whether a branch of the session has ended.
    status: Option<Status>,
    /// The order of a list. The default is `updated`.
    sort_by: Option<Order>,
    #[schemars(range(min = 1, max = 100))]
    limit: Option<u32>,
    offset: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    Open,
    Complete,
}

/// Lists sessions. A search needs a query.
pub(super) async fn listed(
    sessions: &ThinkSessions,
    connection: &Connection,
    arguments: ListArguments,
    is_search: bool,
) -> Result<CallToolResponse, ToolFailure> {
    let strategy = arguments.strategy.as_deref();
    let strategy = strategy.map(|name| sessions.strategy(name)).transpose()?;
    let limit = size(arguments.limit.unwrap_or(LIMIT));
    let offset = size(arguments.offset.unwrap_or(0));
    let filter = Filter {
        kind: Some(SessionKind::Think),
        strategy: strategy.map(|strategy| strategy.name().to_owned()),
        is_complete: arguments.status.map(|status| status == Status::Complete),
        words: words(arguments.query, is_search)?,
        order: arguments.sort_by.unwrap_or_default(),
        limit: limit.saturating_add(1),
        offset,
        ..Filter::default()
    };

    let mut found = sessions.0.list(connection.owner(), filter).await?;
    let has_more = found.len() > limit;
    found.truncate(limit);

    let next_offset = has_more.then(|| offset.saturating_add(limit));
    let list: Vec<_> = found.iter().map(data_of).collect();
    let mut data = Map::from_iter([("sessions".to_owned(), list.into())]);
    if let Some(next) = next_offset {
        data.insert("nextOffset".to_owned(), next.into());
    }
    Ok(described(text_of(&found, next_offset), Value::Object(data)))
}

fn words(query: Option<String>, is_search: bool) -> Result<Vec<String>, ToolFailure> {
    let query = query.unwrap_or_default();
    let words: Vec<String> = query.split_whitespace().map(str::to_owned).collect();

    let expected = format!("1 to {WORDS} words");
    if is_search && words.is_empty() {
        return Err(arguments::missing("query", expected));
    }
    if words.len() > WORDS {
        return Err(arguments::wrong("query", expected, &query.into()));
    }
    Ok(words)
}

fn data_of(header: &SessionHeader) -> Value {
    json!({
        "session": header.id,
        "purpose": header.title,
        "strategy": header.strategy,
        "status": header.status(),
        "entries": header.entries,
        "created": header.created,
        "updated": header.updated,
    })
}

fn text_of(sessions: &[SessionHeader], next_offset: Option<usize>) -> String {
    if sessions.is_empty() {
        return "There are no such sessions.".to_owned();
    }

    let lines = sessions.iter().map(|header| {
        let id = &header.id;
        let strategy = Name(&header.strategy);
        let status = header.status();
        let title = OneLine::new(&header.title).with_max_chars(TITLE);
        format!("- `{id}` ({strategy}, {status}): {title}")
    });
    let more = next_offset.map(|next| format!("More from the offset {next}."));
    lines.chain(more).collect::<Vec<_>>().join("\n")
}
