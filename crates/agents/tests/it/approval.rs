//! Tool calls that a person has to approve.

use std::sync::{Arc, Mutex};

use crate::shown::hostile::assert_safe_line;
use crate::support;
use cogwork_agents::{Agent, FlowState};
use cogwork_flow::engine::MemoryJournal;
use cogwork_flow::watch::{EventKind, events};
use cogwork_flow::{Action, Flow, Paused};
use cogwork_journal::{Store, StoreErrorKind};
use cogwork_llm::{
    ChatResponse, LlmError, LlmErrorKind, ScriptedClient, ToolCall, ToolDefinition, async_trait,
};
use cogwork_tools::{Tool, ToolApproval, ToolError, Tools, function};
use cogwork_typed::ask::{Limits, ToolEvent};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The mails that were sent.
type Sent = Arc<Mutex<Vec<String>>>;

#[derive(Deserialize, JsonSchema)]
struct Mail {
    to: String,
}

fn tools(sent: &Sent) -> Tools {
    let sent = Arc::clone(sent);
    let send = function("send", "Sends a mail.", move |Mail { to }| {
        sent.lock().unwrap().push(to);
        async { Ok::<_, ToolError>("sent".to_owned()) }
    });
    let look = function("look", "Looks.", |Mail { to }| async move {
        Ok::<_, ToolError>(format!("{to} is in."))
    });

    Tools::new().with(send).unwrap().with(look).unwrap()
}

fn call(id: &str, tool: &str, to: &str) -> ToolCall {
    ToolCall::new(id, tool, json!({ "to": to }).to_string())
}

fn script(calls: impl IntoIterator<Item = ToolCall>) -> ScriptedClient {
    ScriptedClient::default()
        .then(ChatResponse::new("").with_tool_calls(calls))
        .then("Done.")
}

/// An office whose clerk needs approval for each mail.
fn office(client: ScriptedClient, tools: Tools) -> Flow<FlowState> {
    let agent = Agent::new("clerk", client).with_tools(tools.with_approval(["send"]).unwrap());
    let builder = Flow::builder("office").start("clerk").node("clerk", agent);
    builder.end("clerk", Action::DEFAULT).build().unwrap()
}

/// An office that writes to Ada.
fn writing(sent: &Sent) -> Flow<FlowState> {
    office(script([call("1", "send", "Ada")]), tools(sent))
}

/// A store in a folder of its own, and the mails that were sent.
fn set_up() -> (TempDir, Store, Sent) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::sqlite(folder.path().join("runs.db"));
    (folder, store, Sent::default())
}

/// Runs until the run ends or pauses.
async fn resume(store: &Store, flow: &Flow<FlowState>) -> Result<FlowState, Paused> {
    let ended = support::resume(store, flow, "Write to everyone.").await;
    ended.map_err(|error| error.into_paused().unwrap())
}

#[tokio::test]
async fn a_visit_that_failed_with_the_model_neither_asks_nor_acts_again() {
    let (_folder, store, sent) = set_up();
    let client = ScriptedClient::default()
        .then(ChatResponse::new("").with_tool_calls([call("1", "send", "Ada")]))
        .then(LlmError::new(LlmErrorKind::Overloaded, "busy").with_status(503))
        .then("Done.");
    let flow = office(client.clone(), tools(&sent));

    let paused = resume(&store, &flow).await.unwrap_err();
    deliver(&store, &paused.event, &true).await;
    let error = support::resume(&store, &flow, "Write to everyone.")
        .await
        .unwrap_err();
    assert!(error.to_string().contains("busy"), "{error}");

    let state = resume(&store, &flow).await.unwrap();
    assert_eq!(state.last().text, "Done.");
    assert_eq!((state.calls(), client.requests().len()), (2, 3));
    assert_eq!(*sent.lock().unwrap(), ["Ada"]);
}

