use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::id::{BranchId, ThoughtId};

/// How a merge resolves parameters that branches have set to different values since they diverged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ConflictRule {
    /// Keeps the value of the target, or that of the first source if the target hasn't set the
    /// parameter.
    #[default]
    KeepTarget,
    /// Takes the value of the last source that set the parameter.
    TakeSource,
    /// Takes the value of the branch with the highest score.
    ///
    /// A branch without a score ranks below all others. If scores are equal, the target wins, and
    /// then the first source.
    HighestScore,
    /// Refuses the merge with a list of all conflicts.
    Refuse,
}

/// The record of a merge, kept by the thought that merged the branches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Merged {
    /// The branches that were merged into the target.
    pub sources: Vec<BranchId>,
    /// The last thought of each source.
    pub parents: Vec<ThoughtId>,
    /// How conflicts were resolved.
    pub rule: ConflictRule,
    /// The parameters that the sources had set since they diverged from the target, with the values
    /// that the merge chose.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, Value>,
    /// The parameters whose values differed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<Conflict>,
}

/// A parameter that branches have set to different values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Conflict {
    /// The name of the parameter.
    pub parameter: String,
    /// The branches that set it: the target first, then the sources in order.
    pub branches: Vec<BranchId>,
    /// The value that each of these branches set.
    pub values: Vec<Value>,
    /// The branch whose value was taken, or `None` if the merge was refused.
    pub taken: Option<BranchId>,
}
