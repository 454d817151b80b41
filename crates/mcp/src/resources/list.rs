//! Listing resources.

use cogwork_strategies::Strategy;
use cogwork_text::OneLine;
use rmcp::ErrorData;
use rmcp::model::{
    ListResourceTemplatesResult, ListResourcesResult, PaginatedRequestParams, Resource,
    ResourceTemplate,
};

use super::{Address, SessionFormat};
use crate::store::{Filter, Order, Owner, SessionHeader, SessionStore};

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
    result.next_cursor = last.map(|session| session.key.to_string());
    Ok(result)
}

fn strategy(strategy: &Strategy) -> Resource {
    let name = strategy.name();
    let address = Address::Strategy(name.to_owned(), SessionFormat::Markdown);
    Resource::new(address.to_string(), name)
        .with_title(format!("Strategy {name}"))
        .with_description(strategy.description())
        .with_mime_type(SessionFormat::Markdown.mime_type())
}

fn session(session: &SessionHeader) -> Resource {
    let title = OneLine::new(&session.title).with_max_chars(TITLE);
    let kind = session.kind.as_str();
    let entries = session.entries;
    let state = session.status();

    let address = Address::session(session.id.clone());
    Resource::new(address.to_string(), session.id.as_str())
        .with_title(title.to_string())
        .with_description(format!(
            "A session of `{kind}`, {state}, with {entries} entries"
        ))
        .with_mime_type(SessionFormat::Markdown.mime_type())
}

/// The URI, the name, the title and the description of each template.
const TEMPLATES: [[&str; 4]; 5] = [
    [
        "cogwork://sessions/{id}",
        "session",
        "Session",
        "The thoughts of a session as Markdown",
    ],
    [
        "cogwork://sessions/{id}/{format}",
        "session-as",
        "Session in a format",
        "The thoughts of a session as `markdown`, as a `mermaid` flowchart, or as `json`",
    ],
    [
        "cogwork://strategies/{name}",
        "strategy",
        "Strategy",
        "The stages of a strategy as Markdown",
    ],
    [
        "cogwork://strategies/{name}/{format}",
        "strategy-as",
        "Strategy in a format",
        "The stages of a strategy as `markdown`, as a `mermaid` flowchart, or as `json`",
    ],
    [
        "cogwork://strategies/{name}/stages/{stage}",
        "stage",
        "Stage of a strategy",
        "The prompt and the parameters of a stage, and what may follow",
    ],
];

/// Lists the templates of URIs.
pub(crate) fn templates() -> ListResourceTemplatesResult {
    let templates = TEMPLATES.map(|[uri, name, title, description]| {
        let template = ResourceTemplate::new(uri, name)
            .with_title(title)
            .with_description(description);
        if uri.ends_with("{format}") {
            return template;
        }
        template.with_mime_type(SessionFormat::Markdown.mime_type())
    });
    ListResourceTemplatesResult::with_all_items(templates.into())
}

/// Reads the cursor of a request: the key of the last session on the page before.
fn before(request: Option<PaginatedRequestParams>) -> Result<Option<i64>, ErrorData> {
    let cursor = request.and_then(|request| request.cursor);
    let key = cursor.map(|cursor| cursor.parse()).transpose();
    key.map_err(|_| {
        let message =
            "the cursor isn't one of this list; leave it out to begin with the first page";
        ErrorData::invalid_params(message, None)
    })
}
