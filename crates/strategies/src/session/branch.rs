use std::fmt;

use serde::{Deserialize, Serialize};

use super::ThoughtId;

/// The number of a branch in its session, counted from 0 in the order of creation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BranchId(pub usize);

impl BranchId {
    /// The branch on which every session starts, named `main`.
    pub const MAIN: Self = Self(0);
}

impl fmt::Display for BranchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A branch of a session: a sequence of thoughts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Branch {
    /// The number of the branch in its session.
    pub id: BranchId,
    /// The name.
    pub name: String,
    /// The thought that the branch was forked from. It is `None` for `main`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<ThoughtId>,
    /// The thoughts that were added to this branch, in order.
    pub thoughts: Vec<ThoughtId>,
    /// The score, from 0 to 10, if one was set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// The status.
    pub status: BranchStatus,
}

/// The status of a [`Branch`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BranchStatus {
    /// The branch accepts thoughts.
    Open,
    /// The branch has ended in a final stage.
    Complete,
    /// The branch was merged into another one by this thought.
    Merged(ThoughtId),
    /// The branch was abandoned.
    Pruned,
}

impl fmt::Display for BranchStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open => f.write_str("open"),
            Self::Complete => f.write_str("complete"),
            Self::Merged(into) => write!(f, "merged into thought {into}"),
            Self::Pruned => f.write_str("pruned"),
        }
    }
}

impl Branch {
    /// Creates an open branch without thoughts.
    pub(super) fn new(id: BranchId, name: String, from: Option<ThoughtId>) -> Self {
        Self {
            id,
            name,
            from,
            thoughts: Vec::new(),
            score: None,
            status: BranchStatus::Open,
        }
    }

    /// Returns the last thought, or the thought that the branch was forked from if it has none yet.
    pub fn tip(&self) -> Option<ThoughtId> {
        self.thoughts.last().copied().or(self.from)
    }

    /// Returns whether the branch is open or complete.
    pub(super) fn is_in_use(&self) -> bool {
        matches!(self.status, BranchStatus::Open | BranchStatus::Complete)
    }
}
