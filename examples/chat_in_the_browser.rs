//! A chat in the browser: a clerk looks orders up, and asks before it pays money back. Open the address that it prints.
//!
//! Each chat is a run of a flow. It waits for messages and for approvals, and goes on where it was after a restart.
//!
//! ```text
//! $ cargo run -p cogwork-examples --features studio --example chat_in_the_browser -- chats 8080
//! http://127.0.0.1:8080
//! ```

use std::env;
use std::error::Error;
use std::sync::Arc;

use axum::Router;
use axum::http::request::Parts;
use axum::response::Html;
use axum::routing::get;
use cogwork::llm::backend::{Capabilities, Capability};
use cogwork::llm::{Role, ToolCall};
use cogwork::prelude::*;
use cogwork_quickstart::model;
use cogwork_studio::{Runner, ServedFlow, View, api};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The state of a chat: everything that was said.
#[derive(Default, Serialize, Deserialize)]
struct Chat {
    lines: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Order {
    /// The number on the invoice.
    number: u32,
}

async fn look_up(Order { number }: Order) -> Result<String, ToolError> {
    match number {
        7 => Ok("Order 7 is a cup for 12 euros.".to_owned()),
        _ => Err(ToolError::failed(format!("there is no order {number}"))),
    }
}

async fn refund(Order { number }: Order) -> Result<String, ToolError> {
    Ok(format!("Order {number} was refunded."))
}

fn chat(client: Arc<dyn LlmClient>) -> Result<Flow<Chat>, Box<dyn Error>> {
    // The last answer is the reason of the wait, which the page shows.
    let listen = Wait::for_event("message", |chat: &mut Chat, message: String| {
        if message.is_empty() {
            return "leave";
        }
        chat.lines.push(format!("customer: {message}"));
        "answer"
    })
    .with_reason(|chat| chat.lines.last().cloned().unwrap_or_default())
    .with_schema(json!({"type": "string"}))
    .with_actions(["answer", "leave"]);

    let tools = Tools::new()
        .with(function("look_up", "Looks an order up.", look_up))?
        .with(function("refund", "Pays an order back.", refund))?
        .with_approval(["refund"])?;
    let clerk = Model::text(client)
        .with_system(
            "You are the clerk of a shop. Answer the customer's last message in one sentence.",
        )
        .with_tools(tools)
        .node(
            |chat: &Chat| chat.lines.join("\n"),
            |chat, answer| chat.lines.push(answer),
        );

    Ok(Flow::builder("chat")
        .start("listen")
        .wait("listen", listen)
        .node("clerk", clerk)
        .edge("listen", "answer", "clerk")
        .edge("clerk", Action::DEFAULT, "listen")
        .end("listen", "leave")
        .build()?)
}

/// The model, if the environment names no other: it calls a tool, and repeats the result.
struct Rules;

#[async_trait]
impl LlmClient for Rules {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let last = request.messages().last();
        let text = last.map_or("", |message| message.text());
        if last.is_some_and(|message| message.role() == Role::Tool) {
            return Ok(ChatResponse::new(text));
        }

        let message = text.lines().last().unwrap_or_default();
        let number = message
            .split(|c: char| !c.is_ascii_digit())
            .find_map(|word| word.parse::<u32>().ok());
        let Some(number) = number else {
            return Ok(ChatResponse::new("Which order is it? I know number 7."));
        };

        let tool = if message.contains("refund") {
            "refund"
        } else {
            "look_up"
        };
        let id = format!("call_{}", request.messages().len());
        let call = ToolCall::new(id, tool, json!({"number": number}).to_string());
        Ok(ChatResponse::default().with_tool_calls([call]))
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::none().with(Capability::Tools)
    }
}

/// A page follows and answers the chat whose id it knows. It doesn't see other chats.
fn view(request: &Parts) -> Option<View> {
    match (request.method.as_str(), request.uri.path()) {
        ("POST", "/runs" | "/run/answers") | ("GET", "/run/events") => Some(View::Public),
        _ => None,
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let (Some(store), Some(port)) = (arguments.next(), arguments.next()) else {
        return Err("expected a store, such as `chats` or `chats.db`, and a port".into());
    };

    let chats = ServedFlow::new(chat(model(Rules)?)?, |_| Ok(Chat::default()), |_| None);
    let runner = Runner::new(Store::at(&store)?, vec![chats]);
    for (chat, resumed) in runner.resume_interrupted().await? {
        if let Err(error) = resumed {
            eprintln!("chat {chat} cannot be resumed: {error}");
        }
    }

    let service = Router::new()
        .route("/", get(async || Html(include_str!("chat.html"))))
        .nest("/api", api(runner.clone(), view));
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port.parse()?)).await?;
    println!("http://{}", listener.local_addr()?);

    let stopped = async move {
        let _ = tokio::signal::ctrl_c().await;
        runner.shut_down().await;
    };
    let served = axum::serve(listener, service).with_graceful_shutdown(stopped);
    Ok(served.await?)
}
