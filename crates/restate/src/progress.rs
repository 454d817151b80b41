use cogwork_flow::engine::Json;
use serde::{Deserialize, Serialize};

/// How far a run has come, as [`Client::progress`](crate::Client::progress) returns it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunProgress {
    /// The next node; `None` after the end.
    pub node: Option<String>,
    /// The number of steps so far.
    pub steps: u64,
    /// The event that the run waits for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub waits_for: Option<WaitsFor>,
    /// The action on which the run ended.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ended: Option<String>,
    /// The error with which the run failed for good, in one line.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub failed: Option<String>,
}

/// An event that a run waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct WaitsFor {
    /// The name of the event.
    pub event: String,
    /// The reason, for the person who answers; empty if there is none.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub why: String,
    /// The maximum time to wait, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub within_ms: Option<u64>,
    /// The JSON Schema of the answer from [`Wait::with_schema`](cogwork_flow::Wait::with_schema).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub schema: Option<Json>,
    /// Why the last answer was refused, if one was. The run waits for another.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub refused: Option<String>,
}

impl RunProgress {
    /// Returns whether the run is over.
    pub fn is_over(&self) -> bool {
        self.ended.is_some() || self.failed.is_some()
    }
}
