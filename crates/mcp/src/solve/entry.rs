//! What the session of a run consists of.

use cogwork_strategies::Spent;
use cogwork_tools::schemars::{self, JsonSchema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// An entry in the session of a run.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub(super) enum SolveEntry {
    /// The first entry.
    Begun { problem: String, method: String },
    /// What a step of the run added.
    Step(SolveStep),
    /// The last entry. It is missing if the server ended before the run.
    Ended(SolveEnd),
}

/// The thoughts and the calls of a step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct SolveStep {
    pub(super) thoughts: Vec<SolveThought>,
    /// The calls to the model and to tools with their raw replies, in the form of the method.
    pub(super) calls: Vec<Value>,
    /// The total cost up to and including this step.
    pub(super) spent: Spent,
}

/// A thought of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct SolveThought {
    /// The number in the session, from 1.
    pub(super) number: u32,
    /// The thoughts that it follows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) parents: Vec<u32>,
    /// The branch, unless it is the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) branch: Option<String>,
    /// The stage of a strategy, or the node of a flow.
    pub(super) stage: String,
    pub(super) text: String,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(super) parameters: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) revises: Option<u32>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct SolveEnd {
    pub(super) outcome: Outcome,
    /// The best answer, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) answer: Option<String>,
    /// From 0 to 1, if the method provides one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) confidence: Option<f64>,
    /// Why it ended, on one line.
    pub(super) reason: String,
}

/// What became of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Outcome {
    /// It found an answer.
    Answered,
    /// It reached a limit. There may be an answer, which isn't final.
    Stopped,
    /// A call to the model or a reply failed.
    Failed,
    /// The client cancelled it.
    Cancelled,
}

impl Outcome {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

impl SolveStep {
    pub(super) fn is_empty(&self) -> bool {
        self.thoughts.is_empty() && self.calls.is_empty()
    }
}
