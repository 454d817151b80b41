use std::collections::BTreeMap;
use std::fmt;

use cogwork_text::OneLine;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{BranchId, Merged};

/// The number of a thought in its session, counted from 1 over all branches.
///
/// Models refer to thoughts by this number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ThoughtId(pub usize);

impl ThoughtId {
    /// Returns the thought that the value of a parameter names.
    pub(crate) fn of_value(value: &Value) -> Option<Self> {
        // A negative number or one with a fraction names no thought.
        let number = usize::try_from(value.as_u64()?).ok()?;
        (number > 0).then_some(Self(number))
    }
}

impl fmt::Display for ThoughtId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A thought of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Thought {
    /// The number of the thought in its session.
    pub id: ThoughtId,
    /// The branch.
    pub branch: BranchId,
    /// The previous thought on the branch, or the one that the branch was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<ThoughtId>,
    /// The name of the stage.
    pub stage: String,
    /// The text.
    pub text: String,
    /// The thought that this one replaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revises: Option<ThoughtId>,
    /// The parameters by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, Value>,
    /// The record of the merge, if this thought merged branches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged: Option<Merged>,
}

impl Thought {
    /// Returns the previous thought, and the last thoughts of the branches that this one merged.
    pub fn parents(&self) -> impl Iterator<Item = ThoughtId> {
        let merged = self.merged.iter().flat_map(|merged| &merged.parents);
        self.parent.into_iter().chain(merged.copied())
    }

    /// Returns the parameters as texts, without those that repeat the text of the thought.
    pub fn details(&self) -> impl Iterator<Item = (&str, String)> {
        let parameters = self.parameters.iter();
        // Methods often repeat the text as a parameter that the table requires.
        let new = parameters.filter(|(_, value)| value.as_str() != Some(&self.text));
        new.map(|(name, value)| match value.as_str() {
            Some(text) => (name.as_str(), text.to_owned()),
            None => (name.as_str(), value.to_string()),
        })
    }

    /// Returns the stage, the text and the details on one line. Each text is truncated after this
    /// many characters.
    pub(crate) fn line(&self, most: usize) -> String {
        let short = |text: &str| OneLine::new(text).with_max_chars(most).to_string();
        let details = self
            .details()
            .map(|(name, value)| format!(" · {name} = {}", short(&value)));
        let details: String = details.collect();
        format!("{}: {}{details}", self.stage, short(&self.text))
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
    pub text: String,
    /// The parameters of the stage.
    #[serde(default)]
    pub parameters: BTreeMap<String, Value>,
    /// The earlier thought of the same path that this one replaces. Both are kept. In a stage with
    /// the parameter `revises_thought`, setting either of the two is enough.
    pub revises: Option<ThoughtId>,
}

impl ThoughtDraft {
    /// Creates a thought that moves to a stage. The first thought of a session may name the start
    /// stage.
    pub fn at(stage: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            stage: Some(stage.into()),
            ..Self::here(text)
        }
    }

    /// Creates a thought that stays in the stage of the branch.
    pub fn here(text: impl Into<String>) -> Self {
        Self {
            stage: None,
            text: text.into(),
            parameters: BTreeMap::new(),
            revises: None,
        }
    }

    /// Sets a parameter.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.parameters.insert(name.into(), value.into());
        self
    }
}
