//! Sessions and strategies as resources, as Markdown and as JSON.

use std::collections::BTreeMap;

use cogwork_strategies::{Stage, Strategy};
use cogwork_text::{Name, OneLine};
use cogwork_tools::schemars::{self, JsonSchema};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use rmcp::ErrorData;
use rmcp::model::{
    ListResourceTemplatesResult, ListResourcesResult, PaginatedRequestParams, ReadResourceResult,
    Resource, ResourceContents, ResourceTemplate,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::failure::{Failure, on_own_thread};
use crate::markdown::{BYTES, code};
use crate::store::{Owner, SessionHeader, SessionId, SessionKind, SessionStore, Stored};
use crate::{guided, sequential, solve, think};

const SCHEME: &str = "cogwork://";

/// The number of sessions on a page, and in a list for a model.
const PAGE: usize = 100;

/// The maximum number of characters of a title, and of a URI in an error.
const TITLE: usize = 200;

/// What isn't encoded in a part of a path.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b':');

// The form in which a session or a strategy is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Format {
    // A text for people and models, in which no thought can become anything but text.
    #[default]
    Markdown,
    // Everything that is stored.
    Json,
}

impl Format {
    fn mime_type(self) -> &'static str {
        match self {
            Self::Markdown => "text/markdown",
            Self::Json => "application/json",
        }
    }
}

/// What a URI refers to.
enum Target {
    Session(SessionId),
    Strategy(String),
}

/// Reads a URI. Parts of the path may be percent-encoded.
fn target(uri: &str) -> Option<(Target, Format)> {
    // Split before decoding, since an encoded slash belongs to a name.
    let parts = uri.strip_prefix(SCHEME)?.split('/');
    let parts = parts.map(|part| percent_decode_str(part).decode_utf8().ok());
    let parts: Vec<_> = parts.collect::<Option<_>>()?;
    let parts: Vec<&str> = parts.iter().map(AsRef::as_ref).collect();

    let (kind, name, format) = match parts[..] {
        [kind, name] => (kind, name, Format::Markdown),
        [kind, name, "json"] => (kind, name, Format::Json),
        _ => return None,
    };
    let target = match kind {
        "sessions" => Target::Session(SessionId::try_from(name.to_owned()).ok()?),
        "strategies" => Target::Strategy(name.to_owned()),
        _ => return None,
    };
    Some((target, format))
}

/// Returns the URI of the text of a session.
pub(crate) fn session_uri(id: &SessionId) -> String {
    uri("sessions", id.as_str())
}

fn uri(kind: &str, name: &str) -> String {
    format!("{SCHEME}{kind}/{}", utf8_percent_encode(name, PLAIN))
}

/// Lists the strategies, and a page of the sessions of an owner from the newest to the oldest.
pub(crate) async fn list(
    store: &SessionStore,
    owner: &Owner,
    request: Option<PaginatedRequestParams>,
) -> Result<ListResourcesResult, ErrorData> {
    let cursor = request.and_then(|request| request.cursor);
    // The key of the last session on the page before.
    let before = cursor.map(|cursor| cursor.parse()).transpose();
    let before = before.map_err(|_| {
        let message =
            "the cursor isn't one of this list; leave it out to begin with the first page";
        ErrorData::invalid_params(message, None)
    })?;

    let mut resources = Vec::new();
    // Strategies are few and come once, on the first page.
    if before.is_none() {
        resources.extend(store.strategies.iter().map(strategy));
    }
    // One more than is shown, to know whether another page follows.
    let sessions = store.list(owner, before, PAGE.saturating_add(1)).await;
    let sessions = sessions.map_err(|error| internal(&error))?;
    let page = sessions.get(..PAGE).unwrap_or(&sessions);
    resources.extend(page.iter().map(session));

    let has_more = page.len() < sessions.len();
    let last = page.last().filter(|_| has_more);
    let mut result = ListResourcesResult::with_all_items(resources);
    result.next_cursor = last.map(|session| session.key.to_string());
    Ok(result)
}

fn strategy(strategy: &Strategy) -> Resource {
    let name = strategy.name();
    Resource::new(uri("strategies", name), name)
        .with_title(format!("Strategy {name}"))
        .with_description(strategy.description())
        .with_mime_type(Format::Markdown.mime_type())
}

fn session(session: &SessionHeader) -> Resource {
    let title = OneLine::new(&session.title).with_max_chars(TITLE);
    let kind = session.kind.as_str();
    let status = session.status();
    Resource::new(session_uri(&session.id), session.id.as_str())
        .with_title(title.to_string())
        .with_description(format!("A session of `{kind}`, {status}"))
        .with_mime_type(Format::Markdown.mime_type())
}

/// Lists the newest sessions of all tools, for a model.
pub(crate) async fn list_text(store: &SessionStore, owner: &Owner) -> Result<String, Failure> {
    let sessions = store.list(owner, None, PAGE).await?;
    if sessions.is_empty() {
        return Ok("There are no sessions.".to_owned());
    }

    let lines = sessions.iter().map(|header| {
        let id = &header.id;
        let kind = header.kind.as_str();
        let strategy = match header.strategy.as_str() {
            "" => String::new(),
            strategy => format!(", {}", Name(strategy)),
        };
        let status = header.status();
        let title = OneLine::new(&header.title).with_max_chars(TITLE);
        format!("- `{id}` ({kind}{strategy}, {status}): {title}")
    });
    let lines = lines.collect::<Vec<_>>().join("\n");
    let what = match sessions.len() < PAGE {
        true => "Sessions, the newest first".to_owned(),
        false => format!("The newest {PAGE} sessions"),
    };
    Ok(format!("{what}:\n{lines}"))
}

