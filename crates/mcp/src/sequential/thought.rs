use serde::{Deserialize, Serialize};

/// A thought, as it is recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Thought {
    pub(crate) thought: String,
    pub(crate) thought_number: u64,
    /// At least the number of the thought.
    pub(crate) total_thoughts: u64,
    pub(crate) next_thought_needed: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) is_revision: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) revises_thought: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) branch_from_thought: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) branch_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) needs_more_thoughts: Option<bool>,
}

impl Thought {
    /// Returns the branch that the thought belongs to, and the number of the thought at which the
    /// branch starts. A branch needs both.
    pub(crate) fn branch(&self) -> Option<(&str, u64)> {
        let id = self.branch_id.as_deref().filter(|id| !id.is_empty());
        id.zip(self.branch_from_thought)
    }
}
