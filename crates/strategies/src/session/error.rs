use std::fmt;

use cogwork_text::Name;
use serde::{Deserialize, Serialize};

use super::{BranchId, BranchStatus, ThoughtId};
use crate::session::RefusedMove;

/// An operation that a session refused. The session hasn't changed.
///
/// It serialises with a `kind` and its fields.
#[derive(Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum SessionError {
    /// The strategy doesn't allow the move, or the parameters are wrong.
    #[error(transparent)]
    Refused(#[from] Box<RefusedMove>),
    /// The thought doesn't exist.
    #[error("there is no thought {thought}; expected a number from 1 to {thoughts}")]
    NoSuchThought {
        /// The number of the thought.
        thought: ThoughtId,
        /// The number of thoughts in the session.
        thoughts: usize,
    },
    /// The branch doesn't exist.
    #[error("there is no branch {branch}; expected a number from 0 to {}", branches.saturating_sub(1))]
    NoSuchBranch {
        /// The number of the branch.
        branch: BranchId,
        /// The number of branches in the session.
        branches: usize,
    },
    /// The thought exists, but isn't on the path of the branch.
    #[error(
        "thought {thought} is not on the path of the branch `{}`; choose an earlier thought of that path",
        Name(branch)
    )]
    NotOnPath {
        /// The thought.
        thought: ThoughtId,
        /// The name of the branch.
        branch: String,
    },
    /// The branch isn't open.
    #[error("the branch `{}` is {status}; expected an open one", Name(branch))]
    BranchClosed {
        /// The name of the branch.
        branch: String,
        /// The status of the branch.
        status: BranchStatus,
    },
    /// The name can't be used for a new branch.
    #[error(
        "`{}` cannot be the name of a branch; expected 1 to 64 characters that no branch has yet",
        Name(name)
    )]
    BranchName {
        /// The name.
        name: String,
    },
    /// The branch is the current one, which can't be pruned.
    #[error(
        "the branch `{}` is the current one; switch to a different one first",
        Name(branch)
    )]
    CurrentBranch {
        /// The name of the branch.
        branch: String,
    },
    /// The list of branches to merge is empty, contains a branch twice, or includes the target.
    #[error("expected one or more branches to merge, each once, and the target not among them")]
    MergeSources,
    /// The session has no thought that could be removed.
    #[error("there is no thought to undo; expected at least one")]
    NothingToUndo,
    /// The thought can't be removed, since a branch starts at it.
    #[error(
        "thought {thought} cannot be undone, since the branch `{}` was forked from it; fork an earlier thought instead",
        Name(branch)
    )]
    Forked {
        /// The thought.
        thought: ThoughtId,
        /// The name of the branch.
        branch: String,
    },
    /// The score is out of range.
    #[error("a score is a number from 0 to 10")]
    Score,
    /// No open or complete branch has a score.
    #[error("no open or complete branch has a score; expected at least one")]
    NothingScored,
    /// A limit is reached.
    #[error("the limit of {most} {limit} is reached")]
    Full {
        /// The limit.
        limit: SessionLimit,
        /// The value of the limit.
        most: usize,
    },
}

cogwork_text::debug_as_display!(SessionError);

/// A limit of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SessionLimit {
    /// Thoughts on all branches.
    Thoughts,
    /// Branches, including closed ones.
    Branches,
}

impl fmt::Display for SessionLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Thoughts => "thoughts",
            Self::Branches => "branches",
        })
    }
}
