//! The form of a session in a snapshot.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use super::id::{BranchId, ThoughtId};
use super::merged::Merged;
use super::{Branch, BranchStatus, SessionPolicy, Thought, ThoughtKind};
use crate::Strategies;

/// The version that is written, and the only one that can be read.
pub(super) const VERSION: u32 = 1;

/// A snapshot as it was read, before it is checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Snapshot {
    pub(super) version: u32,
    pub(super) strategy: String,
    pub(super) policy: SessionPolicy,
    pub(super) current: BranchId,
    pub(super) branches: Vec<WrittenBranch>,
    pub(super) thoughts: Vec<ReadThought>,
    pub(super) strategies: Strategies,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenBranch {
    pub(super) name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) from: Option<ThoughtId>,
    pub(super) total_thoughts: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) score: Option<f64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) pruned: bool,
}

impl From<&Branch> for WrittenBranch {
    fn from(branch: &Branch) -> Self {
        Self {
            name: branch.name.clone(),
            from: branch.from,
            total_thoughts: branch.total_thoughts,
            score: branch.score,
            pruned: branch.status == BranchStatus::Pruned,
        }
    }
}

/// A thought, borrowed for writing or owned after reading.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenThought<Text, Map, Merge> {
    pub(super) id: ThoughtId,
    pub(super) branch: BranchId,
    pub(super) number: u32,
    pub(super) kind: ThoughtKind,
    pub(super) strategy: Text,
    pub(super) stage: Text,
    pub(super) thought: Text,
    #[serde(default = "Option::default", skip_serializing_if = "Option::is_none")]
    pub(super) revises: Option<ThoughtId>,
    pub(super) next_thought_needed: bool,
    pub(super) parameters: Map,
    #[serde(default = "Option::default", skip_serializing_if = "Option::is_none")]
    pub(super) merged: Option<Merge>,
}

pub(super) type ReadThought = WrittenThought<String, BTreeMap<String, Value>, Box<Merged>>;

/// Serializes the thought in the form that it has in a snapshot.
impl Serialize for Thought {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let written = WrittenThought {
            id: self.id,
            branch: self.branch,
            number: self.number,
            kind: self.kind,
            strategy: self.strategy().name(),
            stage: self.stage().name(),
            thought: &*self.text,
            parameters: Parameters(self),
            revises: self.revises,
            next_thought_needed: self.next_thought_needed,
            merged: self.merged.as_ref(),
        };
        written.serialize(serializer)
    }
}

struct Parameters<'a>(&'a Thought);

impl Serialize for Parameters<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.parameters())
    }
}
