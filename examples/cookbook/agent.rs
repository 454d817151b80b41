//! An agent with tools, ready-made: the model searches an encyclopedia until it can answer.
//!
//! ```text
//! search {"title": "the Eiffel Tower's designer"} -> the tool `search` failed: there is no article `the Eiffel Tower's designer`
//! search {"title": "Eiffel Tower"} -> The Eiffel Tower was designed by Maurice Koechlin.
//! search {"title": "Maurice Koechlin"} -> Maurice Koechlin was born in 1856.
//! Maurice Koechlin, who designed the Eiffel Tower, was born in 1856.
//! ```
//!
//! The pattern `agent_with_nodes` builds an agent from nodes.

use std::error::Error;

use cogwork::llm::ToolCall;
use cogwork::prelude::*;
use cogwork_quickstart::model;
use serde::Deserialize;

// --- core ---

#[derive(Deserialize, JsonSchema)]
struct Search {
    /// The title of an article.
    title: String,
}

fn researcher(client: impl LlmClient + 'static) -> Result<Flow<FlowState>, Box<dyn Error>> {
    let search = function("search", "Finds an article.", async |search: Search| {
        article(&search.title)
    });
    let agent = Agent::new("researcher", client)
        .with_role("You answer questions in one sentence, with what you find.")
        .with_tools(Tools::new().with(search)?);

    Ok(Flow::from_node("researcher", agent)?)
}

// --- end of the core ---

fn article(title: &str) -> Result<&'static str, ToolError> {
    match title {
        "Eiffel Tower" => Ok("The Eiffel Tower was designed by Maurice Koechlin."),
        "Maurice Koechlin" => Ok("Maurice Koechlin was born in 1856."),
        _ => Err(ToolError::failed(format!("there is no article `{title}`"))),
    }
}

fn search(title: &str) -> ChatResponse {
    let arguments = format!(r#"{{"title": "{title}"}}"#);
    ChatResponse::default().with_tool_calls([ToolCall::new("1", "search", arguments)])
}

#[tokio::main(flavor = "current_thread")]
pub async fn main() -> Result<(), Box<dyn Error>> {
    let script = ScriptedClient::default()
        .then(search("the Eiffel Tower's designer"))
        .then(search("Eiffel Tower"))
        .then(search("Maurice Koechlin"))
        .then("Maurice Koechlin, who designed the Eiffel Tower, was born in 1856.");

    let mut state = FlowState::new("When was the designer of the Eiffel Tower born?");
    researcher(model(script)?)?.run(&mut state).await?;

    for call in &state.last().tools {
        println!("{} {} -> {}", call.name, call.arguments, call.result);
    }
    println!("{}", state.last().text);
    Ok(())
}
