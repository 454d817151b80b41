//! A reasoning for a web page: a server sends its events as server-sent events, each with one line of
//! JSON. A page reads them with `new EventSource("/")`. Here, a client of a few lines prints them.
//!
//! The reasoning is cancelled when the page is closed, because the handler then drops its stream.
//!
//! ```text
//! {"problem":"What is 6 times 7?","type":"started"}
//! thinking 1: "I mult"
//! thinking 1: "iply 6 by 7."
//! thought 1: "I multiply 6 by 7."
//! usage: 1 calls so far
//! thinking 2: "Evalu"
//! thinking 2: "ation of thought"
//! thinking 2: " 1: right. 6 * 7"
//! thinking 2: " = 42."
//! thought 2: "Evaluation of thought 1: right. 6 * 7 = 42."
//! plan: {"change":"status_changed","description":"Multiply","from":"Pending","path":"1","to":"Done"}
//! plan: {"change":"result_changed","description":"Multiply","from":null,"path":"1","to":"42"}
//! plan: {"change":"status_changed","description":"Conclusion","from":"Pending","path":"2","to":"Done"}
//! plan: {"change":"result_changed","description":"Conclusion","from":null,"path":"2","to":"42"}
//! usage: 2 calls so far
//! "answered": "42"
//! ```

use std::error::Error;
use std::io;
use std::sync::Arc;

use cogwork::cot::{ChainOfThought, Reasoning, Reply};
use cogwork::llm::{LlmClient, ScriptedClient, ScriptedReply};
use cogwork::plan::{Plan, Step};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

#[tokio::main(flavor = "current_thread")]
pub async fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let client: Arc<dyn LlmClient> = Arc::new(ScriptedClient::new(replies()));
    tokio::spawn(serve(listener, ChainOfThought::new(client)));

    let mut page = TcpStream::connect(address).await?;
    page.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")
        .await?;

    let mut lines = BufReader::new(page).lines();
    while let Some(line) = lines.next_line().await? {
        if let Some(json) = line.strip_prefix("data: ") {
            print(&serde_json::from_str(json)?);
        }
    }

    Ok(())
}

async fn serve(listener: TcpListener, node: ChainOfThought) -> io::Result<()> {
    loop {
        let (connection, _) = listener.accept().await?;
        tokio::spawn(handle(connection, node.clone()));
    }
}

/// Reads a request, and answers with the events of a reasoning.
async fn handle(connection: TcpStream, node: ChainOfThought) -> io::Result<()> {
    let mut connection = BufReader::new(connection);
    let mut line = String::new();
    while connection.read_line(&mut line).await? > 2 {
        line.clear();
    }

    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    connection.write_all(head.as_bytes()).await?;

    let mut events = node.stream(Reasoning::new("What is 6 times 7?"));
    while let Some(event) = events.next().await {
        let json = serde_json::to_string(&event)?;
        connection
            .write_all(format!("data: {json}\n\n").as_bytes())
            .await?;
        connection.flush().await?;
    }

    connection.shutdown().await
}

/// Prints an event without its times.
fn print(event: &Value) {
    let number = &event["thought"];

    match event["type"].as_str().unwrap_or_default() {
        "thinking" => println!("thinking {number}: {}", event["text"]),
        "thought" => {
            println!("thought {number}: {}", event["text"]);
            for change in event["changes"].as_array().into_iter().flatten() {
                println!("plan: {change}");
            }

            let calls = event.pointer("/total/calls").and_then(Value::as_u64);
            println!("usage: {} calls so far", calls.unwrap_or_default());
        }
        "ended" => println!("{}: {}", event["reason"], event["answer"]),
        _ => println!("{event}"),
    }
}

/// The replies of a model, in pieces.
fn replies() -> Vec<ScriptedReply> {
    let reply = |thinking: &str, steps: Vec<Step>, next_thought_needed| {
        let reply = Reply {
            current_thinking: thinking.to_owned(),
            planning: Plan::from(steps),
            next_thought_needed,
        };
        let characters: Vec<char> = reply.to_string().chars().collect();
        ScriptedReply::in_pieces(characters.chunks(16).map(String::from_iter))
    };

    let planned = vec![Step::pending("Multiply"), Step::pending("Conclusion")];
    let done = vec![Step::done("Multiply", "42"), Step::done("Conclusion", "42")];

    vec![
        reply("I multiply 6 by 7.", planned, true),
        reply("Evaluation of thought 1: right. 6 * 7 = 42.", done, false),
    ]
}
