use std::fmt;

use serde::Serialize;

/// A phase of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Takes the input of `exec` from the state.
    Prep,
    /// Does the work.
    Exec,
    /// Stores the outcome and chooses the action.
    Post,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Prep => "prep",
            Self::Exec => "exec",
            Self::Post => "post",
        })
    }
}
