//! An agent with tools of an MCP server. The server is this program itself, started with an argument,
//! and keeps the stock of a shop. One of its tools isn't given to the agent, and another one ends the
//! server: the next call starts it again.
//!
//! ```text
//! close: Closes the shop.
//! stock: How many there are of an item.
//!
//! stock {"item": "apples"}
//! 12 apples
//!
//! close {}
//! the tool `close` is not available: the MCP server `shop` ended during the call (exit status: 0)
//! its last lines on standard error:
//! The shop is closed.
//!
//! stock {"item": "pears"}
//! the tool `stock` failed: no pears here
//!
//! There are 12 apples, but no pears.
//! ```
//!
//! For a real server, name its command, such as `McpServer::command("npx")` with the arguments `-y`,
//! `@modelcontextprotocol/server-filesystem` and a folder.

#![expect(
    clippy::indexing_slicing,
    reason = "a value of JSON without this key is null"
)]

use std::env;
use std::error::Error;
use std::io::{BufRead, stdin};

use cogwork::agents::{Agent, FlowState};
use cogwork::flow::Flow;
use cogwork::llm::{ChatResponse, ScriptedClient, ToolCall};
use cogwork::tools::Tools;
use cogwork::tools::mcp::McpServer;
use serde_json::{Value, json};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    if env::args().nth(1).as_deref() == Some("serve") {
        return serve();
    }

    let shop = McpServer::command(env::current_exe()?)
        .with_args(["serve"])
        .with_name("shop")
        .with_only(["stock", "close"])
        .connect()
        .await?;
    for tool in Tools::new().with_all(shop.tools())?.definitions() {
        println!("{}: {}", tool.name(), tool.description());
    }

    let agent = Agent::new("clerk", script()).with_tools(Tools::new().with_all(shop.tools())?);
    let flow = Flow::builder("shop")
        .start("clerk")
        .node("clerk", agent)
        .end("clerk", "default")
        .build()?;

    let mut state = FlowState::new("Are there apples? Then close the shop, and look for pears.");
    flow.run(&mut state).await?;

    for used in &state.last().tools {
        println!("\n{} {}\n{}", used.name, used.arguments, used.result);
    }
    println!("\n{}", state.last().text);
    Ok(())
}

/// The model: three calls, one after the other, and an answer.
fn script() -> ScriptedClient {
    let calls = [
        ("stock", r#"{"item": "apples"}"#),
        ("close", "{}"),
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

/// The server: a line of JSON for each line of JSON. Programs use an SDK for this.
fn serve() -> Result<(), Box<dyn Error>> {
    for line in stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line?)?;
        let Some(id) = message.get("id") else {
            continue;
        };

        let mut answer = match message["method"].as_str() {
            Some("initialize") => json!({"result": {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "shop", "version": "1"},
            }}),
            Some("tools/list") => json!({"result": {"tools": [
                tool("stock", "How many there are of an item."),
                tool("close", "Closes the shop."),
                tool("rob", "Takes everything."),
            ]}}),
            Some("tools/call") => called(&message["params"]),
            _ => json!({"error": {"code": -32601, "message": "unknown method"}}),
        };

        answer["jsonrpc"] = json!("2.0");
        answer["id"] = id.clone();
        println!("{answer}");
    }
    Ok(())
}

fn tool(name: &str, description: &str) -> Value {
    json!({"name": name, "description": description, "inputSchema": {"type": "object"}})
}

fn called(params: &Value) -> Value {
    if params["name"] == "close" {
        eprintln!("The shop is closed.");
        std::process::exit(0);
    }

    let item = params["arguments"]["item"].as_str().unwrap_or_default();
    let (text, is_error) = match item {
        "apples" => ("12 apples".to_owned(), false),
        _ => (format!("no {item} here"), true),
    };
    json!({"result": {"content": [{"type": "text", "text": text}], "isError": is_error}})
}
