//! Tools over the Model Context Protocol, from both ends: an MCP server with a tool of the program next to a built-in
//! one, and an agent that uses them.
//!
//! The server is this program itself, started with the argument `serve`. An assistant would start it in the same way.
//!
//! ```text
//! sequentialthinking
//! stock
//!
//! sequentialthinking {"thought": "I look up both.", "thoughtNumber": 1, "totalThoughts": 1, "nextThoughtNeeded": false}
//! {
//!   "thoughtNumber": 1,
//!   "totalThoughts": 1,
//!   "nextThoughtNeeded": false,
//!   "branches": [],
//!   "thoughtHistoryLength": 1
//! }
//!
//! stock {"item": "apples"}
//! 12 apples
//!
//! stock {"item": "pears"}
//! the tool `stock` failed: the tool `stock` failed: no pears here
//!
//! There are 12 apples, but no pears.
//! ```

use std::env;
use std::error::Error;
use std::process::Command;

use cogwork::agents::{Agent, FlowState};
use cogwork::flow::Flow;
use cogwork::llm::{ChatResponse, ScriptedClient, ToolCall};
use cogwork::tools::mcp::McpServer;
use cogwork::tools::{ToolError, Tools, function};
use cogwork_mcp::Server;
use cogwork_quickstart::model;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Item {
    /// The name of the item, in the plural.
    item: String,
}

async fn stock(Item { item }: Item) -> Result<String, ToolError> {
    match item.as_str() {
        "apples" => Ok("12 apples".to_owned()),
        _ => Err(ToolError::failed(format!("no {item} here"))),
    }
}

/// The server.
async fn serve() -> Result<(), Box<dyn Error>> {
    let stock = function("stock", "How many there are of an item.", stock);
    let server = Server::builder()
        .with_tools(Tools::new().with(stock)?)
        .with_built_in_tools(["sequentialthinking"])
        .open()?;

    server.serve_stdio().await?;
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    if env::args().nth(1).as_deref() == Some("serve") {
        return serve().await;
    }

    // Another server is named by its command, such as `npx`, or by its address: `McpServer::http`.
    let shop = McpServer::command(Command::new(env::current_exe()?).arg("serve"))
        .with_name("shop")
        .connect()
        .await?;
    let tools = Tools::new().with_all(shop.tools())?;
    for tool in tools.definitions() {
        println!("{}", tool.name());
    }

    let agent = Agent::new("clerk", model(script())?).with_tools(tools);
    let flow = Flow::from_node("clerk", agent)?;
    let mut state = FlowState::new("Think, then tell me whether there are apples and pears.");
    flow.run(&mut state).await?;

    for used in &state.last().tools {
        println!("\n{} {}\n{}", used.name, used.arguments, used.result);
    }
    println!("\n{}", state.last().text);
    Ok(())
}

/// The model: three calls, one after the other, and an answer.
fn script() -> ScriptedClient {
    let thought = r#"{"thought": "I look up both.", "thoughtNumber": 1, "totalThoughts": 1, "nextThoughtNeeded": false}"#;
    let calls = [
        ("sequentialthinking", thought),
        ("stock", r#"{"item": "apples"}"#),
        ("stock", r#"{"item": "pears"}"#),
    ];

    let calls = calls.iter().enumerate().map(|(number, (name, arguments))| {
        let call = ToolCall::new(number.to_string(), *name, *arguments);
        ChatResponse::new("").with_tool_calls([call])
    });
    calls
        .fold(ScriptedClient::default(), ScriptedClient::then)
        .then("There are 12 apples, but no pears.")
}
