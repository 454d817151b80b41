//! Streaming to a web client: a server sends the events of a reasoning as they happen. The run stops when the client
//! leaves, and the number of concurrent runs is limited.
//!
//! ```text
//! first page: HTTP/1.1 200 OK
//!   {"problem":"What is 2 times 3?","type":"started"}
//! second page: HTTP/1.1 503 Service Unavailable
//! The first page was closed, and its run has stopped.
//! third page: HTTP/1.1 200 OK
//!   started
//!   thinking
//!   thought
//!   ended
//! ```
//!
//! A page reads the events with `fetch`, because `EventSource` can't
//! send a question in the body.

use std::error::Error;
use std::future::ready;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use cogwork::cot::ReasoningEvent;
use cogwork::llm::ScriptedReply;
use cogwork::prelude::*;
use cogwork_quickstart::model;
use futures_util::StreamExt;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

// --- core ---

#[derive(Clone)]
struct Server {
    flow: Arc<Flow<Reasoning>>,
    runs: Arc<Semaphore>,
}

async fn solve(State(server): State<Server>, problem: String) -> Response {
    let Ok(permit) = server.runs.try_acquire_owned() else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };

    // The stream is the run: if the client leaves, it is dropped, and the permit with it.
    let items = server.flow.stream(Reasoning::new(problem), |run| run);
    let events = items.filter_map(|item| ready(ReasoningEvent::of(&item)));
    let events = events.map(move |event| {
        let _running = &permit;
        serde_json::to_string(&event).map(|json| Event::default().data(json))
    });
    let events = Sse::new(events).keep_alive(KeepAlive::default());
    events.into_response()
}

fn router(node: ChainOfThought, runs: Arc<Semaphore>) -> Router {
    let flow = Arc::new(node.into_flow());
    let server = Server { flow, runs };
    Router::new().route("/", post(solve)).with_state(server)
}

// --- end of the core ---

const REPLY: &str = "\
```yaml
current_thinking: 6 times 7 is 42.
planning:
  - {description: Multiply, status: Done, result: 42}
  - {description: Conclusion, status: Done, result: 42}
next_thought_needed: false
```";

/// A client of a few lines, in place of a page.
struct Page {
    lines: Lines<BufReader<TcpStream>>,
}

impl Page {
    async fn open(server: SocketAddr, problem: &str) -> io::Result<Self> {
        let mut connection = TcpStream::connect(server).await?;
        let length = problem.len();
        let head = "POST / HTTP/1.1\r\nhost: localhost\r\nconnection: close";
        let request = format!("{head}\r\ncontent-length: {length}\r\n\r\n{problem}");

        connection.write_all(request.as_bytes()).await?;
        let lines = BufReader::new(connection).lines();
        Ok(Self { lines })
    }

    async fn status(&mut self) -> io::Result<String> {
        Ok(self.lines.next_line().await?.unwrap_or_default())
    }

    async fn next_event(&mut self) -> Result<Option<Value>, Box<dyn Error>> {
        while let Some(line) = self.lines.next_line().await? {
            if let Some(json) = line.strip_prefix("data: ") {
                return Ok(Some(serde_json::from_str(json)?));
            }
        }
        Ok(None)
    }
}

#[tokio::main(flavor = "current_thread")]
pub async fn main() -> Result<(), Box<dyn Error>> {
    let slow = ScriptedReply::in_pieces(["current_", "thinking"]).every(Duration::from_secs(600));
    let client = model(ScriptedClient::default().then(slow).then(REPLY))?;

    let runs = Arc::new(Semaphore::new(1));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let router = router(ChainOfThought::new(client), Arc::clone(&runs));
    tokio::spawn(axum::serve(listener, router).into_future());

    let mut first = Page::open(address, "What is 2 times 3?").await?;
    println!("first page: {}", first.status().await?);
    if let Some(event) = first.next_event().await? {
        println!("  {event}");
    }

    let mut second = Page::open(address, "What is 4 times 5?").await?;
    println!("second page: {}", second.status().await?);

    drop(first);
    drop(runs.acquire().await?);
    println!("The first page was closed, and its run has stopped.");

    let mut third = Page::open(address, "What is 6 times 7?").await?;
    println!("third page: {}", third.status().await?);
    while let Some(event) = third.next_event().await? {
        let kind = event.get("type").and_then(Value::as_str);
        println!("  {}", kind.unwrap_or_default());
    }
    Ok(())
}