/// Lists the templates of URIs.
pub(crate) fn templates() -> ListResourceTemplatesResult {
    let templates = [
        ("sessions/{id}", "session", "The thoughts of a session"),
        ("sessions/{id}/json", "session-json", "All of a session"),
        ("strategies/{name}", "strategy", "The stages of a strategy"),
        (
            "strategies/{name}/json",
            "strategy-json",
            "The table of a strategy",
        ),
    ];
    let templates = templates.map(|(path, name, description)| {
        let format = if path.ends_with("json") {
            Format::Json
        } else {
            Format::Markdown
        };
        ResourceTemplate::new(format!("{SCHEME}{path}"), name)
            .with_description(description)
            .with_mime_type(format.mime_type())
    });
    ListResourceTemplatesResult::with_all_items(templates.into())
}

/// Returns the contents of a resource.
pub(crate) async fn read(
    store: &SessionStore,
    owner: &Owner,
    uri: String,
) -> Result<ReadResourceResult, ErrorData> {
    let Some((target, format)) = target(&uri) else {
        return Err(not_found(&uri, "expected one of resources/templates/list"));
    };

    let text = match target {
        Target::Session(id) => {
            let stored = store.find(owner, &id).await;
            let stored = stored.map_err(|error| internal(&error))?;
            let stored = stored.ok_or_else(|| not_found(&uri, "there is no such session"))?;
            let rendered = render(stored, format).await;
            rendered.map_err(|error| internal(&error))?
        }
        Target::Strategy(name) => {
            let strategy = store.strategies.get(&name);
            let strategy = strategy.map_err(|error| not_found(&uri, &error.to_string()))?;
            match format {
                Format::Markdown => strategy_text(strategy),
                Format::Json => {
                    // As in a file of tables.
                    let table = BTreeMap::from([(name, strategy)]);
                    let json = serde_json::to_string_pretty(&table);
                    json.map_err(|error| internal(&Failure::new(error)))?
                }
            }
        }
    };
    let contents = ResourceContents::text(text, uri).with_mime_type(format.mime_type());
    Ok(ReadResourceResult::new(vec![contents]))
}

fn internal(error: &Failure) -> ErrorData {
    ErrorData::internal_error(OneLine::new(error).to_string(), None)
}

fn not_found(uri: &str, why: &str) -> ErrorData {
    // The address is whatever a client sent.
    let shown: String = uri.chars().take(TITLE).collect();
    let shown = Name(&shown);
    ErrorData::resource_not_found(format!("there is no resource `{shown}`: {why}"), None)
}

/// Returns a session as a text, which is bounded.
pub(crate) async fn render(stored: Stored, format: Format) -> Result<String, Failure> {
    let rendered = on_own_thread(move || {
        let shown = match (format, stored.header.kind) {
            (Format::Json, _) => return json(&stored),
            (_, SessionKind::Sequential) => sequential::shown(&stored),
            (_, SessionKind::Think) => think::shown(&stored),
            (_, SessionKind::Guided) => guided::shown(&stored),
            (_, SessionKind::Solve) => solve::shown(&stored),
        };
        Ok(shown?.text())
    });
    rendered.await
}

/// A session in JSON.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Written<'a> {
    #[serde(flatten)]
    session: &'a SessionHeader,
    /// The number of entries that were dropped or are left out.
    older_entries: u64,
    entries: &'a [Box<RawValue>],
}

/// Returns what is stored, without the oldest entries if it is too long.
fn json(stored: &Stored) -> Result<String, Failure> {
    let mut entries: Vec<Box<RawValue>> = stored.entries()?;
    let mut bytes = 0_usize;
    let newest = entries.iter().rev().take_while(|entry| {
        bytes = bytes.saturating_add(entry.get().len());
        bytes <= BYTES
    });
    let older = entries.len().saturating_sub(newest.count().max(1));
    let newest = entries.split_off(older);

    let older = u64::try_from(older).unwrap_or(u64::MAX);
    let written = Written {
        session: &stored.header,
        older_entries: stored.dropped().saturating_add(older),
        entries: &newest,
    };
    serde_json::to_string(&written).map_err(Failure::new)
}

/// Returns the stages of a strategy with their prompts, what they need, and what may follow.
pub(crate) fn strategy_text(strategy: &Strategy) -> String {
    let stages: String = strategy.stages().iter().map(stage_text).collect();
    format!(
        "# {}\n\n{}\n\nIt starts in {}.\n{stages}",
        code(strategy.name()),
        OneLine::new(strategy.description()),
        code(&strategy.start().name)
    )
}

fn stage_text(stage: &Stage) -> String {
    let parameters = stage.parameters.iter();
    let parameters: String = parameters
        .map(|(name, parameter)| {
            let description = OneLine::new(&parameter.description);
            let is_optional = parameter.is_optional;
            let required = if is_optional { "optional" } else { "required" };
            format!("- {} ({required}): {description}\n", code(name))
        })
        .collect();

    let next = match stage.next.as_slice() {
        [] => "The strategy ends here.".to_owned(),
        next => {
            let next: Vec<_> = next.iter().map(|name| code(name)).collect();
            format!("Next: {}.", next.join(", "))
        }
    };
    format!(
        "\n## {}\n\n{}\n{parameters}\n{next}\n",
        code(&stage.name),
        OneLine::new(&stage.prompt)
    )
}
