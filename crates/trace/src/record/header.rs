use cogwork_flow::FlowGraph;
use serde::{Deserialize, Serialize};

use super::content::Content;

/// What is recorded each time when a run is started or resumed: its first event.
///
/// ```json
/// {"at": 0.0, "type": "opened", "run": "order-17", "flow": "shop", "started": 1763875000.123, "graph": {…}, "content": "full"}
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Header {
    /// The id of the run.
    pub run: String,
    /// The name of the flow.
    pub flow: String,
    /// When the run was started or resumed, in seconds since the Unix epoch.
    pub started: f64,
    /// The graph of the flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph: Option<FlowGraph>,
    /// The input of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// The run that this one was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<ForkedFrom>,
    /// How much of the texts is recorded.
    #[serde(default)]
    pub content: Content,
}

/// The type of the event.
const OPENED: &str = "opened";

/// The event, whose fields come after those that all events have.
#[derive(Serialize, Deserialize)]
struct Opened<H> {
    at: f64,
    #[serde(rename = "type")]
    name: String,
    #[serde(flatten)]
    header: H,
}

impl Header {
    pub(crate) fn new(run: &str, flow: &str, started: f64) -> Self {
        Self {
            run: run.to_owned(),
            flow: flow.to_owned(),
            started,
            graph: None,
            input: None,
            forked_from: None,
            content: Content::Full,
        }
    }

    /// Reads a header from the JSON of an event. Returns `None` if the event is another one.
    pub fn from_json(json: &str) -> Option<Self> {
        let opened: Opened<Self> = serde_json::from_str(json).ok()?;
        (opened.name == OPENED).then_some(opened.header)
    }

    pub(crate) fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string(&Opened {
            at: 0.0,
            name: OPENED.to_owned(),
            header: self,
        })
    }
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