#[tokio::test]
async fn a_visit_that_reached_a_limit_goes_on_where_it_was_with_a_higher_one() {
    let (_folder, store, sent) = set_up();
    let client = script([call("1", "send", "Ada")]);
    for calls in [1, 1, 2] {
        let limits = Limits::default().with_calls(calls);
        let clerk = Agent::new("clerk", client.clone()).with_tools(tools(&sent));
        let flow = Flow::from_node("office", clerk.with_limits(limits)).unwrap();
        let ended = support::resume(&store, &flow, "Write to Ada.").await;
        assert_eq!(ended.is_ok(), calls == 2, "{ended:?}");
        assert_eq!(*sent.lock().unwrap(), ["Ada"]);
    }
    assert_eq!(client.requests().len(), 2);

    let (_folder, store, sent) = set_up();
    let mail = |to| ChatResponse::new("").with_tool_calls([call(to, "send", to)]);
    let client = ScriptedClient::new(["Ada", "Bob"].map(mail)).then("Done.");
    for (rounds, sent_to) in [(1, ["Ada"].as_slice()), (2, &["Ada", "Bob"])] {
        let clerk = Agent::new("clerk", client.clone()).with_tools(tools(&sent));
        let clerk = clerk.with_tool_rounds(rounds).with_asks_again(0);
        let flow = Flow::from_node("office", clerk).unwrap();
        let ended = support::resume(&store, &flow, "Write to both.").await;
        assert_eq!(ended.is_ok(), rounds == 2, "{ended:?}");
        assert_eq!(*sent.lock().unwrap(), sent_to);
    }
    assert_eq!(client.requests().len(), 3);
}

