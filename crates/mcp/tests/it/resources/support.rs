use cogwork_llm::ScriptedClient;
use cogwork_mcp::Server;
use rmcp::model::{ReadResourceRequestParams, ResourceContents};
use serde_json::{Value, json};

use crate::host::{Host, call};

/// A server whose model answers each problem at once.
pub(crate) fn server(answers: usize) -> Server {
    let client = ScriptedClient::new(vec!["answer: 51"; answers]);
    let builder = Server::builder().with_client(client).with_built_in_tools([
        "sequentialthinking",
        "reason",
        "think",
        "solve",
    ]);
    builder.open().expect("it opens")
}

/// Adds a thought to a session of `sequentialthinking`.
pub(crate) async fn think(host: &Host, session: &str, thought: Value) {
    let mut arguments = json!({
        "sessionId": session,
        "thoughtNumber": 1,
        "totalThoughts": 3,
        "nextThoughtNeeded": true,
    });
    for (name, value) in thought.as_object().expect("an object") {
        arguments[name] = value.clone();
    }

    let result = host
        .client
        .call_tool(call("sequentialthinking", arguments))
        .await;
    let result = result.expect("a result");
    assert_ne!(result.is_error, Some(true), "{result:?}");
}

/// Calls a tool, which accepts the call.
pub(crate) async fn called(host: &Host, tool: &'static str, arguments: Value) {
    let result = host
        .client
        .call_tool(call(tool, arguments))
        .await
        .expect("a result");
    assert_ne!(result.is_error, Some(true), "{result:?}");
}

/// Solves a problem in a session with a single call.
pub(crate) async fn solve(host: &Host, session: &str, problem: &str) {
    let arguments = json!({
        "problem": problem,
        "strategy": "step_back",
        "budget": {"calls": 1},
        "sessionId": session,
    });
    let result = host.solve(arguments).await;
    assert_ne!(result.is_error, Some(true), "{result:?}");
}

/// Returns the text of a resource, or the error.
pub(crate) async fn read(host: &Host, uri: &str) -> Result<String, String> {
    let request = ReadResourceRequestParams::new(uri);
    let result = host.client.read_resource(request).await;
    let result = result.map_err(|error| error.to_string())?;

    match result.contents.into_iter().next() {
        Some(ResourceContents::TextResourceContents { text, .. }) => Ok(text),
        other => panic!("expected a text, got {other:?}"),
    }
}
