use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::id::{BranchId, ThoughtId};
use super::merged::Merged;
use super::place::Place;
use crate::{Stage, Strategy};

/// The parameter that names the thought that is revised, in stages that have it.
pub(crate) const REVISES: &str = "revises_thought";

/// How a thought came to its stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ThoughtKind {
    /// Along an edge of the strategy.
    Move,
    /// It stayed in the stage of the one before, or is the first, in the start stage.
    Stay,
    /// By a change of the strategy.
    Strategy,
    /// As the first of another strategy, which is a part of the one before.
    Part,
}

/// A thought of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct Thought {
    pub(super) id: ThoughtId,
    pub(super) branch: BranchId,
    pub(super) number: u32,
    /// Thoughts from the root to it, itself counted.
    pub(super) depth: u32,
    pub(super) parent: Option<ThoughtId>,
    pub(super) revises: Option<ThoughtId>,
    pub(super) kind: ThoughtKind,
    pub(super) next_thought_needed: bool,
    pub(super) forgotten: bool,
    pub(super) place: Place,
    pub(super) text: Box<str>,
    /// By name. A tree of them would take five times the memory for the one or two there are.
    pub(super) parameters: Box<[(Box<str>, Value)]>,
    pub(super) merged: Option<Box<Merged>>,
}

impl Thought {
    /// Its number in the session.
    pub fn id(&self) -> ThoughtId {
        self.id
    }

    /// The branch it was thought on.
    pub fn branch(&self) -> BranchId {
        self.branch
    }

    /// Its number on that branch, from 1.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The thought before it: of its branch, or where the branch was forked.
    pub fn parent(&self) -> Option<ThoughtId> {
        self.parent
    }

    /// The thought before it, and the last ones of the branches that it merged.
    pub fn parents(&self) -> impl Iterator<Item = ThoughtId> {
        let merged = self
            .merged
            .iter()
            .flat_map(|merged| merged.parents.iter().copied());
        self.parent.into_iter().chain(merged)
    }

    /// Its stage.
    pub fn stage(&self) -> &Stage {
        self.place.stage()
    }

    /// The strategy of its stage.
    pub fn strategy(&self) -> &Strategy {
        &self.place.strategy
    }

    /// The strategies around that one and the stages they wait in, the nearest first.
    pub fn around(&self) -> impl Iterator<Item = (&Strategy, &Stage)> {
        std::iter::successors(self.place.outer.as_deref(), |place| place.outer.as_deref())
            .map(|place| (&place.strategy, place.stage()))
    }

    /// How it came to its stage.
    pub fn kind(&self) -> ThoughtKind {
        self.kind
    }

    /// Its text; empty when it was forgotten.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What it carries for its stage, by name.
    pub fn parameters(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.parameters.iter().map(|(name, value)| (&**name, value))
    }

    /// What it carries under a name.
    pub fn parameter(&self, name: &str) -> Option<&Value> {
        self.parameters()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value)
    }

    /// The thought that it takes the place of.
    pub fn revises(&self) -> Option<ThoughtId> {
        self.revises
    }

    /// Whether it said that another follows.
    pub fn next_thought_needed(&self) -> bool {
        self.next_thought_needed
    }

    /// What it merged, if it did.
    pub fn merged(&self) -> Option<&Merged> {
        self.merged.as_deref()
    }

    /// Whether text and parameters were dropped to make room.
    pub fn is_forgotten(&self) -> bool {
        self.forgotten
    }

    /// What it says of parameters: what it merged, and over it what it carries.
    pub(super) fn values(&self) -> impl Iterator<Item = (&str, &Value)> {
        let merged = self.merged.iter().flat_map(|merged| &merged.values);
        self.parameters()
            .chain(merged.map(|(name, value)| (&**name, value)))
    }
}
