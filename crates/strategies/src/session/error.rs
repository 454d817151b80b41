use std::fmt;

use cogwork_text::{Name, NameList};
use serde::{Deserialize, Serialize};

use super::branch::BranchStatus;
use super::id::{BranchId, ThoughtId};
use super::merged::Conflict;
use crate::RefusedMove;

/// Why a session did not do what it was asked. Nothing has changed.
///
/// It serialises with a `kind` and its fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum SessionError {
    /// The strategy does not allow the move, or the parameters are not right.
    #[error(transparent)]
    Refused(#[from] Box<RefusedMove>),
    /// There is no such thought.
    #[error("there is no thought {thought}; expected a number from 1 to {thoughts}")]
    NoSuchThought {
        /// What was asked for.
        thought: ThoughtId,
        /// How many there are.
        thoughts: usize,
    },
    /// There is no such branch.
    #[error("there is no branch {branch}; expected a number from 0 to {}", branches.saturating_sub(1))]
    NoSuchBranch {
        /// What was asked for.
        branch: BranchId,
        /// How many there are.
        branches: usize,
    },
    /// The thought is there, but not on the path of the branch.
    #[error(
        "thought {thought} is not on the path of the branch `{}`; expected an earlier one that is",
        Name(branch)
    )]
    NotOnPath {
        /// The thought.
        thought: ThoughtId,
        /// The name of the branch.
        branch: String,
    },
    /// The text of the thought was dropped to make room.
    #[error("thought {thought} was forgotten; expected one that still has its text")]
    Forgotten {
        /// The thought.
        thought: ThoughtId,
    },
    /// The branch takes no more thoughts.
    #[error("the branch `{}` is {status}; expected an open one", Name(branch))]
    BranchClosed {
        /// The name of the branch.
        branch: String,
        /// What became of it.
        status: BranchStatus,
    },
    /// The name cannot be that of a new branch.
    #[error(
        "`{}` cannot be the name of a branch; expected 1 to 64 characters that no branch has yet",
        Name(name)
    )]
    BranchName {
        /// The name.
        name: String,
    },
    /// The branch is the current one.
    #[error("the branch `{}` is the current one; expected another", Name(branch))]
    CurrentBranch {
        /// The name of the branch.
        branch: String,
    },
    /// The branches to merge are none, or one of them twice, or the target.
    #[error("expected one or more branches to merge, each once, and the target not among them")]
    MergeSources,
    /// Branches that are to be merged say different things.
    #[error(
        "the branches differ in {}; expected another rule, or values that agree",
        Conflicts(conflicts)
    )]
    Conflicts {
        /// Where they differ.
        conflicts: Vec<Conflict>,
    },
    /// A score out of range.
    #[error("a score is a number from 0 to 10")]
    Score,
    /// No branch has a score.
    #[error("no branch that could be selected has a score; expected one or more")]
    NothingScored,
    /// The branch would end before a final stage.
    #[error(
        "the thought would end the branch in the stage `{}`; expected one of the final stages {}, or a policy that allows it",
        Name(stage),
        NameList::and(finals)
    )]
    EarlyEnd {
        /// The stage.
        stage: String,
        /// The final stages of the strategy.
        finals: Vec<String>,
    },
    /// A session keeps one strategy under one name.
    #[error(
        "the session has another strategy of the name `{}`; expected one of another name",
        Name(strategy)
    )]
    StrategyName {
        /// The name.
        strategy: String,
    },
    /// No room.
    #[error("the limit of {most} {limit} is reached")]
    Full {
        /// What there is too much of.
        limit: SessionLimit,
        /// How much there may be.
        most: usize,
    },
}

/// What a session may hold only so much of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SessionLimit {
    /// Thoughts of all branches.
    Thoughts,
    /// Branches that were ever made.
    Branches,
    /// Bytes.
    Bytes,
    /// Strategies in one session: 64.
    Strategies,
    /// Strategies that are parts of one another: 8.
    Parts,
}

impl fmt::Display for SessionLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Thoughts => "thoughts",
            Self::Branches => "branches",
            Self::Bytes => "bytes",
            Self::Strategies => "strategies",
            Self::Parts => "parts inside one another",
        })
    }
}

struct Conflicts<'a>(&'a [Conflict]);

impl fmt::Display for Conflicts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self
            .0
            .iter()
            .map(|conflict| conflict.parameter.as_str())
            .collect();
        NameList::and(&names).fmt(f)
    }
}
