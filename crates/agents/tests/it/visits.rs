//! The records of visits: replies, costs, and errors.

use std::sync::Arc;
use std::time::Duration;

use cogwork_agents::{Agent, AgentError, AgentErrorKind, FlowState, Output, Visit};
use cogwork_flow::watch::{EventKind, events};
use cogwork_flow::{Node, RunError};
use cogwork_llm::{
    ChatRequest, ChatResponse, LlmClient, LlmError, LlmErrorKind, ScriptedClient, ToolCall, Usage,
    async_trait,
};
use cogwork_thinking::Reflection;
use cogwork_tools::{Tools, function};
use cogwork_typed::ask::{ChatEvent, Limits};

use crate::support::{flow_of, load, run};

fn reply(text: &str) -> ChatResponse {
    ChatResponse::new(text).with_usage(Usage::new(10, 2))
}

/// The visit that failed.
fn visit_of(error: &RunError) -> &Visit {
    error.downcast_ref::<AgentError>().unwrap().visit()
}

#[tokio::test]
async fn a_failed_visit_keeps_every_reply_and_the_cost() {
    let script = ScriptedClient::new([reply("I like it."), reply("As I\nsaid.\u{1b}[31m")]);
    let agent = Agent::new("a", script)
        .with_actions(["accept", "revise"])
        .with_asks_again(1);
    let error = run(agent, "A haiku").await.0.unwrap_err();

    assert!(!error.to_string().contains('\n'));
    let shown = format!("{error:#}");
    let last = "\nthe reply:\nAs I\nsaid.\u{fffd}[31m";
    assert!(shown.ends_with(last), "{shown}");

    let failed = visit_of(&error);
    let spent = failed.spent;
    assert_eq!((spent.calls, spent.usage), (2, Usage::new(20, 4)));

    for (tried, reply) in failed
        .tries
        .iter()
        .zip(["I like it.", "As I\nsaid.\u{1b}[31m"])
    {
        assert_eq!(tried.reply, reply);
        assert_eq!(
            tried.complaint.as_deref(),
            Some("the reply names no action")
        );
    }
    assert!(failed.error.as_deref().unwrap().contains("ACTION"));
}

fn looked_up() -> ChatResponse {
    let call = ToolCall::new("call", "look", r#"{"word": "whale"}"#);
    reply("").with_tool_calls([call])
}

fn look() -> Tools {
    let look = function("look", "Looks.", |_: serde_json::Value| async {
        Ok("a mammal".to_owned())
    });
    Tools::new().with(look).unwrap()
}

#[tokio::test]
async fn the_tool_calls_of_a_failed_visit_are_kept() {
    let script = ScriptedClient::new([looked_up(), looked_up()]);
    let agent = Agent::new("a", script)
        .with_tools(look())
        .with_tool_rounds(1);
    let error = run(agent, "?").await.0.unwrap_err();

    let results: Vec<_> = visit_of(&error)
        .tools
        .iter()
        .map(|used| &*used.result)
        .collect();
    assert_eq!(results, ["a mammal"]);
}

#[tokio::test]
async fn each_call_is_counted_and_shown_once_also_those_of_hooks_and_those_that_fail() {
    let busy = LlmError::new(LlmErrorKind::Overloaded, "busy");
    let script = ScriptedClient::new([reply("Hm."), reply("Better."), reply("No.")]).then(busy);
    let agent = Agent::new("a", script)
        .with_mode(Reflection::new("Shorter."))
        .with_actions(["go", "stay"]);
    let flow = flow_of(agent);
    let (sink, mut events) = events(100);
    let mut run = flow.begin().with_events(sink);
    let error = run.finish(&mut FlowState::new("Walk?")).await.unwrap_err();
    drop(run);

    let failed = error.downcast_ref::<AgentError>().unwrap();
    assert!(matches!(failed.kind(), AgentErrorKind::Client(_)));
    let spent = failed.visit().spent;
    assert_eq!((spent.calls, spent.usage), (4, Usage::new(30, 6)));

    let mut replies = Vec::new();
    while let Some(event) = events.next().await {
        if let EventKind::Reported { report } = &event.kind
            && let Some(ChatEvent::Replied { response, .. }) = report.downcast_ref()
        {
            replies.push(response.text().to_owned());
        }
    }
    assert_eq!(replies, ["Hm.", "Better.", "No."]);
}

#[tokio::test]
async fn a_second_agent_answers_when_the_first_one_fails() {
    let down = LlmError::new(LlmErrorKind::Transport, "no route");
    let first = Agent::new("a", ScriptedClient::default().then(down));
    let second = Arc::new(Agent::new("b", ScriptedClient::new([reply("Yes.")])));
    let agent = first.fallback_with(second, |second, question, _| async move {
        Ok(second.exec(&question).await?)
    });

    let (ended, state) = run(agent, "?").await;
    ended.unwrap();
    assert_eq!((state.last().text.as_str(), state.calls()), ("Yes.", 2));
}

/// Never replies to the second call.
struct Silent(ScriptedClient);

#[async_trait]
impl LlmClient for Silent {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        if self.0.requests().len() == 1 {
            std::future::pending::<()>().await;
        }
        self.0.complete(request).await
    }
}

const NESTED: &str = include_str!("../files/good/visits.yaml");

#[tokio::test]
async fn every_visit_is_kept_in_order_with_those_inside() {
    let loaded = load(NESTED);
    let mut state = FlowState::new("?");
    loaded.flow().run(&mut state).await.unwrap_err();

    let nodes: Vec<_> = state.visits().map(|visit| visit.node.as_str()).collect();
    assert_eq!(nodes, ["review", "judge", "review", "judge"]);

    let inside = state.visits().flat_map(|visit| &visit.inside);
    let outputs = inside.filter_map(|visit| visit.output.as_ref());
    let texts: Vec<_> = outputs.map(|output| output.text.as_str()).collect();
    assert_eq!(texts, ["Good.", "Fine."]);
    assert_eq!(state.calls(), 4);
}

#[test]
fn the_visits_of_a_state_are_bounded() {
    let mut state = FlowState::new("?");
    for number in 0..1_500 {
        state.put("a", Output::new(number.to_string()));
    }

    assert_eq!((state.visits().len(), state.dropped_visits()), (1_000, 500));
    let oldest = state.visits().next().unwrap().output.as_ref().unwrap();
    assert_eq!(oldest.text, "500");

    let json = serde_json::to_string(&state).unwrap();
    let read: FlowState = serde_json::from_str(&json).unwrap();
    assert_eq!((read.visits().len(), read.dropped_visits()), (1_000, 500));
}

#[tokio::test(start_paused = true)]
async fn a_visit_that_reaches_a_limit_fails_and_keeps_what_it_had() {
    let calls = Limits::default().with_calls(1);
    let script = ScriptedClient::new([looked_up(), reply("A mammal.")]);
    let by_calls = Agent::new("a", script)
        .with_tools(look())
        .with_limits(calls);
    let time = Limits::default().with_time(Duration::from_secs(5));
    let silent = Silent(ScriptedClient::new([looked_up()]));
    let by_time = Agent::new("a", silent).with_tools(look()).with_limits(time);

    for (agent, limit) in [(by_calls, "1 call"), (by_time, "5s")] {
        let error = run(agent, "?").await.0.unwrap_err();
        let told = error.to_string();
        let expected = format!("the limit of {limit} was reached");
        assert!(told.contains(&expected), "{told}");

        let stopped = visit_of(&error);
        assert_eq!((stopped.tries.len(), stopped.tools.len()), (1, 1));
        assert_eq!(stopped.tools[0].result, "a mammal");
    }
}
