//! A loaded flow that runs again from what is in its journal.

use std::path::Path;

use cogwork_journal::Store;

use crate::support::{load, resume};

const FLOW: &str = include_str!("../files/good/running.yaml");

/// Runs a flow with the journal in a folder. Returns the texts of its visits, and the calls.
async fn run_in(folder: &Path, flow: &str) -> (Vec<String>, u32) {
    let store = Store::files(folder);
    let state = resume(&store, load(flow).flow(), "run").await.unwrap();
    let outputs = state.visits().filter_map(|visit| visit.output.as_ref());
    let texts = outputs.map(|output| output.text.clone()).collect();
    (texts, state.calls())
}

#[tokio::test]
async fn a_flow_goes_on_from_every_line_of_its_journal() {
    let folder = tempfile::tempdir().unwrap();
    let whole = run_in(folder.path(), FLOW).await;
    let record = std::fs::read_to_string(folder.path().join("7.jsonl")).unwrap();
    let lines: Vec<_> = record.split_inclusive('\n').collect();
    assert!(lines.len() > 4, "{record}");

    for kept in 1..=lines.len() {
        let folder = tempfile::tempdir().unwrap();
        let part: String = lines[..kept].concat();
        std::fs::write(folder.path().join("7.jsonl"), part).unwrap();
        assert_eq!(run_in(folder.path(), FLOW).await, whole, "{kept} lines");
    }

    // These models would say something else if they were asked again.
    let other = FLOW.replace("draft", "text").replace("heard", "missed");
    assert_eq!(run_in(folder.path(), &other).await, whole);
}
