use std::fmt;

use serde::{Deserialize, Serialize};

use super::ThoughtId;

/// The number of a branch in its session, counted from 0 in the order of creation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BranchId(u32);

impl BranchId {
    /// The branch on which every session starts, named `main`.
    pub const MAIN: Self = Self(0);

    /// Returns the number.
    pub const fn get(self) -> u32 {
        self.0
    }

    /// Returns the index of the branch in the session's list.
    pub(super) fn index(self) -> Option<usize> {
        usize::try_from(self.0).ok()
    }

    /// Returns the id of the branch at an index of the session's list.
    pub(super) fn at(index: usize) -> Self {
        // The maximum number of branches is far below `u32::MAX`.
        Self(u32::try_from(index).unwrap_or(u32::MAX))
    }
}

impl fmt::Display for BranchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A branch of a session: a sequence of thoughts, numbered from 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Branch {
    pub(super) id: BranchId,
    pub(super) name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) from: Option<ThoughtId>,
    #[serde(rename = "thoughts")]
    pub(super) own: Vec<ThoughtId>,
    pub(super) total_thoughts: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) score: Option<f64>,
    pub(super) status: BranchStatus,
}

/// The status of a [`Branch`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BranchStatus {
    /// The branch accepts thoughts.
    Open,
    /// The branch has ended, in a final stage or early.
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
            own: Vec::new(),
            total_thoughts: 1,
            score: None,
            status: BranchStatus::Open,
        }
    }

    /// Returns the id.
    pub fn id(&self) -> BranchId {
        self.id
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the thought that the branch was forked from. It is `None` for `main`.
    pub fn forked_from(&self) -> Option<ThoughtId> {
        self.from
    }

    /// Returns the last thought, or the thought that the branch was forked from if it has none yet.
    pub fn tip(&self) -> Option<ThoughtId> {
        self.own.last().copied().or(self.from)
    }

    /// Returns the thoughts that were added to this branch, in order.
    pub fn thoughts(&self) -> &[ThoughtId] {
        &self.own
    }

    pub(super) fn len(&self) -> u32 {
        u32::try_from(self.own.len()).unwrap_or(u32::MAX)
    }

    /// Returns how many thoughts the branch is expected to have in total.
    ///
    /// The number grows with the thoughts and can be set by a
    /// [`ThoughtDraft`](super::ThoughtDraft). A fork starts with the number of thoughts that were
    /// still expected on the branch that it was forked from.
    pub fn total_thoughts(&self) -> u32 {
        self.total_thoughts
    }

    /// Returns the score, from 0 to 10, if one was set.
    pub fn score(&self) -> Option<f64> {
        self.score
    }

    /// Returns the status.
    pub fn status(&self) -> BranchStatus {
        self.status
    }

    /// Returns whether the branch is open or complete.
    pub(super) fn is_in_use(&self) -> bool {
        matches!(self.status, BranchStatus::Open | BranchStatus::Complete)
    }
}