#[tokio::test]
async fn each_call_is_approved_and_answers_may_come_one_by_one() {
    let (_folder, store, sent) = set_up();
    let calls = [
        call("1", "send", "Ada"),
        call("2", "look", "Bob"),
        call("3", "send", "Bob"),
        call("4", "send", "Cleo"),
    ];
    let script = script(calls);
    let flow = office(script.clone(), tools(&sent));

    let paused = resume(&store, &flow).await.unwrap_err();
    let all = std::iter::once(&paused).chain(&paused.also);
    let events: Vec<_> = all.map(|paused| paused.event.clone()).collect();
    let event = |call: u32| format!("approve send 1.{call} at office/clerk#1.1");
    assert_eq!(events, [event(1), event(3), event(4)]);
    insta::assert_snapshot!(paused.why, @r#"the agent wants to call the tool `send` with {"to":"Ada"}"#);
    assert_eq!(sent.lock().unwrap().len(), 0);

    deliver(&store, &events[0], &true).await;
    let away = ToolApproval::refused().with_reason("he is away");
    deliver(&store, &events[1], &away).await;
    let paused = resume(&store, &flow).await.unwrap_err();
    assert_eq!(paused.event, events[2]);
    assert_eq!(*sent.lock().unwrap(), ["Ada"]);

    deliver(&store, &events[2], &false).await;
    let state = resume(&store, &flow).await.unwrap();
    assert_eq!(*sent.lock().unwrap(), ["Ada"]);

    let results = state.last().tools.iter();
    let results: Vec<_> = results.map(|used| used.result.as_str()).collect();
    let away = "refused by a person: he is away";
    assert_eq!(results, ["sent", "Bob is in.", away, "refused by a person"]);
    assert!(state.last().tools[2].failed);

    let requests = script.requests();
    assert_eq!(requests.len(), 2, "the model is asked once for each reply");
    let told = requests[1].messages().iter().last().unwrap().clone();
    assert!(told.is_tool_failure());
    assert_eq!(told.text(), "refused by a person");
}

/// A tool that leaves the check of its input to whoever calls it.
struct Strict(Sent);

#[async_trait]
impl Tool for Strict {
    fn definition(&self) -> ToolDefinition {
        ToolDefinition::new("send", "Sends a mail.", r#"{"type": "object"}"#)
    }

    fn check(&self, _: &Value) -> Result<(), ToolError> {
        Err(ToolError::unavailable("no mail today"))
    }

    async fn call(&self, input: Value) -> Result<String, ToolError> {
        self.0.lock().unwrap().push(input.to_string());
        Ok("sent".to_owned())
    }
}

#[tokio::test]
async fn a_call_that_the_tool_refuses_is_neither_asked_about_nor_made() {
    let sent = Sent::default();
    let tools = Tools::new().with(Strict(Arc::clone(&sent))).unwrap();
    let flow = office(script([call("1", "send", "Ada")]), tools);

    let mut state = FlowState::new("Write to Ada.");
    flow.run(&mut state).await.unwrap();
    assert!(state.last().tools[0].failed);
    assert_eq!(sent.lock().unwrap().len(), 0);
}

#[tokio::test]
async fn a_call_of_an_unknown_tool_is_reported_once_however_often_the_visit_is_resumed() {
    let calls = [call("1", "call", "Ada"), call("2", "send", "Bob")];
    let flow = office(script(calls), tools(&Sent::default()));
    let (sink, mut events) = events(100);
    let journal = MemoryJournal::new("7");
    let mut run = flow.begin().with_journal(journal).with_events(sink);

    let mut state = FlowState::new("Write to everyone.");
    let paused = run
        .finish(&mut state)
        .await
        .unwrap_err()
        .into_paused()
        .unwrap();
    run.deliver(&paused.event, &true).await.unwrap();
    run.finish(&mut state).await.unwrap();
    assert_eq!(state.last().tools.len(), 2);

    drop(run);
    let mut results = 0;
    while let Some(event) = events.next().await {
        if let EventKind::Reported { report } = &event.kind
            && let Some(ToolEvent::ToolResult { .. }) = report.downcast_ref()
        {
            results += 1;
        }
    }
    assert_eq!(results, 2);
}

async fn deliver(store: &Store, event: &str, answer: &(impl Serialize + Sync)) {
    store.deliver("7", event, answer).await.unwrap();
}

#[tokio::test]
async fn an_answer_that_is_none_is_refused_and_the_question_stays() {
    let (_folder, store, sent) = set_up();
    let flow = writing(&sent);
    let event = resume(&store, &flow).await.unwrap_err().event;

    let mut told = Vec::new();
    for answer in [json!("maybe"), json!({"approved": true, "because": "so"})] {
        let error = store.deliver("7", &event, &answer).await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::RefusedAnswer);
        told.push(error.to_string());
    }
    insta::assert_snapshot!(told.join("\n"));

    assert_eq!(resume(&store, &flow).await.unwrap_err().event, event);
    deliver(&store, &event, &true).await;
    resume(&store, &flow).await.unwrap();
    assert_eq!(*sent.lock().unwrap(), ["Ada"]);
}

#[tokio::test]
async fn without_a_journal_the_visit_fails_before_the_call() {
    let sent = Sent::default();
    let mut state = FlowState::new("Go.");
    let error = writing(&sent).run(&mut state).await.unwrap_err();

    insta::assert_snapshot!(error, @"flow `office`, node `clerk`: exec failed: a tool call needs a person's approval: a wait inside `exec` needs a journal; give the run one with `Run::with_journal`, and don't wait in spawned tasks");
    assert_eq!(sent.lock().unwrap().len(), 0);
}

#[tokio::test]
async fn a_person_sees_the_arguments_as_the_tool_reads_them() {
    let (_folder, store, sent) = set_up();
    let hidden = "a\u{202e}\u{1b}[2J\n".to_owned() + &"x".repeat(10_000);
    let calls = [
        ToolCall::new("1", "send", r#"{"to": "Ada", "to": "Eve"}"#),
        call("2", "send", &hidden),
        ToolCall::new("3", "send", "not an object"),
        ToolCall::new("4", "send", r#"{"to": 7}"#),
    ];
    let flow = office(script(calls), tools(&sent));
    let paused = resume(&store, &flow).await.unwrap_err();

    assert!(paused.why.ends_with(r#"{"to":"Eve"}"#), "{}", paused.why);
    assert_eq!(paused.also.len(), 1, "the last calls fail by themselves");
    assert_safe_line(&paused.also[0].why);
    assert!(paused.also[0].why.ends_with('…'));
    assert!(paused.also[0].why.chars().count() < 4_100);
}
