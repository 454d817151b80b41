use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Branch, BranchId, BranchStatus, SessionError, Thought, ThoughtId};
use crate::{Stage, Strategy};

/// A session: thoughts on branches, each in a stage of a strategy.
///
/// A new session has the branch `main`, without thoughts, in the start stage. A branch is complete
/// once a thought reaches a final stage; other branches can still continue. If a method returns an
/// error, the session hasn't changed.
///
/// A session is plain data: serde writes and reads it, and a session that was read equals the one
/// that was written. Reading checks that the thoughts and branches that it names exist.
///
/// ```
/// use cogwork_strategies::StrategyName;
/// use cogwork_strategies::session::{Session, ThoughtDraft};
///
/// let mut session = Session::new(StrategyName::SelfConsistency);
/// let problem = session.think(ThoughtDraft::at("problem_reception", "What is 17 * 3?"))?;
/// let sampling = session.think(ThoughtDraft::at("multiple_path_sampling", "Two ways."))?;
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
/// let collected = session.merge(&branches[1..], branches[0], answers)?;
///
/// let thought = session.thought(collected).ok_or("not there")?;
/// assert_eq!(thought.parents().map(|t| t.0).collect::<Vec<_>>(), [3, 4]);
/// assert_eq!(session.path(collected).last().map(|t| t.id), Some(problem));
/// let again: Session = serde_json::from_str(&serde_json::to_string(&session)?)?;
/// assert_eq!(again, session);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct Session {
    strategy: Strategy,
    pub(super) current: BranchId,
    pub(super) branches: Vec<Branch>,
    pub(super) thoughts: Vec<Thought>,
}

// `remote` makes serde write functions instead of the traits, so that reading can check the session.
impl Serialize for Session {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Session {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let session = Self::deserialize(deserializer)?;
        let checked = session.is_in_order().then_some(session);
        checked.ok_or_else(|| D::Error::custom("the thoughts and branches don't fit together"))
    }
}

impl Session {
    /// The maximum number of thoughts on all branches.
    pub const MAX_THOUGHTS: usize = 100_000;

    /// The maximum number of branches, including `main` and closed branches.
    pub const MAX_BRANCHES: usize = 1_000;

    /// Creates a session.
    pub fn new(strategy: impl Into<Strategy>) -> Self {
        Self {
            strategy: strategy.into(),
            current: BranchId::MAIN,
            branches: vec![Branch::new(BranchId::MAIN, "main".to_owned(), None)],
            thoughts: Vec::new(),
        }
    }

    /// Returns whether thoughts and branches have the numbers of their places, and name only others
    /// that exist.
    fn is_in_order(&self) -> bool {
        let exists = |thought: &ThoughtId| self.thought(*thought).is_some();
        let mut branches = self.branches.iter().enumerate();
        let mut thoughts = self.thoughts.iter().enumerate();

        let are_branches = branches.all(|(place, branch)| {
            let mut named = branch.thoughts.iter().chain(&branch.from);
            branch.id.0 == place && named.all(exists)
        });
        let are_thoughts = thoughts.all(|(place, thought)| {
            // Parents come first, so a path always ends.
            let are_before = thought.parents().all(|parent| parent < thought.id);
            let is_on_branch = self.branch(thought.branch).is_ok();
            thought.id.0 == place + 1 && are_before && is_on_branch
        });
        are_branches && are_thoughts && self.branch(self.current).is_ok()
    }

    /// Returns the strategy.
    pub fn strategy(&self) -> &Strategy {
        &self.strategy
    }

    /// Returns the stage of a thought of this session.
    pub fn stage_of(&self, thought: &Thought) -> &Stage {
        let stage = self.strategy.stage(&thought.stage);
        stage.unwrap_or_else(|| self.strategy.start())
    }

    /// Returns the stage of the last thought on the current branch, or the start stage if the
    /// branch has no thoughts.
    pub fn stage(&self) -> &Stage {
        let stage = self.stage_on(self.current);
        stage.unwrap_or_else(|_| self.strategy.start())
    }

    /// Returns the stage of the last thought on a branch, or the start stage if the branch has no
    /// thoughts.
    ///
    /// # Errors
    ///
    /// Returns an error if the branch doesn't exist.
    pub fn stage_on(&self, branch: BranchId) -> Result<&Stage, SessionError> {
        let tip = self.branch(branch)?.tip().and_then(|tip| self.thought(tip));
        Ok(tip.map_or(self.strategy.start(), |tip| self.stage_of(tip)))
    }

    /// Returns the stages that may follow on a branch. The list is empty unless the branch is open.
    ///
    /// # Errors
    ///
    /// Returns an error if the branch doesn't exist.
    pub fn allowed(&self, branch: BranchId) -> Result<Vec<&Stage>, SessionError> {
        Ok(match self.branch(branch)?.status {
            // A branch that was closed keeps its stage, but nothing follows on it.
            BranchStatus::Open => self.strategy.next(self.stage_on(branch)?).collect(),
            _ => Vec::new(),
        })
    }

    /// Returns the branch to which [`think`](Self::think) adds thoughts.
    pub fn current(&self) -> BranchId {
        self.current
    }

    /// Returns whether any branch is complete.
    pub fn is_complete(&self) -> bool {
        let mut branches = self.branches.iter();
        branches.any(|branch| branch.status == BranchStatus::Complete)
    }

    /// Returns the thoughts of all branches, in the order in which they were added.
    pub fn thoughts(&self) -> &[Thought] {
        &self.thoughts
    }

    /// Returns the thought with this id.
    pub fn thought(&self, thought: ThoughtId) -> Option<&Thought> {
        self.thoughts.get(thought.0.checked_sub(1)?)
    }

    pub(super) fn existing(&self, thought: ThoughtId) -> Result<&Thought, SessionError> {
        let thoughts = self.thoughts.len();
        self.thought(thought).ok_or_else(|| {
            SessionError::Refused(format!(
                "there is no thought {thought}; expected a number from 1 to {thoughts}"
            ))
        })
    }

    /// Returns the thoughts from `from` back to the first one, following the first parent of each.
    ///
    /// The path starts with `from` itself. It is empty if that thought doesn't exist.
    pub fn path(&self, from: impl Into<Option<ThoughtId>>) -> impl Iterator<Item = &Thought> {
        let first = from.into().and_then(|thought| self.thought(thought));
        std::iter::successors(first, |thought| self.thought(thought.parent?))
    }
}
