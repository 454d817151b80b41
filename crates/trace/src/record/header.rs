use cogwork_flow::FlowGraph;
use serde::{Deserialize, Serialize};

use super::content::Content;

/// The version of the format that this crate writes, and the newest that it reads.
pub const FORMAT: u32 = 1;

/// The first line of a record.
///
/// ```json
/// {"cogwork_record": 1, "run": "order-17", "flow": "shop", "started": 1763875000.123, "graph": {…}, "content": "full"}
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Header {
    /// The version of the format.
    #[serde(rename = "cogwork_record")]
    pub format: u32,
    /// The id of the run.
    pub run: String,
    /// The name of the flow.
    pub flow: String,
    /// When the run started, in seconds since the Unix epoch.
    pub started: f64,
    /// The graph of the flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph: Option<FlowGraph>,
    /// The run that this one was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<ForkedFrom>,
    /// How much of the texts the record contains.
    #[serde(default)]
    pub content: Content,
}

/// The origin of a run that continues a part of another one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ForkedFrom {
    /// The id of the other run.
    pub run: String,
    /// The number of the step at which the runs part.
    pub at: u64,
    /// What was changed, such as `model` or `prompt`.
    #[serde(default)]
    pub changes: Vec<String>,
}

impl Header {
    /// Creates a header of the current [`FORMAT`]. `started` is in seconds since the Unix epoch.
    pub fn new(run: impl Into<String>, flow: impl Into<String>, started: f64) -> Self {
        Self {
            format: FORMAT,
            run: run.into(),
            flow: flow.into(),
            started,
            graph: None,
            forked_from: None,
            content: Content::Full,
        }
    }
}

impl ForkedFrom {
    /// Creates the origin of a fork.
    pub fn new(run: impl Into<String>, at: u64) -> Self {
        Self {
            run: run.into(),
            at,
            changes: Vec::new(),
        }
    }

    /// Sets what was changed. Nothing by default.
    #[must_use]
    pub fn with_changes<T: Into<String>>(mut self, changes: impl IntoIterator<Item = T>) -> Self {
        self.changes = changes.into_iter().map(Into::into).collect();
        self
    }
}
