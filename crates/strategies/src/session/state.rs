use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::id::{BranchId, ThoughtId};
use super::{Branch, BranchStatus, SessionError, SessionPolicy, Thought};
use crate::{Stage, Strategy};

/// A session of thoughts: each in a stage of a strategy, on a branch.
///
/// It begins in the start stage, on the branch `main`, without any thought. A branch is complete when a
/// thought reaches a final stage, or when one says that it is the last and the [`SessionPolicy`] allows it;
/// other branches may go on. Whatever is refused changes nothing.
///
/// A session serialises as a snapshot: read back, with [`from_json`](Self::from_json) or by serde, it goes
/// on as if it had never stopped.
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
/// // The first path goes on with what the other found.
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
    /// Those in use, the first one first.
    pub(super) strategies: Vec<Strategy>,
    pub(super) thoughts: Vec<Thought>,
    pub(super) branches: Vec<Branch>,
    pub(super) by_name: HashMap<String, BranchId>,
    pub(super) current: BranchId,
    pub(super) completions: Vec<Completion>,
    pub(super) bytes: usize,
    /// Whether a branch was pruned since the last forgetting.
    pub(super) may_forget: bool,
}

/// The end of a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Completion {
    /// The branch.
    pub branch: BranchId,
    /// Its last thought.
    pub thought: ThoughtId,
    /// Whether it ended before a final stage.
    pub early: bool,
}

impl Session {
    /// A session with the default [`SessionPolicy`].
    pub fn new(strategy: impl Into<Strategy>) -> Self {
        Self::with_policy(strategy, SessionPolicy::default())
    }

    /// A session with a policy of one's own.
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
            bytes: 0,
            may_forget: false,
        }
    }

    /// The strategy that the session began with; those of later thoughts are theirs to say.
    #[expect(
        clippy::indexing_slicing,
        reason = "a session is made with a strategy and drops none"
    )]
    pub fn strategy(&self) -> &Strategy {
        &self.strategies[0]
    }

    /// The stage where the current branch stands; the start stage before the first thought.
    pub fn stage(&self) -> &Stage {
        self.stage_on(self.current)
            .unwrap_or_else(|_| self.strategy().start())
    }

    /// The stage where a branch stands.
    ///
    /// # Errors
    ///
    /// When the branch is not there.
    pub fn stage_on(&self, branch: BranchId) -> Result<&Stage, SessionError> {
        let tip = self.branch(branch)?.tip().and_then(|tip| self.thought(tip));
        Ok(tip.map_or_else(|| self.strategy().start(), Thought::stage))
    }

    /// The stages that may follow on a branch: none when it is not open. Where a part has ended, those of
    /// the strategy around it.
    ///
    /// # Errors
    ///
    /// When the branch is not there.
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

    /// The branch on which [`think`](Self::think) goes on.
    pub fn current(&self) -> BranchId {
        self.current
    }

    /// What the session allows.
    pub fn policy(&self) -> SessionPolicy {
        self.policy
    }

    /// The ends of branches, in the order in which they came.
    pub fn completions(&self) -> &[Completion] {
        &self.completions
    }

    /// Whether a branch has ended.
    pub fn is_complete(&self) -> bool {
        !self.completions.is_empty()
    }

    /// About how many bytes its thoughts take in memory: what the limit of bytes is held against.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

/// By what it holds: thoughts, branches, policy, strategies.
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
