//! A server of thinking tools for assistants, with a tool of the program next to the built-in ones. With the argument
//! `--stdio`, it serves the assistant that started it. Without it, a client of a few lines in the same program calls
//! tools, and the conversation is printed.
//!
//! ```text
//! tools: sequentialthinking, multiply
//! thought 1: 6 times 7 is 6 times 5 and 6 times 2.
//!   {"branches":[],"nextThoughtNeeded":true,"thoughtHistoryLength":1,"thoughtNumber":1,"totalThoughts":3}
//! thought 2: That is 30 and 12, so 42.
//!   {"branches":[],"nextThoughtNeeded":true,"thoughtHistoryLength":2,"thoughtNumber":2,"totalThoughts":3}
//! multiply [6, 7]: 42
//! thought 3: Well. Well. Well. Well. Well. Well. Well
//!   refused: "the arguments have 376 bytes; expected at most 300"
//! ```

use std::error::Error;

use cogwork::tools::{ToolError, Tools, function};
use cogwork_mcp::{Server, ServerLimits};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

#[derive(Deserialize, JsonSchema)]
struct Factors {
    /// The numbers to multiply.
    numbers: Vec<i64>,
}

/// Returns the tools of the program.
fn tools() -> Result<Tools, ToolError> {
    let multiply = function(
        "multiply",
        "Multiplies whole numbers.",
        |Factors { numbers }| async move { Ok(numbers.iter().product::<i64>()) },
    );
    Tools::new().with(multiply)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = Server::builder()
        .with_tools(tools()?)
        .with_built_in_tools(["sequentialthinking"])
        .with_limits(ServerLimits {
            argument_bytes: 300,
            ..ServerLimits::default()
        })
        .open()?;

    if std::env::args().any(|argument| argument == "--stdio") {
        server.serve_stdio().await?;
        return Ok(());
    }

    let mut client = Client::connect(&server);
    client.request("initialize", initialize()).await?;

    client.list().await?;
    client
        .think(1, "6 times 7 is 6 times 5 and 6 times 2.")
        .await?;
    client.think(2, "That is 30 and 12, so 42.").await?;

    client.multiply(&[6, 7]).await?;

    // The server refuses what is too long, and the session stays as it was.
    client.think(3, &"Well. ".repeat(50)).await?;
    Ok(())
}

fn initialize() -> Value {
    json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "example", "version": "1"},
    })
}

/// The other end of a connection. A real client also waits for answers in any order.
struct Client {
    stream: BufReader<tokio::io::DuplexStream>,
    requests: u64,
}

impl Client {
    fn connect(server: &Server) -> Self {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        tokio::spawn(server.serve(tokio::io::split(theirs)));
        Self {
            stream: BufReader::new(ours),
            requests: 0,
        }
    }

    /// Prints the names of the tools.
    async fn list(&mut self) -> Result<(), Box<dyn Error>> {
        let result = self.request("tools/list", json!({})).await?;
        let tools = result.get("tools").and_then(Value::as_array);
        let names = tools
            .into_iter()
            .flatten()
            .filter_map(|tool| tool.get("name")?.as_str());
        println!("tools: {}", names.collect::<Vec<_>>().join(", "));
        Ok(())
    }

    /// Calls the tool of the program, and prints the result.
    async fn multiply(&mut self, numbers: &[i64]) -> Result<(), Box<dyn Error>> {
        let call = json!({"name": "multiply", "arguments": {"numbers": numbers}});
        let result = self.request("tools/call", call).await?;
        let text = result.pointer("/content/0/text").and_then(Value::as_str);
        println!("multiply {numbers:?}: {}", text.unwrap_or_default());
        Ok(())
    }

    /// Adds a thought, and prints the call and its result.
    async fn think(&mut self, number: u64, thought: &str) -> Result<(), Box<dyn Error>> {
        let arguments = json!({
            "thought": thought,
            "thoughtNumber": number,
            "totalThoughts": 3,
            "nextThoughtNeeded": number < 3,
        });

        let start: String = thought.chars().take(40).collect();
        println!("thought {number}: {start}");
        let call = json!({"name": "sequentialthinking", "arguments": arguments});
        let result = self.request("tools/call", call).await?;

        match result.get("structuredContent") {
            Some(content) => println!("  {content}"),
            None => {
                let text = result.pointer("/content/0/text");
                println!("  refused: {}", text.unwrap_or(&Value::Null));
            }
        }
        Ok(())
    }

    /// Sends a request, and returns the result.
    async fn request(&mut self, method: &str, params: Value) -> Result<Value, Box<dyn Error>> {
        self.requests += 1;
        let request = json!({
            "jsonrpc": "2.0",
            "id": self.requests,
            "method": method,
            "params": params,
        });
        let line = format!("{request}\n");
        self.stream.write_all(line.as_bytes()).await?;

        let mut answer = String::new();
        self.stream.read_line(&mut answer).await?;
        let answer: Value = serde_json::from_str(&answer)?;
        Ok(answer.get("result").cloned().unwrap_or_default())
    }
}
