use cogwork_flow::draw::FlowGraph;
use cogwork_journal::ForkOrigin;
use serde::{Deserialize, Serialize};

/// What is recorded each time when a run is started or resumed: its first event.
///
/// ```json
/// {"at": 0.0, "type": "opened", "run": "order-17", "flow": "shop", "started": 1763875000.123, "graph": {…}}
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
    /// Where the run was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<ForkOrigin>,
    /// Where the prices are from with which costs are recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<String>,
    /// What isn't recorded, if anything isn't.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<LeftOut>,
}

/// What is left out of the events of a run, from less to more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LeftOut {
    /// All texts of users, models and programs.
    Content,
    /// All events but the header.
    Events,
}

/// The event, whose fields come after those that all events have.
#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Opening {
    Opened {
        at: f64,
        #[serde(flatten)]
        header: Header,
    },
}

impl Header {
    /// Reads a header from the JSON of an event. Returns `None` if the event is another one.
    pub fn from_json(json: &str) -> Option<Self> {
        let Opening::Opened { header, .. } = serde_json::from_str(json).ok()?;
        Some(header)
    }
}
