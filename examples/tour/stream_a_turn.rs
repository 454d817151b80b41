//! A thought that grows as the model writes it. The reporter receives its text without the rest of the
//! reply, and the events of the run contain the raw pieces. The model here is a server of a few lines
//! that speaks as OpenAI's does.
//!
//! ```text
//!
//! thought 1: I mult|iply.|
//! -- the reply had 11 pieces --
//!
//! thought 2: Evalu|ation of thought| 1: right. 6 * 7| = 42.|
//! -- the reply had 14 pieces --
//! answer: 42
//! the notes of the run are the replies, piece by piece: true
//! ```

use std::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering};

use cogwork::cot::{ChainOfThought, Reasoning, ReasoningEvent, Reply, Reporter};
use cogwork::flow::watch::{EventKind, events};
use cogwork::llm::OpenAiClient;
use cogwork::plan::{Plan, Step};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Prints the text of each thought as it grows, with a bar after each piece.
#[derive(Default)]
struct Typewriter {
    pieces: AtomicUsize,
}

impl Reporter for Typewriter {
    fn event(&self, event: &ReasoningEvent) {
        match event {
            ReasoningEvent::ReplyPiece { .. } => {
                self.pieces.fetch_add(1, Ordering::Relaxed);
            }
            ReasoningEvent::Thinking {
                thought,
                text,
                is_start,
            } => {
                if *is_start {
                    print!("\nthought {thought}: "); // replaces all earlier text of the thought
                }
                print!("{text}|");
            }
            ReasoningEvent::Thought { .. } => {
                let pieces = self.pieces.swap(0, Ordering::Relaxed);
                println!("\n-- the reply had {pieces} pieces --");
            }
            _ => {}
        }
    }
}

#[tokio::main(flavor = "current_thread")]
pub async fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/v1", listener.local_addr()?);
    tokio::spawn(serve(listener, replies()));

    let client = OpenAiClient::builder(url, "a-model").build()?;
    let flow = ChainOfThought::new(client)
        .with_reporter(Typewriter::default())
        .into_flow();
    let mut reasoning = Reasoning::new("What is 6 times 7?");
    let (sink, mut events) = events(10_000);

    flow.begin()
        .with_id("stream")
        .with_events(sink)
        .finish(&mut reasoning)
        .await?;

    // The pieces of the replies are notes of the steps in the events of the run.
    let mut notes = String::new();
    while let Some(event) = events.next().await {
        if let EventKind::Noted { text } = event.kind {
            notes += &text;
        }
    }

    let raw: String = reasoning
        .thoughts()
        .iter()
        .flat_map(|thought| &thought.trace().tries)
        .map(|asked| asked.reply.as_str())
        .collect();

    println!("answer: {}", reasoning.answer().unwrap_or("none"));
    println!(
        "the notes of the run are the replies, piece by piece: {}",
        notes == raw
    );
    Ok(())
}

fn replies() -> Vec<String> {
    let reply = |thinking: &str, steps: Vec<Step>, next_thought_needed| Reply {
        current_thinking: thinking.to_owned(),
        planning: Plan::from(steps),
        next_thought_needed,
    };

    let planned = vec![Step::pending("Multiply"), Step::pending("Conclusion")];
    let done = vec![Step::done("Multiply", "42"), Step::done("Conclusion", "42")];
    vec![
        reply("I multiply.", planned, true).to_string(),
        reply("Evaluation of thought 1: right. 6 * 7 = 42.", done, false).to_string(),
    ]
}

/// Answers each connection with a reply, sent as server-sent events of sixteen characters each.
async fn serve(listener: TcpListener, replies: Vec<String>) -> std::io::Result<()> {
    for reply in replies {
        let (mut connection, _) = listener.accept().await?;
        read_request(&mut connection).await?;
        let head =
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        connection.write_all(head.as_bytes()).await?;

        let characters: Vec<char> = reply.chars().collect();
        for piece in characters.chunks(16) {
            let content: String = piece.iter().collect();
            let event =
                serde_json::json!({"choices": [{"index": 0, "delta": {"content": content}}]});
            connection
                .write_all(format!("data: {event}\n\n").as_bytes())
                .await?;
        }

        let end =
            serde_json::json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
        connection
            .write_all(format!("data: {end}\n\ndata: [DONE]\n\n").as_bytes())
            .await?;
        connection.shutdown().await?;
    }

    Ok(())
}

/// Reads a request until the end of its body.
async fn read_request(connection: &mut TcpStream) -> std::io::Result<()> {
    let mut request = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let read = connection.read(&mut buffer).await?;
        request.extend_from_slice(buffer.get(..read).unwrap_or_default());
        let text = String::from_utf8_lossy(&request).to_ascii_lowercase();

        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
            if body.len() >= length.unwrap_or(0) {
                return Ok(());
            }
        }

        if read == 0 {
            return Ok(());
        }
    }
}
