//! A client that is connected to a server in the same process.

use cogwork_mcp::{Server, ServerBuilder};
use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult};
use rmcp::service::{RoleClient, RunningService};
use serde_json::Value;

pub(crate) type Client = RunningService<RoleClient, ()>;

/// Connects a client to a new server.
pub(crate) async fn connect(builder: ServerBuilder) -> Client {
    client_of(&builder.open().expect("the server opens")).await
}

/// Connects a client to a server.
pub(crate) async fn client_of(server: &Server) -> Client {
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    tokio::spawn(server.serve(tokio::io::split(theirs)));
    ().serve(tokio::io::split(ours))
        .await
        .expect("the server answers")
}

/// Calls a tool, and returns its result.
pub(crate) async fn call(client: &Client, tool: &'static str, arguments: Value) -> CallToolResult {
    let Value::Object(arguments) = arguments else {
        panic!("the arguments are an object");
    };

    let request = CallToolRequestParams::new(tool).with_arguments(arguments);
    let response = client.call_tool(request).await.expect("a result");
    result_of(response.into())
}

fn result_of(response: CallToolResponse) -> CallToolResult {
    match response {
        CallToolResponse::Complete(result) => result,
        other => panic!("expected a complete result, got {other:?}"),
    }
}

/// Returns the text of a result.
pub(crate) fn text(result: &CallToolResult) -> &str {
    let content = result.content.first().expect("a content block");
    &content.as_text().expect("a text").text
}
