use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::id::{BranchId, ThoughtId};
use super::{Branch, BranchStatus, SessionError, SessionPolicy, Thought};
use crate::{Stage, Strategy};

/// A session: thoughts on branches, each in a stage of a strategy.
///
/// A new session has the branch `main`, without thoughts, in the start stage. A branch is complete
/// once a thought reaches a final stage, or once a thought is marked as the last one and the
/// [`SessionPolicy`] allows that. Other branches can still continue. If a method returns an error,
/// the session hasn't changed.
///
/// A session serialises as a snapshot. A session restored by [`from_json`](Self::from_json) or
/// serde equals the one that was saved.
///
/// ```
/// use cogwork_strategies::{ConflictRule, ThoughtDraft, Session, StrategyName};
///
/// let mut session = Session::new(StrategyName::SelfConsistency);
/// let problem = session.think(ThoughtDraft::at("problem_reception", "What is 17 * 3?"))?;
/// let sampling = session.think(ThoughtDraft::at("multiple_path_sampling", "Two ways.").with_total_thoughts(6))?;
///
/// let ways = [("tens", "30 + 21 = 51"), ("twenties", "20 * 3 - 9 = 51")];
/// let mut branches = Vec::new();
/// for (name, text) in ways {
///     let branch = session.fork(sampling, name)?;
///     session.think_on(branch, ThoughtDraft::at("reasoning_path_execution", text).with("path_id", name))?;
///     branches.push(branch);
/// }
/// // The first path continues with the answers of both.
/// let answers = ThoughtDraft::at("answer_collection", "Both say 51.")
///     .with("answers", serde_json::json!({"tens": "51", "twenties": "51"}));
/// session.switch(branches[0])?;
/// let collected = session.merge(&branches[1..], branches[0], ConflictRule::KeepTarget, answers)?;
///
/// let thought = session.thought(collected).ok_or("not there")?;
/// assert_eq!((thought.id().get(), thought.number()), (5, 2)); // in the session, on the branch
/// assert_eq!(thought.parents().map(|t| t.get()).collect::<Vec<_>>(), [3, 4]);
/// assert_eq!(session.path(collected).last().map(|t| t.id()), Some(problem));
/// assert_eq!(Session::from_json(&serde_json::to_string(&session)?)?, session);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Session {
    pub(super) policy: SessionPolicy,
    /// The strategies in use. The session started with the first one.
    pub(super) strategies: Vec<Strategy>,
    pub(super) thoughts: Vec<Thought>,
    pub(super) branches: Vec<Branch>,
    pub(super) by_name: HashMap<String, BranchId>,
    pub(super) current: BranchId,
    pub(super) completions: Vec<Completion>,
}

/// The end of a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Completion {
    /// The branch.
    pub branch: BranchId,
    /// The last thought of the branch.
    pub thought: ThoughtId,
    /// Whether the branch ended before it reached a final stage.
    pub early: bool,
}

impl Session {
    /// Creates a session with the default [`SessionPolicy`].
    pub fn new(strategy: impl Into<Strategy>) -> Self {
        Self::with_policy(strategy, SessionPolicy::default())
    }

    /// Creates a session with a custom policy.
    pub fn with_policy(strategy: impl Into<Strategy>, policy: SessionPolicy) -> Self {
        let main = Branch::new(BranchId::MAIN, "main".to_owned(), None);
        Self {
            policy,
            strategies: vec![strategy.into()],
            thoughts: Vec::new(),
            by_name: HashMap::from([(main.name.clone(), main.id)]),
            branches: vec![main],
            current: BranchId::MAIN,
            completions: Vec::new(),
        }
    }

    /// Returns the strategy that the session started with.
    ///
    /// Later thoughts may use a different one; see [`Thought::strategy`].
    #[expect(
        clippy::indexing_slicing,
        reason = "a session is made with a strategy and drops none"
    )]
    pub fn strategy(&self) -> &Strategy {
        &self.strategies[0]
    }

    /// Returns the stage of the last thought on the current branch, or the start stage if the
    /// branch has no thoughts.
    pub fn stage(&self) -> &Stage {
        self.stage_on(self.current)
            .unwrap_or_else(|_| self.strategy().start())
    }

    /// Returns the stage of the last thought on a branch, or the start stage if the branch has no
    /// thoughts.
    ///
    /// # Errors
    ///
    /// Returns an error if the branch doesn't exist.
    pub fn stage_on(&self, branch: BranchId) -> Result<&Stage, SessionError> {
        let tip = self.branch(branch)?.tip().and_then(|tip| self.thought(tip));
        Ok(tip.map_or_else(|| self.strategy().start(), Thought::stage))
    }

    /// Returns the stages that may follow on a branch. The list is empty unless the branch is open.
    ///
    /// If a nested strategy has ended, these are stages of the strategy that contains it.
    ///
    /// # Errors
    ///
    /// Returns an error if the branch doesn't exist.
    pub fn allowed(&self, branch: BranchId) -> Result<Vec<&Stage>, SessionError> {
        let line = self.branch(branch)?;
        if line.status != BranchStatus::Open {
            return Ok(Vec::new());
        }

        let Some(tip) = line.tip().and_then(|tip| self.thought(tip)) else {
            let strategy = self.strategy();
            return Ok(strategy.next(strategy.start()).collect());
        };

        let leading = tip.place.leading();
        Ok(leading.strategy.next(leading.stage()).collect())
    }

    /// Returns the branch to which [`think`](Self::think) adds thoughts.
    pub fn current(&self) -> BranchId {
        self.current
    }

    /// Returns the ends of branches, in the order in which the branches ended.
    pub fn completions(&self) -> &[Completion] {
        &self.completions
    }

    /// Returns whether any branch has ended.
    pub fn is_complete(&self) -> bool {
        !self.completions.is_empty()
    }
}

/// Compares thoughts, branches, policy and strategies.
impl PartialEq for Session {
    fn eq(&self, other: &Self) -> bool {
        self.policy == other.policy
            && self.strategies == other.strategies
            && self.thoughts == other.thoughts
            && self.branches == other.branches
            && self.current == other.current
            && self.completions == other.completions
    }
}
