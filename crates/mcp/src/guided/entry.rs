//! The record of a session: what it began with, and what the host gave it.

use cogwork_llm::ToolDefinition;
use cogwork_tools::schemars::{self, JsonSchema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::method::Method;

/// An entry of a session.
///
/// A run depends on nothing else, so giving the replies again in the same order leads to the same
/// questions. Times are in milliseconds since the beginning.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Entry {
    Begin(Box<Settings>),
    Replies { at: u64, replies: Vec<Reply> },
    Stop { at: u64, reason: StopReason },
}

/// A reply of the host.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Reply {
    /// The id of the question, if several are open.
    pub(super) question: Option<String>,
    /// The reply to a question.
    pub(super) reply: String,
    /// Whether a tool failed, and the reply is its error.
    #[serde(default)]
    pub(super) failed: bool,
}

/// Why a session is stopped before it is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StopReason {
    /// The client asked for the best answer so far.
    Asked,
    Time,
    Replies,
}

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
    pub(super) tools: Vec<HostToolSettings>,
}

/// The limits of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Budget {
    /// Number of replies.
    #[schemars(range(min = 1, max = 1_000))]
    pub(super) replies: u32,
    /// Number of thoughts.
    #[schemars(range(min = 1, max = 10_000))]
    pub(super) thoughts: u32,
    /// Tokens that you read and write, as estimated.
    #[schemars(range(min = 1))]
    pub(super) tokens: u64,
    /// Time since the beginning.
    #[schemars(range(min = 1, max = 2_592_000))]
    pub(super) seconds: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            replies: 100,
            thoughts: 100,
            tokens: 1_000_000,
            // A day, because the host may wait for a person.
            seconds: 24 * 60 * 60,
        }
    }
}

impl Budget {
    /// Returns the maximum time in milliseconds.
    pub(super) fn milliseconds(&self) -> u64 {
        self.seconds.saturating_mul(1_000)
    }
}

/// A tool of the host.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct HostToolSettings {
    /// 1 to 64 letters, digits, `_` and `-`.
    name: String,
    #[serde(default)]
    description: String,
    /// A JSON Schema of the input.
    input_schema: Option<Map<String, Value>>,
}

impl HostToolSettings {
    pub(super) fn definition(&self) -> ToolDefinition {
        let schema = self.input_schema.clone().map(Value::Object);
        let schema = schema.unwrap_or_else(|| json!({"type": "object"}));
        ToolDefinition::new(&*self.name, &*self.description, schema.to_string())
    }
}
