//! What several tests share.

use std::fs;
use std::path::{Path, PathBuf};

use cogwork_agents::{FileFlow, FlowState, Loader};
use cogwork_flow::{Action, Flow, Node, RunError};
use cogwork_journal::Store;
use cogwork_llm::{ChatResponse, ToolCall};
use schemars::JsonSchema;
use serde::Deserialize;

/// The input of tools.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct City {
    pub(crate) city: String,
}

/// The path of a file that is right.
pub(crate) fn file(name: &str) -> PathBuf {
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files/good");
    files.join(name)
}

pub(crate) fn text(name: &str) -> String {
    fs::read_to_string(file(name)).unwrap()
}

/// A flow of this node, which ends with each of its actions.
pub(crate) fn flow_of(node: impl Node<FlowState> + 'static) -> Flow<FlowState> {
    let actions = node.actions();
    let builder = Flow::builder("flow").start("a").node("a", node);
    let ended = actions
        .into_iter()
        .fold(builder, |builder, action| builder.end("a", action));
    ended.build().unwrap()
}

pub(crate) async fn run(
    node: impl Node<FlowState> + 'static,
    input: &str,
) -> (Result<Action, RunError>, FlowState) {
    let mut state = FlowState::new(input);
    let ended = flow_of(node).run(&mut state).await;
    (ended.map(|ended| ended.action), state)
}

pub(crate) fn load(flow: &str) -> FileFlow {
    Loader::new().load_text("flow.yaml", flow).unwrap()
}

/// All problems of a flow, or `none`.
pub(crate) fn problems(loader: &Loader, flow: &str) -> String {
    let loaded = loader.load_text("flow.yaml", flow);
    loaded.map_or_else(|error| format!("{error:#}"), |_| "none".to_owned())
}

/// Starts the run `7`, or resumes it.
pub(crate) async fn resume(
    store: &Store,
    flow: &Flow<FlowState>,
    input: &str,
) -> Result<FlowState, RunError> {
    let input = FlowState::new(input);
    let journal = store.start_or_resume("7", flow, &input).await.unwrap();
    let mut state: FlowState = journal.state().unwrap();
    let mut run = flow.begin().with_journal(journal);
    run.finish(&mut state).await.map(|_| state)
}

/// A reply that asks for the weather in cities.
pub(crate) fn calls(cities: &[&str]) -> ChatResponse {
    let calls = cities.iter().map(|city| {
        let arguments = format!(r#"{{"city": "{city}"}}"#);
        ToolCall::new(format!("call {city}"), "weather", arguments)
    });
    ChatResponse::new("").with_tool_calls(calls)
}

/// Runs a flow to its end. Returns the state as it is saved and read again.
pub(crate) async fn run_flow(loader: &Loader, flow: &str, input: &str) -> FlowState {
    let loaded = loader.load_text("flow.yaml", flow).unwrap();
    let mut state = FlowState::new(input);
    loaded.flow().run(&mut state).await.unwrap();
    serde_json::from_value(serde_json::to_value(&state).unwrap()).unwrap()
}
