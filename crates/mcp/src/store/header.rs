use std::fmt;

use cogwork_tools::schemars::{self, JsonSchema};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;

/// The client that sessions belong to: the user of this process, or the holder of a token.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Owner(pub(crate) String);

impl Owner {
    /// The user who started the server.
    pub(crate) fn local() -> Self {
        Self("local".to_owned())
    }
}

// The id of a session.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
pub(crate) struct SessionId(String);

impl SessionId {
    /// Creates an id that cannot be guessed.
    pub(crate) fn random() -> Self {
        Self(uuid::Uuid::new_v4().simple().to_string())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for SessionId {
    type Error = &'static str;

    /// Accepts the id that a client chose.
    fn try_from(id: String) -> Result<Self, &'static str> {
        // Ids are parts of URIs and of lines for models.
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
        if (1..=128).contains(&id.len()) && id.chars().all(is_allowed) {
            return Ok(Self(id));
        }
        Err("the id of a session is 1 to 128 ASCII letters, digits, `-`, `_`, `.` or `:`")
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What created a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SessionKind {
    /// The tool `sequentialthinking`.
    Sequential,
    /// The tool `think`.
    Think,
    /// The tool `reason`.
    Guided,
    /// The tool `solve`.
    Solve,
}

impl SessionKind {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Sequential => "sequential",
            Self::Think => "think",
            Self::Guided => "guided",
            Self::Solve => "solve",
        }
    }

    pub(super) fn named(name: &str) -> Result<Self, Failure> {
        let all = [Self::Sequential, Self::Think, Self::Guided, Self::Solve];
        let found = all.into_iter().find(|kind| kind.as_str() == name);
        found.ok_or_else(|| Failure::new("the kind of a session isn't known"))
    }
}

/// A session that is to be created.
#[derive(Debug, Clone)]
pub(crate) struct NewSession {
    /// Whether the client chose the id.
    pub(crate) is_named: bool,
    /// The problem or the purpose, which lists show.
    pub(crate) title: String,
    /// The strategy, or an empty string.
    pub(crate) strategy: String,
}

/// What lists show of a session.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionHeader {
    #[serde(rename = "sessionId")]
    pub(crate) id: SessionId,
    pub(crate) kind: SessionKind,
    pub(crate) title: String,
    pub(crate) strategy: String,
    pub(crate) is_complete: bool,
    /// The number of entries.
    #[serde(skip)]
    pub(crate) entries: u64,
    /// When it was created, in milliseconds since 1970.
    pub(crate) created: i64,
    /// When the last entry was appended, in milliseconds since 1970.
    pub(crate) updated: i64,
    /// Greater than those of all sessions that were created before.
    #[serde(skip)]
    pub(crate) key: i64,
}

impl SessionHeader {
    pub(crate) fn status(&self) -> &'static str {
        if self.is_complete { "complete" } else { "open" }
    }
}
