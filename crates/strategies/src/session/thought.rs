use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Merged;
use super::id::{BranchId, ThoughtId};

/// The parameter that names the revised thought, in stages that have it.
pub(crate) const REVISES: &str = "revises_thought";

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
