//! What a session begins with.

use std::fmt;

use cogwork_llm::ToolDefinition;
use cogwork_strategies::StrategyName;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The first entry of a session.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Settings {
    /// The version of the program that began the session.
    pub(super) version: String,
    /// When the session began, in milliseconds since 1970.
    pub(super) began: u64,
    pub(super) problem: String,
    pub(super) method: Method,
    pub(super) budget: Budget,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) tools: Vec<ToolSettings>,
}

/// How a problem is solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(super) enum Method {
    /// The chain of thought with a plan that is checked in each turn.
    Loop,
    Strategy(StrategyName),
}

/// The limits of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Budget {
    /// Maximum number of replies of the model.
    pub(super) replies: u32,
    pub(super) thoughts: u32,
    /// Maximum number of tokens that the host reads and writes, as estimated.
    pub(super) tokens: u64,
    /// Maximum time since the beginning, in seconds.
    pub(super) seconds: u64,
}

/// A tool of the host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ToolSettings {
    pub(super) name: String,
    pub(super) description: String,
    /// The JSON Schema of the input.
    pub(super) schema: Value,
}

impl Budget {
    pub(super) const REPLIES: u32 = 100;
    pub(super) const THOUGHTS: u32 = 100;
    pub(super) const TOKENS: u32 = 1_000_000;
    /// A day, because the host may wait for a person.
    pub(super) const SECONDS: u32 = 24 * 60 * 60;

    /// Returns the maximum time in milliseconds.
    pub(super) fn milliseconds(&self) -> u64 {
        self.seconds.saturating_mul(1_000)
    }
}

impl ToolSettings {
    pub(super) fn definition(&self) -> ToolDefinition {
        let schema = self.schema.to_string();
        ToolDefinition::new(self.name.as_str(), self.description.as_str(), schema)
    }
}

impl Method {
    /// The name of the loop. `chain_of_thought` is the strategy of this name.
    const LOOP: &str = "loop";

    /// All methods with their names.
    pub(super) fn all() -> Vec<(&'static str, Self)> {
        let strategies = StrategyName::ALL.map(|name| (name.as_str(), Self::Strategy(name)));
        [(Self::LOOP, Self::Loop)]
            .into_iter()
            .chain(strategies)
            .collect()
    }

    /// Returns whether the method cannot do without tools.
    pub(super) fn needs_tools(self) -> bool {
        self == Self::Strategy(StrategyName::Rewoo)
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Loop => Self::LOOP,
            Self::Strategy(name) => name.as_str(),
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<Method> for String {
    fn from(method: Method) -> Self {
        method.as_str().to_owned()
    }
}

impl TryFrom<String> for Method {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let all = Self::all();
        let found = all.iter().find(|(known, _)| *known == name);
        found
            .map(|(_, method)| *method)
            .ok_or_else(|| "the strategy isn't known".to_owned())
    }
}
