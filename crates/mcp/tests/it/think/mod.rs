//! The tools `think` and `think_session`.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "the helpers of tests may, as the tests do"
)]

mod branches;
mod hostile;
mod managed;
mod resumed;
mod walk;

use cogwork_mcp::{Server, ServerBuilder};
use cogwork_strategies::Stage;
use cogwork_strategies::table::ParameterType;
use rmcp::model::CallToolResult;
use serde_json::{Map, Value, json};

use crate::support::{Client, call, connect, text};

/// Returns a server with these tools.
fn builder() -> ServerBuilder {
    Server::builder().with_built_in_tools(["think", "think_session"])
}

/// Connects a client to a new server.
async fn client() -> Client {
    connect(builder()).await
}

/// Returns a valid value.
fn fitting(kind: &ParameterType) -> Value {
    match kind {
        ParameterType::Text { choices } => json!(choices.first().map_or("some text", |c| c)),
        ParameterType::Integer { min, .. } | ParameterType::Number { min, .. } => {
            json!(min.unwrap_or(0.0))
        }
        ParameterType::Boolean => json!(true),
        ParameterType::Thought => json!(1),
        ParameterType::List { items, .. } => json!([fitting(items)]),
        ParameterType::Object { fields } => fields
            .iter()
            .map(|(name, field)| (name.clone(), fitting(&field.kind)))
            .collect(),
        ParameterType::Map { values } => json!({"name": fitting(values)}),
        _ => json!("some text"),
    }
}

/// Returns valid values of all required parameters.
fn needed(stage: &Stage) -> Map<String, Value> {
    let parameters = stage.parameters.iter();
    let required = parameters.filter(|(_, parameter)| parameter.required);
    required
        .map(|(name, parameter)| (name.clone(), fitting(&parameter.kind)))
        .collect()
}

/// Returns the names of the next stages in an answer.
fn next_of(answer: &str) -> Vec<&str> {
    let lines = answer.lines().filter_map(|line| line.strip_prefix("- `"));
    lines
        .map(|line| line.split('`').next().expect("a name"))
        .collect()
}

/// Calls `think`, and returns the answer.
async fn think(client: &Client, arguments: Value) -> String {
    accepted(&call(client, "think", arguments).await)
}

/// Calls `think_session`, and returns the answer.
async fn session(client: &Client, arguments: Value) -> String {
    accepted(&call(client, "think_session", arguments).await)
}

/// Calls a tool that refuses, and returns the first line of the text.
async fn refused(client: &Client, tool: &'static str, arguments: Value) -> String {
    let result = call(client, tool, arguments).await;
    assert_eq!(result.is_error, Some(true), "{}", text(&result));
    text(&result).lines().next().unwrap_or_default().to_owned()
}

fn accepted(result: &CallToolResult) -> String {
    assert_ne!(result.is_error, Some(true), "{}", text(result));
    assert_eq!(result.structured_content, None);
    text(result).to_owned()
}
