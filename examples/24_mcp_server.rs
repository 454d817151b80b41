//! A server of thinking tools for assistants. With the argument `--stdio`, it serves the assistant that started it.
//! Without it, a client of a few lines in the same program calls a tool, and the conversation is printed.
//!
//! ```text
//! thought 1: 6 times 7 is 6 times 5 and 6 times 2.
//!   {"branches":[],"nextThoughtNeeded":true,"thoughtHistoryLength":1,"thoughtNumber":1,"totalThoughts":3}
//! thought 2: That is 30 and 12, so 42.
//!   {"branches":[],"nextThoughtNeeded":true,"thoughtHistoryLength":2,"thoughtNumber":2,"totalThoughts":3}
//! thought 3: Thought 9 was wrong.
//!   refused: "revisesThought: there is no thought 9; expected the number of a thought of this session; the last one is 2"
//! thought 3: Well. Well. Well. Well. Well. Well. Well
//!   refused: "MCP error -32602: Input validation error: Invalid arguments for tool sequentialthinking: Too big: expected string to have <=200 bytes at thought"
//! ```

use std::error::Error;

use cogwork_mcp::{Server, ServerLimits};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = Server::builder()
        .with_strict(true)
        .with_limits(ServerLimits::default().with_thought_bytes(200))
        .open()?;

    if std::env::args().any(|argument| argument == "--stdio") {
        server.serve_stdio().await?;
        return Ok(());
    }

    let mut client = Client::connect(&server);
    client.request("initialize", initialize()).await?;

    client
        .think(1, "6 times 7 is 6 times 5 and 6 times 2.", json!({}))
        .await?;
    client
        .think(2, "That is 30 and 12, so 42.", json!({}))
        .await?;

    // The server refuses what makes no sense, and the session stays as it was.
    let revision = json!({"isRevision": true, "revisesThought": 9});
    client.think(3, "Thought 9 was wrong.", revision).await?;
    client.think(3, &"Well. ".repeat(50), json!({})).await?;
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

    /// Adds a thought, and prints the call and its result.
    async fn think(
        &mut self,
        number: u64,
        thought: &str,
        more: Value,
    ) -> Result<(), Box<dyn Error>> {
        let mut arguments = json!({
            "thought": thought,
            "thoughtNumber": number,
            "totalThoughts": 3,
            "nextThoughtNeeded": number < 3,
        });
        if let (Value::Object(arguments), Value::Object(more)) = (&mut arguments, more) {
            arguments.extend(more);
        }

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
