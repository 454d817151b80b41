//! The record of a session: what it began with, and what the host gave it.

use cogwork_llm::ToolDefinition;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::board::Reply;
use crate::method::Method;

/// An entry of a session.
///
/// A run depends on nothing else, so giving the replies again in the same order leads to the same
/// questions. Times are in milliseconds since the beginning.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Entry {
    Begin(Box<Settings>),
    Replies { at: u64, replies: Vec<GivenReply> },
    Stop { at: u64, reason: StopReason },
}

/// A reply that was accepted.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct GivenReply {
    pub(super) question: String,
    pub(super) reply: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
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

impl GivenReply {
    pub(super) fn reply(&self) -> Reply {
        Reply {
            text: self.reply.clone(),
            failed: self.failed,
        }
    }
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
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) tools: Vec<ToolSettings>,
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
    pub(super) const MOST_SECONDS: u32 = 30 * 24 * 60 * 60;

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
