//! Rendering sessions.

use async_trait::async_trait;
use rmcp::ErrorData;

use super::entries::EntriesView;
use super::sequential::SequentialView;
use crate::solve::SolveView;
use crate::store::{Owner, SessionHeader, SessionKind, SessionStore, StoreError};

/// The form in which a session is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionFormat {
    /// A text for people and models, in which no thought can become anything but text.
    Markdown,
    /// A flowchart, in which no thought can leave its node.
    Mermaid,
    /// Everything that is stored.
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
            // Hosts don't know another one.
            Self::Mermaid => "text/plain",
            Self::Json => "application/json",
        }
    }
}

/// Renders the sessions of one kind.
#[async_trait]
pub(crate) trait SessionView: Send + Sync {
    /// Returns the kind of the sessions.
    fn kind(&self) -> SessionKind;

    /// Returns a session as a text in this format. It must be bounded, and safe to display: see
    /// [`SessionFormat`].
    ///
    /// # Errors
    ///
    /// Returns an error if the session cannot be read.
    async fn render(
        &self,
        owner: &Owner,
        session: &SessionHeader,
        format: SessionFormat,
    ) -> Result<String, StoreError>;
}

/// The views of all kinds.
pub(crate) struct Views {
    views: Vec<Box<dyn SessionView>>,
    /// For kinds without a view.
    fallback: EntriesView,
}

impl Views {
    pub(crate) fn new(store: &SessionStore) -> Self {
        Self {
            views: vec![
                Box::new(SequentialView::new(store)),
                Box::new(SolveView::new(store)),
            ],
            fallback: EntriesView::new(store),
        }
    }

    /// Returns a session as a text.
    pub(super) async fn render(
        &self,
        owner: &Owner,
        session: &SessionHeader,
        format: SessionFormat,
    ) -> Result<String, ErrorData> {
        let mut views = self.views.iter();
        let view = views.find(|view| view.kind() == session.kind);
        let rendered = match view {
            Some(view) => view.render(owner, session, format).await,
            None => self.fallback.render(owner, session, format).await,
        };
        rendered.map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }
}
