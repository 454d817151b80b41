//! Flows whose runs are shown.

use std::path::{Path, PathBuf};

use cogwork_flow::{Action, Flow, Wait, from_fn};
use cogwork_journal::Store;
use serde_json::{Value, json};

/// Returns a flow that asks for an answer and stores it.
pub(crate) fn asking() -> Flow<String> {
    let wait = Wait::for_event("rating", |state: &mut String, answer: Value| {
        *state = answer.to_string();
    });
    let schema = json!({
        "type": "object",
        "properties": {"stars": {"type": "integer", "minimum": 1, "maximum": 5}},
        "required": ["stars"],
    });

    let wait = wait.with_schema(schema);
    let wait = wait.with_reason(|state| format!("how good is {state}?"));
    Flow::builder("rate")
        .start("draft")
        .node("draft", from_fn(|_: &mut String| ()))
        .wait("ask", wait)
        .edge("draft", Action::DEFAULT, "ask")
        .end("ask", Action::DEFAULT)
        .build()
        .unwrap()
}

/// Starts a run, which pauses.
pub(crate) async fn pause(store: &Store, run_id: &str, input: &str) {
    let flow = asking();
    let journal = store.start(run_id, &flow, &input).await.unwrap();
    let mut state: String = journal.state().unwrap();
    let mut run = flow.begin().with_journal(journal);
    run.finish(&mut state).await.unwrap_err();
}

/// Starts a run that fails.
pub(crate) async fn fail(store: &Store, run_id: &str) {
    let node = from_fn(|_: &mut u32| Err::<(), _>(std::io::Error::other("no luck").into()));
    let flow = Flow::from_node("failing", node).unwrap();
    let journal = store.start(run_id, &flow, &1).await.unwrap();
    let mut run = flow.begin().with_journal(journal);
    run.finish(&mut 1).await.unwrap_err();
}

/// Returns a folder and a database for runs, which are gone when the folder is dropped.
pub(crate) fn places() -> (tempfile::TempDir, [PathBuf; 2]) {
    let folder = tempfile::tempdir().unwrap();
    let places = ["runs", "runs.db"].map(|name| folder.path().join(name));
    (folder, places)
}

/// Returns a folder with a run that waits, and its store.
pub(crate) async fn paused() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = at(folder.path());
    pause(&store, "a", "a tale").await;
    (folder, store)
}

pub(crate) fn at(place: &Path) -> Store {
    Store::at(place.to_str().unwrap()).unwrap()
}

/// Returns some events of a run.
pub(crate) fn happened(run_id: &str) -> Vec<String> {
    let header = json!({"at": 0.0, "type": "opened", "run": run_id, "flow": "rate", "started": 1_763_875_000.5});
    let events = [
        json!({"at": 0.0, "type": "run_started"}),
        json!({"step": "rate/draft#1", "at": 0.1, "type": "step_entered"}),
        json!({"step": "rate/draft#1", "at": 0.2, "type": "reported", "source": "chat", "report": {
            "type": "chat", "call": 0, "messages": [], "settings": {}, "took": 0.1, "reply": "</script><b>hi</b>",
            "finish": "stop", "usage": {"input": 100, "output": 20}, "cost": 0.25}}),
        json!({"step": "rate/draft#1", "at": 0.3, "type": "reported", "source": "reasoning", "report": {
            "type": "thought", "thought": 1, "text": "a thought", "plan": []}}),
    ];
    let lines = std::iter::once(header).chain(events);
    lines.map(|line| line.to_string()).collect()
}
