use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::thought::Position;
use super::{Branch, BranchId, BranchStatus, SessionError, Thought, ThoughtId};
use crate::{Stage, Strategies, Strategy};

/// What a session allows. By default, early ends are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct SessionPolicy {
    /// Whether a branch may end before it reaches a final stage.
    pub allows_early_end: bool,
    /// The maximum number of thoughts on all branches. The default is 100,000.
    pub max_thoughts: usize,
    /// The maximum number of branches, including `main` and closed branches. The default is 1,000.
    pub max_branches: usize,
}

impl Default for SessionPolicy {
    fn default() -> Self {
        Self {
            allows_early_end: false,
            max_thoughts: 100_000,
            max_branches: 1_000,
        }
    }
}

/// A session: thoughts on branches, each in a stage of a strategy.
///
/// A new session has the branch `main`, without thoughts, in the start stage. A branch is complete
/// once a thought reaches a final stage, or once a thought is marked as the last one and the
/// [`SessionPolicy`] allows that. Other branches can still continue. If a method returns an error,
/// the session hasn't changed.
///
/// A session is plain data: serde writes and reads it, and a session that was read equals the one
/// that was written. Reading checks that everything that it names exists.
///
/// ```
/// use cogwork_strategies::StrategyName;
/// use cogwork_strategies::session::{Session, ThoughtDraft};
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
/// let collected = session.merge(&branches[1..], branches[0], answers)?;
///
/// let thought = session.thought(collected).ok_or("not there")?;
/// assert_eq!((thought.id().get(), thought.number()), (5, 2)); // in the session, on the branch
/// assert_eq!(thought.parents().map(|t| t.get()).collect::<Vec<_>>(), [3, 4]);
/// assert_eq!(session.path(collected).last().map(|t| t.id()), Some(problem));
/// let again: Session = serde_json::from_str(&serde_json::to_string(&session)?)?;
/// assert_eq!(again, session);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct Session {
    /// The name of the strategy that the session started with.
    pub(super) strategy: String,
    pub(super) policy: SessionPolicy,
    pub(super) current: BranchId,
    pub(super) branches: Vec<Branch>,
    pub(super) thoughts: Vec<Thought>,
    /// All strategies that thoughts have used.
    pub(super) strategies: Strategies,
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
        session.check().map_err(D::Error::custom)?;
        Ok(session)
    }
}

impl Session {
    /// Creates a session with the default [`SessionPolicy`].
    pub fn new(strategy: impl Into<Strategy>) -> Self {
        Self::with_policy(strategy, SessionPolicy::default())
    }

    /// Creates a session with a custom policy.
    pub fn with_policy(strategy: impl Into<Strategy>, policy: SessionPolicy) -> Self {
        let strategy = strategy.into();
        Self {
            strategy: strategy.name().to_owned(),
            policy,
            current: BranchId::MAIN,
            branches: vec![Branch::new(BranchId::MAIN, "main".to_owned(), None)],
            thoughts: Vec::new(),
            strategies: Strategies::from_iter([strategy]),
        }
    }

    /// Returns the strategy that the session started with.
    ///
    /// Later thoughts may use a [different one](Thought::strategy).
    #[expect(
        clippy::expect_used,
        reason = "a session is made with its strategy, and reading checks it"
    )]
    pub fn strategy(&self) -> &Strategy {
        let strategy = self.strategies.find(&self.strategy);
        strategy.expect("a session has its strategy")
    }

    /// Returns the stage of a thought of this session.
    pub fn stage_of(&self, thought: &Thought) -> &Stage {
        self.stage_at(&thought.position)
    }

    pub(super) fn strategy_at(&self, position: &Position) -> &Strategy {
        let strategy = self.strategies.find(&position.strategy);
        strategy.unwrap_or_else(|| self.strategy())
    }

    pub(super) fn stage_at(&self, position: &Position) -> &Stage {
        let strategy = self.strategy_at(position);
        let stage = strategy.stage(&position.stage);
        stage.unwrap_or_else(|| strategy.start())
    }

    /// Returns the position whose strategy determines what may follow: the innermost one that
    /// hasn't ended.
    pub(super) fn leading<'a>(&self, position: &'a Position) -> &'a Position {
        let leads = |at: &&Position| at.outer.is_none() || !self.stage_at(at).is_final();
        position.all().find(leads).unwrap_or(position)
    }

    /// Returns the position of the last thought on a branch.
    pub(super) fn position(&self, branch: BranchId) -> Result<Position, SessionError> {
        let tip = self.branch(branch)?.tip().and_then(|tip| self.thought(tip));
        Ok(match tip {
            Some(thought) => thought.position.clone(),
            None => Position {
                strategy: self.strategy.clone(),
                stage: self.strategy().start().name.clone(),
                outer: None,
            },
        })
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
        Ok(self.stage_at(&self.position(branch)?))
    }

    /// Returns the stages that may follow on a branch. The list is empty unless the branch is open.
    ///
    /// If a nested strategy has ended, these are stages of the strategy that contains it.
    ///
    /// # Errors
    ///
    /// Returns an error if the branch doesn't exist.
    pub fn allowed(&self, branch: BranchId) -> Result<Vec<&Stage>, SessionError> {
        if self.branch(branch)?.status != BranchStatus::Open {
            return Ok(Vec::new());
        }

        let position = self.position(branch)?;
        let leading = self.leading(&position);
        let stage = self.stage_at(leading);
        Ok(self.strategy_at(leading).next(stage).collect())
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
        thought.index().and_then(|index| self.thoughts.get(index))
    }

    pub(super) fn existing(&self, thought: ThoughtId) -> Result<&Thought, SessionError> {
        let missing = SessionError::NoSuchThought {
            thought,
            thoughts: self.thoughts.len(),
        };
        self.thought(thought).ok_or(missing)
    }

    /// Returns the thoughts from `from` back to the first one, following the first parent of each.
    ///
    /// The path starts with `from` itself. It is empty if that thought doesn't exist.
    pub fn path(&self, from: impl Into<Option<ThoughtId>>) -> impl Iterator<Item = &Thought> {
        let first = from.into().and_then(|thought| self.thought(thought));
        std::iter::successors(first, |thought| self.thought(thought.parent?))
    }
}
