//! The tools `think` and `think_session`.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "the helpers of tests may, as the tests do"
)]

mod branches;
mod exports;
mod hostile;
mod lists;
#[cfg(feature = "http")]
mod owners;
mod resumed;
mod schemas;
mod walk;

use cogwork_strategies::{ParameterType, Stage};
use rmcp::model::CallToolResult;
use serde_json::{Map, Value, json};

use crate::support::{Client, call, text};

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
            .map(|(name, field)| (name.clone(), fitting(field.kind())))
            .collect(),
        ParameterType::Map { values } => json!({"name": fitting(values)}),
        _ => json!("some text"),
    }
}

/// Returns valid values of all required parameters.
fn needed(stage: &Stage) -> Map<String, Value> {
    let parameters = stage.parameters().iter();
    let required = parameters.filter(|(_, parameter)| parameter.is_required());
    required
        .map(|(name, parameter)| (name.clone(), fitting(parameter.kind())))
        .collect()
}

/// Returns the names of the next stages in an answer.
fn next_of(answer: &Value) -> Vec<String> {
    let next = answer["next"].as_array().expect("the next stages");
    let names = next.iter().map(|next| next["stage"].as_str());
    names.map(|name| name.expect("a name").to_owned()).collect()
}

/// Returns data in the form of a snapshot.
fn pretty(data: impl serde::Serialize) -> String {
    serde_json::to_string_pretty(&data).expect("JSON")
}

/// Calls `think`, and returns the data of the answer.
async fn think(client: &Client, arguments: Value) -> Value {
    accepted(call(client, "think", arguments).await)
}

/// Calls `think_session`, and returns the data of the answer.
async fn session(client: &Client, arguments: Value) -> Value {
    accepted(call(client, "think_session", arguments).await)
}

/// Calls `think_session`, and returns the text of the answer.
async fn session_text(client: &Client, arguments: Value) -> String {
    let result = call(client, "think_session", arguments).await;
    assert_eq!(result.is_error, Some(false), "{}", text(&result));
    text(&result).to_owned()
}

/// Calls a tool that refuses, and returns the first line of the text and the kind of the error.
async fn refused(client: &Client, tool: &'static str, arguments: Value) -> (String, String) {
    let result = call(client, tool, arguments).await;
    assert_eq!(result.is_error, Some(true), "{}", text(&result));

    let line = text(&result).lines().next().unwrap_or_default().to_owned();
    let data = result.structured_content.unwrap_or_default();
    let kind = data["error"]["kind"].as_str().unwrap_or_default();
    (line, kind.to_owned())
}

fn accepted(result: CallToolResult) -> Value {
    assert_eq!(result.is_error, Some(false), "{}", text(&result));
    result.structured_content.expect("data")
}
