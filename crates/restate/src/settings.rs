use std::sync::Arc;
use std::time::Duration;

use cogwork_flow::Flow;
use cogwork_flow::draw::FlowGraph;
use cogwork_flow::watch::EventSink;
use futures_util::future::BoxFuture;
use restate_sdk::discovery::ServiceName;

/// What the handlers of a workflow share.
pub(crate) struct Inner<S> {
    pub(crate) name: ServiceName,
    pub(crate) flow: Arc<Flow<S>>,
    pub(crate) graph: FlowGraph,
    pub(crate) settings: Settings,
}

#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) deadline: Option<Duration>,
    pub(crate) max_steps: u64,
    pub(crate) max_message: usize,
    pub(crate) longest_call: Duration,
    pub(crate) events: Option<Arc<SinkOfRun>>,
}

/// Returns the sink for the events of the run with this key.
pub(crate) type SinkOfRun = dyn Fn(String) -> BoxFuture<'static, Option<EventSink>> + Send + Sync;
