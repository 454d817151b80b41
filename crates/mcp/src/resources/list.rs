//! Listing resources.

use cogwork_strategies::Strategy;
use cogwork_text::OneLine;
use rmcp::ErrorData;
use rmcp::model::{
    ListResourceTemplatesResult, ListResourcesResult, PaginatedRequestParams, Resource,
    ResourceTemplate,
};

use super::{Address, SessionFormat};
use crate::store::{Before, Filter, Order, Owner, SessionHeader, SessionId, SessionStore};

/// The number of sessions on a page.
const PAGE: usize = 100;

/// The maximum number of characters of a title.
const TITLE: usize = 200;

/// Lists the strategies, and a page of the sessions of an owner from the newest to the oldest.
pub(crate) async fn list(
    store: &SessionStore,
    owner: &Owner,
    request: Option<PaginatedRequestParams>,
) -> Result<ListResourcesResult, ErrorData> {
    let before = before(request)?;
    let mut resources = Vec::new();
    if before.is_none() {
        resources.extend(store.strategies().iter().map(strategy));
    }

    let filter = Filter {
        order: Order::Created,
        before,
        limit: PAGE.saturating_add(1),
        ..Filter::default()
    };
    let sessions = store.list(owner, filter).await;
    let sessions = sessions.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;

    let page = sessions.get(..PAGE).unwrap_or(&sessions);
    resources.extend(page.iter().map(session));

    let is_last = page.len() == sessions.len();
    let last = page.last().filter(|_| !is_last);
    let mut result = ListResourcesResult::with_all_items(resources);
    result.next_cursor = last.map(cursor);
    Ok(result)
}

fn strategy(strategy: &Strategy) -> Resource {
    let name = strategy.name();
    Resource::new(Address::strategy(name).to_string(), name)
        .with_title(format!("Strategy {name}"))
        .with_description(strategy.description())
        .with_mime_type(SessionFormat::Markdown.mime_type())
}

fn session(session: &SessionHeader) -> Resource {
    let title = OneLine::new(&session.title).with_max_chars(TITLE);
    let kind = session.kind.as_str();
    let entries = session.entries;
    let state = if session.is_complete {
        "complete"
    } else {
        "open"
    };

    let address = Address::session(session.id.clone());
    Resource::new(address.to_string(), session.id.as_str())
        .with_title(title.to_string())
        .with_description(format!(
            "A session of `{kind}`, {state}, with {entries} entries"
        ))
        .with_mime_type(SessionFormat::Markdown.mime_type())
}

/// Lists the templates of URIs.
pub(crate) fn templates() -> ListResourceTemplatesResult {
    let template = |uri, name, title, description| {
        ResourceTemplate::new(uri, name)
            .with_title(title)
            .with_description(description)
    };
    let markdown = SessionFormat::Markdown.mime_type();

    ListResourceTemplatesResult::with_all_items(vec![
        template(
            "cogwork://sessions/{id}",
            "session",
            "Session",
            "The thoughts of a session as Markdown",
        )
        .with_mime_type(markdown),
        template(
            "cogwork://sessions/{id}/{format}",
            "session-as",
            "Session in a format",
            "The thoughts of a session as `markdown`, as a `mermaid` flowchart, or as `json`",
        ),
        template(
            "cogwork://strategies/{name}",
            "strategy",
            "Strategy",
            "The stages of a strategy as Markdown",
        )
        .with_mime_type(markdown),
        template(
            "cogwork://strategies/{name}/{format}",
            "strategy-as",
            "Strategy in a format",
            "The stages of a strategy as `markdown`, as a `mermaid` flowchart, or as `json`",
        ),
        template(
            "cogwork://strategies/{name}/stages/{stage}",
            "stage",
            "Stage of a strategy",
            "The prompt and the parameters of a stage, and what may follow",
        )
        .with_mime_type(markdown),
    ])
}

/// The maximum length of a cursor, in bytes.
const MAX_BYTES: usize = 200;

/// Returns the cursor of the sessions that were created before this one.
pub(super) fn cursor(session: &SessionHeader) -> String {
    format!("{}.{}", session.created, session.id)
}

/// Reads the cursor of a request.
pub(super) fn before(request: Option<PaginatedRequestParams>) -> Result<Option<Before>, ErrorData> {
    let Some(cursor) = request.and_then(|request| request.cursor) else {
        return Ok(None);
    };

    read_cursor(&cursor).map(Some).ok_or_else(|| {
        let message =
            "the cursor isn't one of this list; leave it out to begin with the first page";
        ErrorData::invalid_params(message, None)
    })
}

fn read_cursor(cursor: &str) -> Option<Before> {
    if cursor.len() > MAX_BYTES {
        return None;
    }

    let (created, id) = cursor.split_once('.')?;
    Some(Before {
        created: created.parse().ok()?,
        id: SessionId::named(id)?,
    })
}
