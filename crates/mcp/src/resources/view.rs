//! The interface between resources and the kinds of sessions.

use async_trait::async_trait;

use crate::shown::{Shown, markdown, mermaid};
use crate::store::{Owner, SessionHeader, StoreError};

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

    /// Returns a session in this format. JSON isn't made from what is shown.
    pub(crate) fn render(self, shown: &Shown) -> String {
        match self {
            Self::Mermaid => mermaid::session(shown),
            Self::Markdown | Self::Json => markdown::session(shown),
        }
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

/// Renders the sessions of one kind.
#[async_trait]
pub(crate) trait SessionView: Send + Sync {
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
