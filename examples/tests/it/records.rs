//! The records of whole runs, as people and tools read them.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use cogwork::agents::{Agent, FlowState};
use cogwork::cot::{ChainOfThought, Reasoning};
use cogwork::flow::Flow;
use cogwork::journal::Store;
use cogwork::llm::{ChatResponse, LlmClient, ScriptedClient, ToolCall};
use cogwork::strategies::{Solver, TreeOfThoughts};
use cogwork::tools::{ToolError, Tools, function};
use cogwork::trace::{RecordReader, RecorderSettings, RunRecorder, record_path};
use cogwork_quickstart::RuleBasedClient;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tempfile::TempDir;

struct Records {
    folder: TempDir,
}

impl Records {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self) -> PathBuf {
        record_path(self.folder.path(), "run-1")
    }

    fn recorder(&self) -> RunRecorder {
        let settings = RecorderSettings::default();
        RunRecorder::in_folder(self.folder.path(), "run-1", settings).unwrap()
    }

    async fn record<S: Send>(&self, flow: &Flow<S>, state: &mut S) {
        let recorder = self.recorder();
        let mut run = flow.begin().with_id("run-1").with_events(&recorder);
        run.finish(state).await.unwrap();
        recorder.flush().unwrap();
    }
}

/// Returns a record without its times. Reading it must not be an error.
fn golden(path: &Path) -> String {
    let mut reader = RecordReader::open(path).unwrap();
    assert!(reader.by_ref().all(|event| event.is_ok()));

    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        without_times(&mut line);
        line.to_string()
    });
    lines.collect::<Vec<_>>().join("\n")
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
    let records = Records::new();
    let problem = "A train goes 60 km/h for 2.5 h, then 90 km/h for 40 min. How far does it go?";
    let mut reasoning = Reasoning::new(problem);
    let flow = thinking(RuleBasedClient::new());
    records.record(&flow, &mut reasoning).await;

    insta::assert_snapshot!(golden(&records.path()));
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
    let tree = TreeOfThoughts::new()
        .with_approaches(2)
        .with_proposals(2)
        .with_depth(2);
    let solver = Solver::new(client, tree);
    let mut solving = solver.begin("Plan an evening for six.");

    let records = Records::new();
    records
        .record(&solver.into_flow().unwrap(), &mut solving)
        .await;

    insta::assert_snapshot!(golden(&records.path()));
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

    let records = Records::new();
    let mut state = FlowState::new("What do three lamps cost?");
    records.record(&flow, &mut state).await;

    insta::assert_snapshot!(golden(&records.path()));
}

#[tokio::test]
async fn of_a_run_that_crashed_and_was_resumed() {
    let records = Records::new();
    let flow = thinking(RuleBasedClient::new());
    let store = Store::files(records.folder.path());
    let first = Reasoning::new("What is (2 + 3) * 4?");

    let journal = store.start("run-1", &flow, &first).await.unwrap();
    let mut reasoning: Reasoning = journal.state().unwrap();
    let recorder = records.recorder();
    let mut run = flow.begin().with_journal(journal).with_events(&recorder);
    run.step(&mut reasoning).await.unwrap();
    run.step(&mut reasoning).await.unwrap();
    drop(run);
    drop(recorder);

    // The crash tears the last line.
    let mut file = OpenOptions::new()
        .append(true)
        .open(records.path())
        .unwrap();
    file.write_all(br#"{"step":"chain of thought/think#3","at":0.01"#)
        .unwrap();

    let journal = store.resume("run-1", &flow).await.unwrap();
    let mut reasoning: Reasoning = journal.state().unwrap();
    let recorder = records.recorder();
    let mut run = flow.begin().with_journal(journal).with_events(&recorder);
    run.finish(&mut reasoning).await.unwrap();
    recorder.flush().unwrap();
    assert_eq!(reasoning.answer(), Some("20"));

    // The record isn't a run of the store.
    assert_eq!(store.runs().await.unwrap().len(), 1);

    insta::assert_snapshot!(golden(&records.path()));
}
