use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{BranchId, Merged};

/// The parameter that names the revised thought, in stages that have it.
pub(crate) const REVISES: &str = "revises_thought";

/// The number of a thought in its session, counted from 1 over all branches.
///
/// Models and snapshots refer to thoughts by this number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ThoughtId(u32);

impl ThoughtId {
    /// Creates an id from a number. The number isn't checked against a session.
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// Returns the number.
    pub const fn get(self) -> u32 {
        self.0
    }

    /// Returns the index of the thought in the session's list.
    pub(super) fn index(self) -> Option<usize> {
        usize::try_from(self.0).ok()?.checked_sub(1)
    }

    /// Returns the id of the thought at an index of the session's list.
    pub(super) fn at(index: usize) -> Self {
        // The maximum number of thoughts is far below `u32::MAX`.
        Self(u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1))
    }
}

impl fmt::Display for ThoughtId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A thought of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Thought {
    pub(super) id: ThoughtId,
    pub(super) branch: BranchId,
    pub(super) number: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) parent: Option<ThoughtId>,
    #[serde(flatten)]
    pub(super) position: Position,
    #[serde(rename = "thought")]
    pub(super) text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) revises: Option<ThoughtId>,
    pub(super) next_thought_needed: bool,
    pub(super) parameters: BTreeMap<String, Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) merged: Option<Box<Merged>>,
}

/// A stage of a strategy, which may be nested in another strategy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Position {
    pub(super) strategy: String,
    pub(super) stage: String,
    /// Where the outer strategy continues after this one has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) outer: Option<Box<Self>>,
}

impl Position {
    /// Returns this position and those of the outer strategies, innermost first.
    pub(super) fn all(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |position| position.outer.as_deref())
    }
}

impl Thought {
    /// Returns the number of the thought in its session.
    pub fn id(&self) -> ThoughtId {
        self.id
    }

    /// Returns the branch.
    pub fn branch(&self) -> BranchId {
        self.branch
    }

    /// Returns the number of the thought on its branch, counted from 1.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Returns the previous thought on the branch, or the one that the branch was forked from.
    pub fn parent(&self) -> Option<ThoughtId> {
        self.parent
    }

    /// Returns the previous thought, and the last thoughts of the branches that this one merged.
    pub fn parents(&self) -> impl Iterator<Item = ThoughtId> {
        let merged = self.merged.iter().flat_map(|merged| &merged.parents);
        self.parent.into_iter().chain(merged.copied())
    }

    /// Returns the name of the stage. See [`Session::stage_of`](super::Session::stage_of).
    pub fn stage(&self) -> &str {
        &self.position.stage
    }

    /// Returns the name of the strategy that the stage belongs to.
    pub fn strategy(&self) -> &str {
        &self.position.strategy
    }

    /// Returns the strategies in which the thought's strategy is nested, each with the stage in
    /// which it is paused, innermost first.
    pub fn outer(&self) -> impl Iterator<Item = (&str, &str)> {
        let outer = self.position.all().skip(1);
        outer.map(|position| (position.strategy.as_str(), position.stage.as_str()))
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the parameters by name.
    pub fn parameters(&self) -> impl Iterator<Item = (&str, &Value)> {
        let parameters = self.parameters.iter();
        parameters.map(|(name, value)| (name.as_str(), value))
    }

    /// Returns a parameter.
    pub fn parameter(&self, name: &str) -> Option<&Value> {
        self.parameters.get(name)
    }

    /// Returns the parameters as texts, without those that repeat the text of the thought.
    pub fn details(&self) -> impl Iterator<Item = (&str, String)> {
        let parameters = self.parameters();
        let new = parameters.filter(|(_, value)| value.as_str() != Some(self.text()));
        new.map(|(name, value)| match value.as_str() {
            Some(text) => (name, text.to_owned()),
            None => (name, value.to_string()),
        })
    }

    /// Returns the thought that this one replaces.
    pub fn revises(&self) -> Option<ThoughtId> {
        self.revises
    }

    /// Returns the record of the merge, if this thought merged branches.
    pub fn merged(&self) -> Option<&Merged> {
        self.merged.as_deref()
    }

    /// Returns the parameters, followed by the merged values.
    pub(super) fn values(&self) -> impl Iterator<Item = (&String, &Value)> {
        let merged = self.merged.iter().flat_map(|merged| &merged.values);
        self.parameters.iter().chain(merged)
    }
}

/// A thought that is to be added to a session.
///
/// ```
/// use cogwork_strategies::StrategyName;
/// use cogwork_strategies::session::{Session, ThoughtDraft};
///
/// let mut session = Session::new(StrategyName::React);
/// session.think(ThoughtDraft::at("initial_reasoning", "I must look."))?;
/// let draft = ThoughtDraft::at("action_planning", "I search.").with("action", "search");
/// session.think(draft)?;
/// # Ok::<(), cogwork_strategies::session::SessionError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ThoughtDraft {
    /// The stage to move to. If it is `None`, the thought stays in the stage of the branch and no
    /// parameter is required.
    pub stage: Option<String>,
    /// The text.
    pub thought: String,
    /// The parameters of the stage.
    #[serde(default)]
    pub parameters: BTreeMap<String, Value>,
    /// The earlier thought of the same path that this one replaces. Both are kept. In a stage with
    /// the parameter `revises_thought`, setting either of the two is enough.
    pub revises: Option<ThoughtId>,
    /// The expected number of thoughts on the branch. If it is `None`, the number doesn't change.
    pub total_thoughts: Option<u32>,
    /// Whether the branch needs at least one more thought, even if the expected number is reached.
    #[serde(default)]
    pub needs_more_thoughts: bool,
    /// Whether another thought follows. `false` ends the branch, which is an early end if the stage
    /// isn't final. A final stage always ends the branch.
    #[serde(default = "crate::parameter::yes")]
    pub next_thought_needed: bool,
}

impl ThoughtDraft {
    /// Creates a thought that moves to a stage. The first thought of a session may name the start
    /// stage.
    pub fn at(stage: impl Into<String>, thought: impl Into<String>) -> Self {
        Self {
            stage: Some(stage.into()),
            ..Self::here(thought)
        }
    }

    /// Creates a thought that stays in the stage of the branch.
    pub fn here(thought: impl Into<String>) -> Self {
        Self {
            stage: None,
            thought: thought.into(),
            parameters: BTreeMap::new(),
            revises: None,
            total_thoughts: None,
            needs_more_thoughts: false,
            next_thought_needed: true,
        }
    }

    /// Sets a parameter.
    pub fn with(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.parameters.insert(name.into(), value.into());
        self
    }

    /// Sets the expected number of thoughts on the branch.
    pub fn with_total_thoughts(mut self, total: u32) -> Self {
        self.total_thoughts = Some(total);
        self
    }

    /// Expects at least one more thought on the branch.
    pub fn needs_more_thoughts(mut self) -> Self {
        self.needs_more_thoughts = true;
        self
    }
}
