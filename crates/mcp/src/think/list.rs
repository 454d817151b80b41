//! Lists of sessions, and searches.

use cogwork_strategies::{Strategies, Strategy};
use cogwork_text::{Name, OneLine};
use serde_json::{Value, json};

use super::given;
use super::page::size;
use crate::arguments::{ArgumentError, Arguments};
use crate::store::{Filter, Order, SessionHeader, SessionKind};

/// The maximum number of sessions in a list.
const MOST: u32 = 100;

/// The number of sessions in a list by default.
const LIMIT: u32 = 10;

/// The maximum number of bytes of a query.
const QUERY: usize = 1_024;

/// The maximum number of words of a query.
const WORDS: usize = 16;

/// The maximum number of characters of a title in a list.
const TITLE: usize = 200;

const ORDERS: [(&str, Order); 4] = [
    ("updated", Order::Updated),
    ("created", Order::Created),
    ("entries", Order::Entries),
    ("duration", Order::Duration),
];

const STATUSES: [(&str, bool); 6] = [
    ("open", false),
    ("complete", true),
    // Other usual names.
    ("completed", true),
    ("incomplete", false),
    ("in_progress", false),
    ("active", false),
];

/// Reads which sessions to list. A search needs a query.
pub(crate) fn filter(
    arguments: &mut Arguments,
    strategies: &Strategies,
    is_search: bool,
) -> Result<Filter, ArgumentError> {
    arguments.alias("completionStatus", "status");
    let strategy = given::strategy(arguments, strategies)?;
    let limit = arguments.integer("limit", 1..=MOST)?.unwrap_or(LIMIT);
    let offset = arguments.integer("offset", 0..=u32::MAX)?.unwrap_or(0);

    Ok(Filter {
        kinds: vec![SessionKind::Think],
        strategy: strategy.as_ref().map(Strategy::name).map(str::to_owned),
        is_complete: arguments.choice("status", &STATUSES)?,
        words: words(arguments, is_search)?,
        order: arguments.choice("sortBy", &ORDERS)?.unwrap_or_default(),
        limit: size(limit),
        offset: size(offset),
        ..Filter::default()
    })
}

fn words(arguments: &mut Arguments, is_search: bool) -> Result<Vec<String>, ArgumentError> {
    let query = arguments.text("query", QUERY)?;
    let words = query.iter().flat_map(|query| query.split_whitespace());
    let words: Vec<String> = words.map(str::to_owned).collect();

    let expected = format_args!("1 to {WORDS} words").to_string();
    if is_search && words.is_empty() {
        return Err(arguments.missing("query", expected));
    }
    if words.len() > WORDS {
        let query = Value::String(query.unwrap_or_default());
        return Err(arguments.fault("query", expected, &query));
    }
    Ok(words)
}

/// Sessions that were selected by a filter.
pub(crate) struct SessionList {
    pub(crate) sessions: Vec<SessionHeader>,
    /// The offset of the next ones, if there are more.
    pub(crate) next_offset: Option<usize>,
}

impl SessionList {
    pub(crate) fn data(&self) -> Value {
        let sessions = self.sessions.iter().map(|header| {
            json!({
                "session": header.id,
                "purpose": header.title,
                "strategy": header.strategy,
                "status": status(header),
                "entries": header.entries,
                "created": header.created,
                "updated": header.updated,
            })
        });
        let sessions: Vec<Value> = sessions.collect();

        let mut data = json!({"sessions": sessions});
        if let (Some(next), Some(data)) = (self.next_offset, data.as_object_mut()) {
            data.insert("nextOffset".to_owned(), next.into());
        }
        data
    }

    pub(crate) fn text(&self) -> String {
        if self.sessions.is_empty() {
            return "There are no such sessions.".to_owned();
        }

        let lines = self.sessions.iter().map(|header| {
            let id = &header.id;
            let strategy = Name(&header.strategy);
            let status = status(header);
            let title = OneLine::new(&header.title).with_max_chars(TITLE);
            format!("- `{id}` ({strategy}, {status}): {title}")
        });
        let mut lines: Vec<String> = lines.collect();
        lines.extend(
            self.next_offset
                .map(|next| format!("More from the offset {next}.")),
        );
        lines.join("\n")
    }
}

fn status(header: &SessionHeader) -> &'static str {
    if header.is_complete {
        "complete"
    } else {
        "open"
    }
}
