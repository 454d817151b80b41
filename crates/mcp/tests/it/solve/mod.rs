//! The tool `solve`.

mod budgets;
mod cancelling;
#[cfg(feature = "openai")]
mod environment;
#[cfg(feature = "agents")]
mod flows;
mod runs;
mod stalled;

use cogwork_llm::LlmClient;
use cogwork_mcp::Server;
use serde_json::{Value, json};

/// Returns a server whose tool solves problems with this model.
fn server(client: impl LlmClient + 'static) -> Server {
    let builder = Server::builder().with_client(client);
    let builder = builder.with_built_in_tools(["solve"]);
    builder.open().expect("the server opens")
}

/// The arguments of a run by a strategy.
fn by(strategy: &str) -> Value {
    json!({"problem": "What is 17 * 3?", "strategy": strategy})
}

/// The arguments of a run that is shown as the session `mine`.
fn mine(strategy: &str) -> Value {
    let mut arguments = by(strategy);
    arguments["sessionId"] = json!("mine");
    arguments
}
