use std::fmt;

use cogwork_tools::schemars::{self, JsonSchema};
use serde::{Deserialize, Serialize};

/// The client that sessions belong to: the user of this process, or the holder of a token.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Owner(pub(crate) String);

impl Owner {
    /// The user who started the server.
    pub(crate) fn local() -> Self {
        Self("local".to_owned())
    }
}

/// The id of a session.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct SessionId(#[schemars(regex(pattern = "^[A-Za-z0-9_.:-]{1,128}$"))] String);

impl SessionId {
    /// The maximum number of characters.
    pub(crate) const MAX_CHARS: usize = 128;

    /// What an id that a client chooses must be.
    pub(crate) const EXPECTED: &str = "1 to 128 ASCII letters, digits, `-`, `_`, `.` or `:`";

    /// Creates an id that cannot be guessed.
    pub(crate) fn random() -> Self {
        Self(uuid::Uuid::new_v4().simple().to_string())
    }

    /// Returns the id that a client chose, or `None` if it isn't what is expected.
    pub(crate) fn named(id: &str) -> Option<Self> {
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
        let is_valid = !id.is_empty() && id.len() <= Self::MAX_CHARS && id.chars().all(is_allowed);
        is_valid.then(|| Self(id.to_owned()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
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
    /// The tools `begin` and `answer`.
    Guided,
    /// The tool `solve`.
    Solve,
}

impl SessionKind {
    pub(crate) const ALL: [Self; 4] = [Self::Sequential, Self::Think, Self::Guided, Self::Solve];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Sequential => "sequential",
            Self::Think => "think",
            Self::Guided => "guided",
            Self::Solve => "solve",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// A session that is to be created.
#[derive(Debug, Clone)]
pub(crate) struct NewSession {
    /// The id that the client chose, or `None` for a random one.
    pub(crate) id: Option<SessionId>,
    pub(crate) kind: SessionKind,
    /// The problem or the purpose, which lists show and searches find.
    pub(crate) title: String,
    /// The strategy, or an empty string.
    pub(crate) strategy: String,
}

/// What an entry changes in the header of its session. `None` changes nothing.
#[derive(Debug, Clone, Default)]
pub(crate) struct HeaderChange {
    pub(crate) title: Option<String>,
    pub(crate) strategy: Option<String>,
    /// `open` or `complete`.
    pub(crate) is_complete: Option<bool>,
    /// The text that searches find.
    pub(crate) text: String,
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
