//! What a call does to a session, as it is recorded.

use cogwork_strategies::{
    BranchId, ConflictRule, Session, SessionError, SessionPolicy, Strategy, Thought, ThoughtDraft,
    ThoughtId,
};
use serde::{Deserialize, Serialize};

use super::rules::Rules;

/// An operation on a session. The session is rebuilt by performing them in order.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "operation", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Operation {
    /// The first one of every session.
    Begin {
        purpose: String,
        strategy: Rules,
        policy: SessionPolicy,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first: Option<ThoughtDraft>,
    },
    Think {
        branch: BranchId,
        draft: ThoughtDraft,
    },
    /// Forks a branch, adds its first thought, and makes it the current one.
    ThinkFrom {
        from: ThoughtId,
        name: String,
        draft: ThoughtDraft,
    },
    /// Forks a branch and makes it the current one.
    Fork {
        from: ThoughtId,
        name: String,
    },
    Switch {
        branch: BranchId,
    },
    Score {
        branch: BranchId,
        score: f64,
    },
    SelectBest {},
    Merge {
        sources: Vec<BranchId>,
        into: BranchId,
        rule: ConflictRule,
        draft: ThoughtDraft,
    },
    Prune {
        branch: BranchId,
    },
    ChangeStrategy {
        branch: BranchId,
        strategy: Rules,
        draft: ThoughtDraft,
    },
    BeginPart {
        branch: BranchId,
        strategy: Rules,
        draft: ThoughtDraft,
    },
    Undo {},
}

/// What an operation has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Done {
    /// The branch that the report is about.
    pub(crate) branch: BranchId,
    pub(crate) what: What,
}

/// What has happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// Nothing has changed.
    Nothing,
    Begun,
    Thought(ThoughtId),
    Forked(ThoughtId),
    Switched,
    Scored,
    Pruned(BranchId),
    Undone(ThoughtId),
}

/// Why an operation cannot be performed.
#[derive(Debug)]
pub(crate) enum Impossible {
    Refused(SessionError),
    /// The entry has no table of a strategy.
    NoRules,
    AlreadyBegun,
    NotBegun,
    /// The session has had this many operations, and may have no more.
    Full(u64),
}

impl From<SessionError> for Impossible {
    fn from(error: SessionError) -> Self {
        Self::Refused(error)
    }
}

impl std::fmt::Display for Impossible {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Refused(error) => error.fmt(f),
            Self::NoRules => f.write_str("the rules of the strategy are missing"),
            Self::AlreadyBegun => f.write_str("the session already exists; choose another id"),
            Self::Full(operations) => write!(
                f,
                "the session was changed {operations} times, which is the limit; begin another one"
            ),
            Self::NotBegun => f.write_str("the session has no beginning; begin another one"),
        }
    }
}

impl Operation {
    /// Performs the operation. If it is impossible, the session doesn't change.
    pub(crate) fn perform(self, session: &mut Session) -> Result<Done, Impossible> {
        match self {
            Self::Begin { .. } => Err(Impossible::AlreadyBegun),
            Self::Think { branch, draft } => {
                let thought = session.think_on(branch, draft)?;
                Ok(thought_on(session, thought))
            }
            Self::ThinkFrom { from, name, draft } => {
                let thought = session.think_from(from, name, draft)?;
                let done = thought_on(session, thought);
                switch_if_possible(session, done.branch);
                Ok(done)
            }
            Self::Fork { from, name } => {
                let branch = session.fork(from, name)?;
                session.switch(branch)?;
                Ok(branch_done(branch, What::Forked(from)))
            }
            Self::Switch { branch } => {
                session.switch(branch)?;
                Ok(branch_done(branch, What::Switched))
            }
            Self::Score { branch, score } => {
                session.score(branch, score)?;
                Ok(branch_done(branch, What::Scored))
            }
            Self::SelectBest {} => {
                let branch = session.select_best()?;
                Ok(branch_done(branch, What::Switched))
            }
            Self::Merge {
                sources,
                into,
                rule,
                draft,
            } => {
                let thought = session.merge(&sources, into, rule, draft)?;
                Ok(thought_on(session, thought))
            }
            Self::Prune { branch } => {
                session.prune(branch)?;
                Ok(branch_done(session.current(), What::Pruned(branch)))
            }
            Self::ChangeStrategy {
                branch,
                strategy,
                draft,
            } => {
                let strategy = found(&strategy)?;
                let thought = session.change_strategy(branch, strategy, draft)?;
                Ok(thought_on(session, thought))
            }
            Self::BeginPart {
                branch,
                strategy,
                draft,
            } => {
                let strategy = found(&strategy)?;
                let thought = session.begin_part(branch, strategy, draft)?;
                Ok(thought_on(session, thought))
            }
            Self::Undo {} => {
                let thought = session.undo()?;
                Ok(branch_done(thought.branch(), What::Undone(thought.id())))
            }
        }
    }

    /// Returns the branch that the operation is for.
    pub(crate) fn branch(&self) -> Option<BranchId> {
        match self {
            Self::Think { branch, .. }
            | Self::Switch { branch }
            | Self::Score { branch, .. }
            | Self::Merge { into: branch, .. }
            | Self::Prune { branch }
            | Self::ChangeStrategy { branch, .. }
            | Self::BeginPart { branch, .. } => Some(*branch),
            _ => None,
        }
    }

    /// Returns the text that searches find.
    pub(crate) fn words(&self) -> String {
        let thought = self.draft().map(words_of).unwrap_or_default();
        match self {
            Self::Begin {
                purpose: others, ..
            }
            | Self::Fork { name: others, .. }
            | Self::ThinkFrom { name: others, .. } => format!("{others}\n{thought}"),
            _ => thought,
        }
    }

    fn draft(&self) -> Option<&ThoughtDraft> {
        match self {
            Self::Begin { first, .. } => first.as_ref(),
            Self::Think { draft, .. }
            | Self::ThinkFrom { draft, .. }
            | Self::Merge { draft, .. }
            | Self::ChangeStrategy { draft, .. }
            | Self::BeginPart { draft, .. } => Some(draft),
            _ => None,
        }
    }
}

/// Returns the strategy of a table.
pub(crate) fn found(rules: &Rules) -> Result<Strategy, Impossible> {
    rules.strategy().cloned().ok_or(Impossible::NoRules)
}

fn thought_on(session: &Session, thought: ThoughtId) -> Done {
    let branch = session.thought(thought).map(Thought::branch);
    let branch = branch.unwrap_or_else(|| session.current());
    branch_done(branch, What::Thought(thought))
}

fn branch_done(branch: BranchId, what: What) -> Done {
    Done { branch, what }
}

/// Switches to a new branch, which is possible unless it was merged or pruned.
fn switch_if_possible(session: &mut Session, branch: BranchId) {
    // A new branch is open or complete.
    let _ = session.switch(branch);
}

/// Returns the text and the parameters of a thought.
fn words_of(draft: &ThoughtDraft) -> String {
    let parameters = draft.parameters.iter();
    let parameters = parameters.map(|(name, value)| format!("\n{name}: {value}"));
    let parameters: String = parameters.collect();
    format!("{}{parameters}", draft.thought)
}
