use cogwork_flow::draw::FlowGraph;
use cogwork_journal::ForkOrigin;
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
    /// Where the prices are from with which costs are recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<String>,
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
            prices: None,
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
    /// Adds something that was changed, such as `model`.
    #[must_use]
    pub fn with_change(mut self, change: impl Into<String>) -> Self {
        self.changes.push(change.into());
        self
    }
}

impl From<&ForkOrigin> for ForkedFrom {
    fn from(origin: &ForkOrigin) -> Self {
        let state = origin.edited_state.then(|| "state".to_owned());
        let outcomes = origin.edited_outcomes.iter();
        let outcomes = outcomes.map(|step| format!("outcome of {step}"));

        Self {
            run: origin.run_id.clone(),
            at: origin.step,
            changes: state.into_iter().chain(outcomes).collect(),
        }
    }
}
