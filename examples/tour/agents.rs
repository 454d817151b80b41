//! Agents from Rust: a clerk with a tool, and a reviewer who accepts its answer or sends it back.
//!
//! Two agents are nodes of one flow. The clerk calls a typed function that returns a struct. The
//! reviewer chooses an action, which is an edge of the flow.
//!
//! ```text
//! clerk: 58.5.
//!   quote {"article": "lamp", "pieces": "three"} -> bad input for the tool `quote`: invalid type: string "three", expected u32
//!   quote {"article": "lamp", "pieces": 3} -> {"pieces":3,"euros":58.5}
//! reviewer: A number is not an answer.
//! clerk: Three lamps cost 58.50 euros, and we would be glad to send them.
//! reviewer: Good.
//! ```

use std::error::Error;
use std::sync::Arc;

use cogwork::agents::{Agent, FlowState, Template};
use cogwork::flow::{Action, Flow};
use cogwork::llm::{ChatResponse, LlmClient, ScriptedClient, ToolCall};
use cogwork::tools::{ToolError, Tools, function};
use cogwork_quickstart::model;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The arguments of the tool. The model reads their names, types and comments.
#[derive(Deserialize, JsonSchema)]
struct Order {
    /// The name of the article.
    article: String,
    /// The number of pieces.
    pieces: u32,
}

/// The result of the tool, which the model reads as JSON.
#[derive(Serialize)]
struct Quote {
    pieces: u32,
    euros: f64,
}

async fn quote(order: Order) -> Result<Quote, ToolError> {
    let price = match order.article.as_str() {
        "lamp" => 19.5,
        "chair" => 45.0,
        other => return Err(ToolError::failed(format!("there is no article `{other}`"))),
    };

    Ok(Quote {
        pieces: order.pieces,
        euros: price * f64::from(order.pieces),
    })
}

const ACCEPT: Action = Action::from_static("accept");
const REVISE: Action = Action::from_static("revise");

fn shop(client: Arc<dyn LlmClient>) -> Result<Flow<FlowState>, Box<dyn Error>> {
    let tools = Tools::new().with(function("quote", "The price of an order.", quote))?;
    let clerk = Agent::new("clerk", client.clone())
        .with_role("You answer customers of a shop in one sentence.")
        .with_prompt(Template::new("{input}\n{reviewer}")?)
        .with_tools(tools);

    let reviewer = Agent::new("reviewer", client)
        .with_role("You review answers to customers. They must be polite.")
        .with_actions([ACCEPT, REVISE]);

    let flow = Flow::builder("shop")
        .start("clerk")
        .node("clerk", clerk)
        .node("reviewer", reviewer)
        .edge("clerk", Action::DEFAULT, "reviewer")
        .edge("reviewer", REVISE, "clerk")
        .end("reviewer", ACCEPT)
        .build()?;

    Ok(flow)
}

/// The replies of a model. The first call of the tool has a mistake.
fn script() -> ScriptedClient {
    let order = |id: &str, pieces: &str| {
        let arguments = format!(r#"{{"article": "lamp", "pieces": {pieces}}}"#);
        ChatResponse::default().with_tool_calls([ToolCall::new(id, "quote", arguments)])
    };

    ScriptedClient::default()
        .then(order("call_1", r#""three""#))
        .then(order("call_2", "3"))
        .then("58.5.")
        .then("A number is not an answer.\n\nACTION: revise")
        .then("Three lamps cost 58.50 euros, and we would be glad to send them.")
        .then("Good.\n\nACTION: accept")
}

#[tokio::main(flavor = "current_thread")]
pub async fn main() -> Result<(), Box<dyn Error>> {
    let flow = shop(model(script())?)?;
    let mut state = FlowState::new("What do three lamps cost?");

    let mut run = flow.begin();
    while let Some(node) = run.node() {
        run.step(&mut state).await?;
        println!("{node}: {}", state.last().text);
        for tool in &state.last().tools {
            println!("  {} {} -> {}", tool.name, tool.arguments, tool.result);
        }
    }

    Ok(())
}
