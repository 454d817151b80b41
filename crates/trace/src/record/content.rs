use serde::{Deserialize, Serialize};

/// How much of the texts of a run a record contains.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Content {
    /// All texts, up to the limits of the recorder.
    #[default]
    Full,
    /// All texts, after a rule was applied to each.
    Redacted,
    /// No texts: only the steps, their times, tokens and cost. Also a value that this version
    /// doesn't know.
    #[serde(other)]
    None,
}
