//! Sessions and strategies as resources.

mod hostile;
mod lists;
mod sessions;
mod strategies;

use cogwork_llm::ScriptedClient;
use cogwork_mcp::Server;
use serde_json::{Value, json};

use crate::support::{Client, Era};

/// A server whose model answers each problem at once.
fn server(answers: usize) -> Server {
    let client = ScriptedClient::new(vec!["answer: 51"; answers]);
    let builder = Server::builder().with_client(client);
    let tools = ["sequentialthinking", "reason", "think", "solve"];
    let builder = builder.with_built_in_tools(tools);
    builder.open().expect("it opens")
}

async fn client(answers: usize) -> Client {
    Client::in_era(&server(answers), Era::Discover).await
}

/// Adds a thought to a session of `sequentialthinking`.
async fn think(client: &Client, session: &str, mut thought: Value) {
    thought["sessionId"] = json!(session);
    client.count(thought).await;
}

/// Solves a problem in a session with a single call.
async fn solve(client: &Client, session: &str, problem: &str) {
    let arguments = json!({
        "problem": problem,
        "strategy": "step_back",
        "budget": {"calls": 1},
        "sessionId": session,
    });
    client.accepted("solve", arguments).await;
}
