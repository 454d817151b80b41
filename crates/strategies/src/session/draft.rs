use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::id::ThoughtId;

/// A thought that is to be added to a session.
///
/// It serialises in a plain form that a model can write.
///
/// ```
/// use cogwork_strategies::ThoughtDraft;
///
/// let written = r#"{"stage": "action_planning", "thought": "I search.", "parameters": {"action": "search"}}"#;
/// let draft: ThoughtDraft = serde_json::from_str(written)?;
/// assert_eq!(draft, ThoughtDraft::at("action_planning", "I search.").with("action", "search"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ThoughtDraft {
    /// The stage to move to. If it is `None`, the thought stays in the stage of the branch and no
    /// parameter is required.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    /// The text.
    pub thought: String,
    /// The parameters of the stage.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, Value>,
    /// The earlier thought of the same path that this one replaces. Both are kept. In a stage with
    /// the parameter `revises_thought`, setting either of the two is enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revises: Option<ThoughtId>,
    /// The expected number of thoughts on the branch. If it is `None`, the number doesn't change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_thoughts: Option<u32>,
    /// Whether the branch needs at least one more thought, even if the expected number is reached.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needs_more_thoughts: bool,
    /// Whether another thought follows. `false` ends the branch, which is an early end if the stage
    /// isn't final. A final stage always ends the branch.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub next_thought_needed: bool,
}

fn yes() -> bool {
    true
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands over a reference"
)]
fn is_yes(value: &bool) -> bool {
    *value
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

    /// Sets the earlier thought that this one replaces.
    pub fn revises(mut self, thought: ThoughtId) -> Self {
        self.revises = Some(thought);
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

    /// Ends the branch with this thought.
    pub fn ends(mut self) -> Self {
        self.next_thought_needed = false;
        self
    }
}
