use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::id::{BranchId, ThoughtId};
use super::merged::Merged;
use super::place::Place;
use crate::{Stage, Strategy};

/// The parameter that names the revised thought, in stages that have it.
pub(crate) const REVISES: &str = "revises_thought";

/// How a thought reached its stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ThoughtKind {
    /// By a move that the strategy allows.
    Move,
    /// It stayed in the stage of the previous thought, or is the first one, in the start stage.
    Stay,
    /// By a change of strategy.
    Strategy,
    /// As the first thought of a nested strategy.
    Part,
}

/// A thought of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct Thought {
    pub(super) id: ThoughtId,
    pub(super) branch: BranchId,
    pub(super) number: u32,
    /// The number of thoughts from the first one to this one, which is included.
    pub(super) depth: u32,
    pub(super) parent: Option<ThoughtId>,
    pub(super) revises: Option<ThoughtId>,
    pub(super) kind: ThoughtKind,
    pub(super) next_thought_needed: bool,
    pub(super) place: Place,
    pub(super) text: Box<str>,
    /// Sorted by name. For the usual one or two parameters, a tree would take five times the
    /// memory.
    pub(super) parameters: Box<[(Box<str>, Value)]>,
    pub(super) merged: Option<Box<Merged>>,
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
        let merged = self
            .merged
            .iter()
            .flat_map(|merged| merged.parents.iter().copied());
        self.parent.into_iter().chain(merged)
    }

    /// Returns the stage.
    pub fn stage(&self) -> &Stage {
        self.place.stage()
    }

    /// Returns the strategy that the stage belongs to.
    pub fn strategy(&self) -> &Strategy {
        &self.place.strategy
    }

    /// Returns the strategies in which the thought's strategy is nested, each with the stage in
    /// which it is paused, innermost first.
    pub fn outer(&self) -> impl Iterator<Item = (&Strategy, &Stage)> {
        std::iter::successors(self.place.outer.as_deref(), |place| place.outer.as_deref())
            .map(|place| (&place.strategy, place.stage()))
    }

    /// Returns how the thought reached its stage.
    pub fn kind(&self) -> ThoughtKind {
        self.kind
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the parameters by name.
    pub fn parameters(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.parameters.iter().map(|(name, value)| (&**name, value))
    }

    /// Returns a parameter.
    pub fn parameter(&self, name: &str) -> Option<&Value> {
        self.parameters()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value)
    }

    /// Returns the thought that this one replaces.
    pub fn revises(&self) -> Option<ThoughtId> {
        self.revises
    }

    /// Returns `false` if the draft of the thought was marked as the last one, and `true`
    /// otherwise.
    pub fn next_thought_needed(&self) -> bool {
        self.next_thought_needed
    }

    /// Returns the record of the merge, if this thought merged branches.
    pub fn merged(&self) -> Option<&Merged> {
        self.merged.as_deref()
    }

    /// Returns the parameters, followed by the merged values.
    pub(super) fn values(&self) -> impl Iterator<Item = (&str, &Value)> {
        let merged = self.merged.iter().flat_map(|merged| &merged.values);
        self.parameters()
            .chain(merged.map(|(name, value)| (&**name, value)))
    }
}
