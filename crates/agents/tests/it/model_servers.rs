//! Agents on imitations of model servers, which want back what they sent.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::sync::Arc;

use cogwork_agents::{Agent, FlowState, Tools};
use cogwork_flow::{Flow, Node};
use cogwork_llm::LlmClient;
use cogwork_tools::function;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

#[path = "../../../llm/tests/servers/mod.rs"]
mod servers;
use servers::{ROWS, Reply, Row, Server};

#[derive(Deserialize, JsonSchema)]
struct City {
    city: String,
}

fn tools() -> Tools {
    let weather = function(
        "weather",
        "The weather in a city.",
        |City { city }| async move { Ok(format!("Rain in {city}.")) },
    );
    let height = function(
        "height",
        "The height of a city.",
        |City { city }| async move { Ok(format!("{city} lies at 12 m.")) },
    );
    Tools::new().with(weather).unwrap().with(height).unwrap()
}

fn calls(city: &str) -> Reply {
    Reply::default()
        .thinks("OPAQUE thought")
        .calls("weather", json!({"city": city}))
        .calls("height", json!({"city": city}))
}

async fn run(row: &Row, server: &Server, agent: impl FnOnce(Agent) -> Agent) -> FlowState {
    let client: Arc<dyn LlmClient> = Arc::from((row.client)(server.url(), "model-1"));
    let agent = agent(
        Agent::new("a", client)
            .with_tools(tools())
            .with_tool_rounds(20),
    );
    let actions = agent.actions();
    let builder = Flow::builder("flow").start("a").node("a", agent);
    let flow = actions
        .into_iter()
        .fold(builder, |builder, action| builder.end("a", action))
        .build()
        .unwrap();

    let mut state = FlowState::new("Umbrella?");
    flow.run(&mut state).await.unwrap();
    let refusals = server.refusals();
    assert!(
        refusals.iter().all(|text| row.is_mended(text)),
        "{}: {refusals:?}",
        row.name
    );
    state
}

#[tokio::test]
async fn an_agent_with_tools_serves_on_every_server() {
    for row in ROWS {
        let replies = vec![
            calls("Bergen"),
            calls("Oslo"),
            Reply::says("Yes.").thinks("OPAQUE"),
        ];
        let server = row.start(replies).await;
        let state = run(&row, &server, |agent| agent).await;
        assert!(
            state.last().text.ends_with("Yes."),
            "{}: {}",
            row.name,
            state.last().text
        );
    }
}

/// An agent that is asked for its action goes on with the conversation.
#[tokio::test]
async fn an_agent_that_chooses_serves_on_every_server() {
    for row in ROWS {
        let answer = Reply::says("It will rain.").thinks("OPAQUE");
        let action = Reply::says("ACTION: wet").thinks("OPAQUE");
        let server = row.start(vec![calls("Bergen"), answer, action]).await;
        run(&row, &server, |agent| agent.with_actions(["wet", "dry"])).await;
        assert!(server.requests().len() >= 3, "{}", row.name);
    }
}

#[tokio::test]
async fn each_round_with_claude_reads_the_one_before_it_from_the_cache() {
    let replies = (0..10)
        .map(|round| calls(&format!("Bergen {round}")))
        .collect();
    let server = ROWS[0].start(replies).await;
    run(&ROWS[0], &server, |agent| agent).await;

    let mut before = 0;
    let requests = server.requests();
    assert_eq!(requests.len(), 11);
    for seen in requests {
        let read = seen.count("cache_read_input_tokens");
        assert_eq!(read, before);
        before = read + seen.count("cache_creation_input_tokens");
    }
}
