//! The events of whole runs, as people and tools read them.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use cogwork::agents::{Agent, FlowState};
use cogwork::cot::{ChainOfThought, Reasoning};
use cogwork::flow::Flow;
use cogwork::journal::Store;
use cogwork::llm::{ChatResponse, LlmClient, ScriptedClient, ToolCall};
use cogwork::strategies::Solver;
use cogwork::strategies::methods::TreeOfThoughts;
use cogwork::tools::{ToolError, Tools, function};
use cogwork::trace::{RecorderSettings, RunRecorder};
use cogwork_quickstart::RuleBasedClient;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// Returns the events of a run without its times.
fn golden(events: impl IntoIterator<Item = String>) -> String {
    let events = events.into_iter().map(|event| {
        let mut event: Value = serde_json::from_str(&event).unwrap();
        without_times(&mut event);
        event.to_string()
    });
    events.collect::<Vec<_>>().join("\n")
}

async fn recorded<S: Send>(flow: &Flow<S>, state: &mut S) -> String {
    let recorder = RunRecorder::in_memory(RecorderSettings::default());
    let mut run = flow.begin().with_id("run-1").with_events(&recorder);
    run.finish(state).await.unwrap();
    golden(recorder.events())
}

fn without_times(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                if ["at", "took", "started", "seconds"].contains(&name.as_str()) {
                    *value = 0.into();
                }
                without_times(value);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(without_times),
        _ => {}
    }
}

fn thinking(client: impl LlmClient + 'static) -> Flow<Reasoning> {
    ChainOfThought::new(client).into_flow()
}

#[tokio::test(start_paused = true)]
async fn of_the_quickstart() {
    let problem = "A train goes 60 km/h for 2.5 h, then 90 km/h for 40 min. How far does it go?";
    let mut reasoning = Reasoning::new(problem);
    let flow = thinking(RuleBasedClient::new());

    insta::assert_snapshot!(recorded(&flow, &mut reasoning).await);
}

#[tokio::test(start_paused = true)]
async fn of_a_tree_of_thoughts() {
    let judged = |score: u32, solved: bool| {
        format!("thought: I judge.\nevaluation_score: {score}\nsolved: {solved}")
    };
    let client = ScriptedClient::new([
        r#"approaches: [{"id": "A", "description": "cook", "promise": 5}, {"id": "B", "description": "go out", "promise": 8}]"#.to_owned(),
        "proposals:\n- book a table\n- take the tram".to_owned(),
        "- buy rice\n- buy noodles\n- buy rice.\n- and a fourth".to_owned(),
        judged(7, false),
        judged(1, false),
        judged(6, false),
        judged(8, false),
        "proposals:\n1. cook them\n2. Buy noodles".to_owned(),
        "proposals: none".to_owned(),
        judged(9, true),
        "thought: Cook noodles for six.\nanswer: noodles at home".to_owned(),
    ]);
    let tree = TreeOfThoughts {
        approaches: 2,
        proposals: 2,
        depth: 2,
        ..TreeOfThoughts::default()
    };
    let solver = Solver::new(client, tree);
    let mut solving = solver.begin("Plan an evening for six.");

    let flow = solver.into_flow().unwrap();
    insta::assert_snapshot!(recorded(&flow, &mut solving).await);
}

#[derive(Deserialize, JsonSchema)]
struct Order {
    /// The number of pieces.
    pieces: u32,
}

#[tokio::test(start_paused = true)]
async fn of_an_agent_with_tools() {
    let quote = |order: Order| async move { Ok::<_, ToolError>(19.5 * f64::from(order.pieces)) };
    let tools = Tools::new()
        .with(function("quote", "The price of an order.", quote))
        .unwrap();
    let order = |id: &str, pieces: &str| {
        let arguments = format!(r#"{{"pieces": {pieces}}}"#);
        ChatResponse::default().with_tool_calls([ToolCall::new(id, "quote", arguments)])
    };
    let client = ScriptedClient::new([
        order("call_1", r#""three""#),
        order("call_2", "3"),
        ChatResponse::new("58.50 euros."),
    ]);
    let clerk = Agent::new("clerk", client)
        .with_role("You answer customers.")
        .with_tools(tools);
    let flow = Flow::from_node("clerk", clerk).unwrap();

    let mut state = FlowState::new("What do three lamps cost?");
    insta::assert_snapshot!(recorded(&flow, &mut state).await);
}

#[tokio::test]
async fn of_a_run_that_crashed_and_was_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let flow = thinking(RuleBasedClient::new());
    let store = Store::files(folder.path());
    let first = Reasoning::new("What is (2 + 3) * 4?");

    let journal = store.start("run-1", &flow, &first).await.unwrap();
    let mut reasoning: Reasoning = journal.state().unwrap();
    let recorder = RunRecorder::new(&journal, RecorderSettings::default()).await;
    let mut run = flow.begin().with_journal(journal).with_events(&recorder);
    run.step(&mut reasoning).await.unwrap();
    run.step(&mut reasoning).await.unwrap();
    recorder.flush().await.unwrap();
    drop(run);

    let journal = store.resume("run-1", &flow).await.unwrap();
    let mut reasoning: Reasoning = journal.state().unwrap();
    let recorder = RunRecorder::new(&journal, RecorderSettings::default()).await;
    let mut run = flow.begin().with_journal(journal).with_events(&recorder);
    run.finish(&mut reasoning).await.unwrap();
    recorder.flush().await.unwrap();
    assert_eq!(reasoning.answer(), Some("20"));

    let events = std::fs::read_to_string(folder.path().join("run-1.events")).unwrap();
    insta::assert_snapshot!(golden(events.lines().map(str::to_owned)));
}
