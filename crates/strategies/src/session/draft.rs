use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::id::ThoughtId;

/// A thought that is to be added to a session. It serialises in the form that
/// [`Strategy::json_schema`](crate::Strategy::json_schema) describes, so a model may write it.
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
    /// The stage it moves to. `None`: it stays in the stage where the branch stands, and no parameter
    /// is required of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    /// Its text.
    pub thought: String,
    /// What it carries for its stage.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, Value>,
    /// The earlier thought of the same path that it takes the place of. Both are kept. In a stage with
    /// the parameter `revises_thought` the two are the same, and one of them is enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revises: Option<ThoughtId>,
    /// How many thoughts the branch will have, as far as is known. `None`: as it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_thoughts: Option<u32>,
    /// The branch will have at least one thought after this one, whatever was expected.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needs_more_thoughts: bool,
    /// `false` ends the branch here, early unless the stage is final. The final stage ends it anyway.
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
    /// A thought that moves to a stage. The first of a session may name the start stage.
    pub fn at(stage: impl Into<String>, thought: impl Into<String>) -> Self {
        Self {
            stage: Some(stage.into()),
            ..Self::here(thought)
        }
    }

    /// A thought in the stage where the branch stands.
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

    /// With a parameter.
    pub fn with(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.parameters.insert(name.into(), value.into());
        self
    }

    /// In the place of an earlier thought.
    pub fn revises(mut self, thought: ThoughtId) -> Self {
        self.revises = Some(thought);
        self
    }

    /// With another number of thoughts expected.
    pub fn with_total_thoughts(mut self, total: u32) -> Self {
        self.total_thoughts = Some(total);
        self
    }

    /// With at least one more thought expected.
    pub fn needs_more_thoughts(mut self) -> Self {
        self.needs_more_thoughts = true;
        self
    }

    /// The last of its branch.
    pub fn ends(mut self) -> Self {
        self.next_thought_needed = false;
        self
    }
}
