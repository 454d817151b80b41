//! The tools `think` and `think_session`.

mod branches;
mod hostile;
mod managed;
mod resumed;
mod walk;

use cogwork_mcp::{Server, ServerBuilder};
use cogwork_strategies::Stage;
use serde_json::{Map, Value, json};

use crate::support::Client;

/// Returns a server with these tools.
fn builder() -> ServerBuilder {
    Server::builder().with_built_in_tools(["think", "think_session"])
}

/// Connects a client to a new server.
async fn client() -> Client {
    Client::new(builder()).await
}

/// Returns a valid value.
fn fitting(schema: &Value) -> Value {
    match schema["type"].as_str() {
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(json!(1)),
        Some("boolean") => json!(true),
        Some("thought") => json!(1),
        Some("array") => json!([fitting(&schema["items"])]),
        Some("object") if schema.get("properties").is_none() => {
            json!({"name": fitting(&schema["additionalProperties"])})
        }
        Some("object") => {
            let fields = schema["properties"].as_object().into_iter().flatten();
            fields
                .map(|(name, field)| (name.clone(), fitting(field)))
                .collect()
        }
        _ => json!("some text"),
    }
}

/// Returns valid values of all required parameters.
fn needed(stage: &Stage) -> Map<String, Value> {
    let parameters = stage.parameters.iter();
    let required = parameters.filter(|(_, parameter)| !parameter.is_optional);
    required
        .map(|(name, parameter)| (name.clone(), fitting(&parameter.schema)))
        .collect()
}

/// Returns the names of the next stages in an answer.
fn next_of(answer: &str) -> Vec<&str> {
    let lines = answer.lines().filter_map(|line| line.strip_prefix("- `"));
    lines
        .map(|line| line.split('`').next().expect("a name"))
        .collect()
}

async fn think(client: &Client, arguments: Value) -> String {
    client.accepted("think", arguments).await
}

async fn session(client: &Client, arguments: Value) -> String {
    client.accepted("think_session", arguments).await
}

/// Calls a tool that refuses, and returns the first line of the text.
async fn refused(client: &Client, tool: &'static str, arguments: Value) -> String {
    let text = client.refused(tool, arguments).await;
    text.lines().next().unwrap_or_default().to_owned()
}
