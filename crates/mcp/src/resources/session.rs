//! Sessions as texts, drawings and data.

use cogwork_tools::schemars::{self, JsonSchema};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::sequential;
use crate::shown::{markdown, mermaid};
use crate::store::{Owner, SessionHeader, SessionKind, SessionStore, StoreError};
use crate::{guided, solve, think};

/// The form in which a session or a strategy is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SessionFormat {
    // A text for people and models, in which no thought can become anything but text.
    Markdown,
    // A flowchart, in which no thought can leave its node.
    Mermaid,
    // Everything that is stored.
    Json,
}

impl SessionFormat {
    pub(crate) const ALL: [Self; 3] = [Self::Markdown, Self::Mermaid, Self::Json];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Markdown => "markdown",
            Self::Mermaid => "mermaid",
            Self::Json => "json",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.as_str() == name)
    }

    /// Returns the end of a URI.
    pub(crate) fn suffix(self) -> &'static str {
        match self {
            Self::Markdown => "",
            Self::Mermaid => "/mermaid",
            Self::Json => "/json",
        }
    }

    pub(crate) fn mime_type(self) -> &'static str {
        match self {
            Self::Markdown => "text/markdown",
            // There is no registered type for these drawings.
            Self::Mermaid => "text/plain",
            Self::Json => "application/json",
        }
    }
}

/// Returns a session as a text, which is bounded and safe to display.
pub(super) async fn render(
    store: &SessionStore,
    owner: &Owner,
    session: &SessionHeader,
    format: SessionFormat,
) -> Result<String, StoreError> {
    if format == SessionFormat::Json {
        return json(store, owner, session).await;
    }

    let shown = match session.kind {
        SessionKind::Sequential => sequential::shown(store, owner, session).await,
        SessionKind::Think => think::shown(store, owner, session).await,
        SessionKind::Guided => guided::shown(store, owner, session).await,
        SessionKind::Solve => solve::shown(store, owner, session).await,
    };
    shown.map(|shown| match format {
        SessionFormat::Mermaid => mermaid::session(&shown),
        SessionFormat::Markdown | SessionFormat::Json => markdown::session(&shown),
    })
}

/// The newest entries of a session.
pub(crate) struct Newest<E> {
    pub(crate) entries: Vec<E>,
    /// The number of older ones, which were dropped or are left out.
    pub(crate) older: u64,
}

/// Returns the newest entries of a session.
pub(crate) async fn newest<E: DeserializeOwned>(
    store: &SessionStore,
    owner: &Owner,
    session: &SessionHeader,
) -> Result<Newest<E>, StoreError> {
    let max_bytes = store.limits().export_bytes;
    let bodies = store.newest_entries(owner, &session.id, max_bytes).await?;

    let read = u64::try_from(bodies.len()).unwrap_or(u64::MAX);
    let entries = bodies.iter().map(|body| serde_json::from_str(body));
    let entries: Result<_, _> = entries.collect();
    let entries = entries.map_err(|error| {
        let id = &session.id;
        StoreError::new(format_args!("an entry of the session `{id}`: {error}"))
    })?;

    let older = session.entries.saturating_sub(read);
    Ok(Newest { entries, older })
}

/// A session in JSON.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Written<'a> {
    #[serde(flatten)]
    session: &'a SessionHeader,
    older_entries: u64,
    entries: &'a [Box<RawValue>],
}

/// Returns everything that is stored.
async fn json(
    store: &SessionStore,
    owner: &Owner,
    session: &SessionHeader,
) -> Result<String, StoreError> {
    let newest = newest::<Box<RawValue>>(store, owner, session).await?;
    let written = Written {
        session,
        older_entries: newest.older,
        entries: &newest.entries,
    };
    serde_json::to_string(&written).map_err(StoreError::new)
}
