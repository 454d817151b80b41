//! The record of a session: what it began with, and what the host gave it.

use cogwork_llm::ToolDefinition;
use cogwork_tools::schemars::{self, JsonSchema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::method::Method;
use crate::store::{Recorded, SessionKind};

/// An entry of a session.
///
/// A run depends on nothing else, so giving the replies again in the same order leads to the same
/// questions.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Entry {
    Begin(Settings),
    Reply(Reply),
    /// The host ended the session early, and may have said what the answer is.
    Conclude {
        answer: Option<String>,
    },
}

/// The first entry of a session.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Settings {
    /// The version of the program that began the session.
    pub(super) version: String,
    pub(super) problem: String,
    pub(super) method: Method,
    pub(super) max_replies: u32,
    pub(super) tools: Vec<HostToolSettings>,
}

/// A reply of the host.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Reply {
    /// The id of the question.
    pub(super) question: String,
    pub(super) reply: String,
    /// Whether a tool failed, and the reply is its error.
    pub(super) failed: bool,
}

// A tool of the host.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct HostToolSettings {
    name: String,
    description: Option<String>,
    #[schemars(with = "Option<Map<String, Value>>")]
    input_schema: Option<Map<String, Value>>,
}

impl HostToolSettings {
    pub(super) fn definition(&self) -> ToolDefinition {
        let schema = self.input_schema.clone().map(Value::Object);
        let schema = schema.unwrap_or_else(|| json!({"type": "object"}));
        let description = self.description.as_deref().unwrap_or_default();
        ToolDefinition::new(&*self.name, description, schema.to_string())
    }
}

/// What the host gave a session.
#[derive(Debug, Default)]
pub(super) struct GuidedSession {
    /// Missing before the first entry.
    pub(super) settings: Option<Settings>,
    pub(super) replies: Vec<Reply>,
    pub(super) is_concluded: bool,
    /// The answer with which the host concluded.
    pub(super) conclusion: Option<String>,
}

impl GuidedSession {
    pub(super) fn conclude(&mut self, answer: Option<String>) {
        self.is_concluded = true;
        self.conclusion = answer;
    }
}

impl Recorded for GuidedSession {
    const KIND: SessionKind = SessionKind::Guided;

    type Entry = Entry;

    fn replay(&mut self, entry: Entry) -> Result<(), Failure> {
        match entry {
            Entry::Begin(settings) => self.settings = Some(settings),
            Entry::Reply(reply) => self.replies.push(reply),
            Entry::Conclude { answer } => self.conclude(answer),
        }
        Ok(())
    }
}
