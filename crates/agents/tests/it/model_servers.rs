//! Agents on imitations of model servers, which want back what they sent.

use std::sync::Arc;

use cogwork_agents::{Agent, FlowState};
use cogwork_journal::Store;
use cogwork_llm::LlmClient;
use cogwork_tools::{Tool, ToolError, Tools, function};
use serde_json::json;
use tokio::sync::Notify;

#[path = "../../../llm/tests/servers/mod.rs"]
mod servers;
use crate::support::{City, flow_of, resume};
use servers::{ROWS, Reply, Row, Server};

fn tools() -> Tools {
    let weather = |City { city }| async move { Ok(format!("Rain in {city}.")) };
    with_height(function("weather", "The weather.", weather))
}

fn with_height(weather: impl Tool + 'static) -> Tools {
    let height = |City { city }| async move { Ok(format!("{city} lies at 12 m.")) };
    let height = function("height", "The height of a city.", height);
    Tools::new().with(weather).unwrap().with(height).unwrap()
}

fn calls(city: &str) -> Reply {
    Reply::default()
        .thinks("OPAQUE thought")
        .calls("weather", json!({"city": city}))
        .calls("height", json!({"city": city}))
}

fn agent(row: &Row, server: &Server, tools: Tools) -> Agent {
    let client: Arc<dyn LlmClient> = Arc::from((row.client)(server.url(), "model-1"));
    Agent::new("a", client)
        .with_tools(tools)
        .with_tool_rounds(20)
}

fn assert_served(row: &Row, server: &Server) {
    let refusals = server.refusals();
    assert!(
        refusals.iter().all(|text| row.is_mended(text)),
        "{}: {refusals:?}",
        row.name
    );
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
        let flow = flow_of(agent(&row, &server, tools()));
        let mut state = FlowState::new("Umbrella?");
        flow.run(&mut state).await.unwrap();
        assert_served(&row, &server);
        assert!(state.last().text.ends_with("Yes."), "{}", row.name);
    }
}

#[tokio::test]
async fn each_round_with_claude_reads_the_one_before_it_from_the_cache() {
    // The server looks back fewer blocks than all rounds have together.
    let rounds = (0..10).map(|round| calls(&format!("Bergen {round}")));
    let server = ROWS[0].start(rounds.collect()).await;
    let flow = flow_of(agent(&ROWS[0], &server, tools()));
    flow.run(&mut FlowState::new("Umbrella?")).await.unwrap();

    let mut before = 0;
    let requests = server.requests();
    assert_eq!(requests.len(), 11);
    for seen in requests {
        let read = seen.count("cache_read_input_tokens");
        assert_eq!(read, before);
        before = read + seen.count("cache_creation_input_tokens");
    }
    assert!(before > 0);
}

/// A run that was stopped while a tool was called goes on with another client, which returns to the server what it
/// sent to the first one.
#[tokio::test]
async fn a_resumed_run_returns_what_was_sent_before_it_was_stopped() {
    for row in ROWS {
        let call = Reply::default()
            .thinks("OPAQUE thought")
            .calls("weather", json!({"city": "Bergen"}));
        let server = row
            .start(vec![call, Reply::says("Yes.").thinks("OPAQUE")])
            .await;
        let folder = tempfile::tempdir().unwrap();
        let store = Store::files(folder.path());

        let is_called = Arc::new(Notify::new());
        let called = Arc::clone(&is_called);
        let never_ends = function("weather", "The weather.", move |City { .. }| {
            called.notify_one();
            std::future::pending::<Result<String, ToolError>>()
        });
        let flow = flow_of(agent(&row, &server, with_height(never_ends)));
        let mut state = FlowState::new("Umbrella?");
        let journal = store.start("7", &flow, &state).await.unwrap();
        let mut stopped = flow.begin().with_journal(journal);
        tokio::select! {
            ended = stopped.finish(&mut state) => panic!("{}: {ended:?}", row.name),
            () = is_called.notified() => drop(stopped),
        }

        let flow = flow_of(agent(&row, &server, tools()));
        let state = resume(&store, &flow, "Umbrella?").await.unwrap();
        assert_served(&row, &server);
        assert!(state.last().text.ends_with("Yes."), "{}", row.name);
    }
}
