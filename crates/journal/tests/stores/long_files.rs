//! Files that are read in several parts, which have lines across their ends.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cogwork_flow::journal::Entry;
use cogwork_flow::{Action, Flow, from_phases};
use cogwork_journal::{FileStore, RunStatus, Store};

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// The lengths of the texts. The first part ends in a text, and so does a later one.
const LENGTHS: [usize; 12] = [
    1,
    60 * KIB,
    10 * KIB,
    200 * KIB,
    3,
    5 * MIB,
    5 * MIB,
    5 * MIB,
    5 * MIB,
    7,
    5 * MIB,
    11,
];

/// Returns a text with characters of more than one byte.
fn text(length: usize) -> String {
    "wörter ".repeat(length / 8 + 1)
}

/// Adds up the lengths of the texts.
fn flow(calls: &Arc<AtomicUsize>) -> Flow<(usize, usize)> {
    flow_of(LENGTHS.map(text).to_vec(), calls)
}

fn flow_of(texts: Vec<String>, calls: &Arc<AtomicUsize>) -> Flow<(usize, usize)> {
    let calls = Arc::clone(calls);
    let steps = texts.len();
    let node = from_phases(
        |(step, _): &mut (usize, usize)| *step,
        move |step: usize| {
            calls.fetch_add(1, Ordering::Relaxed);
            let text = texts[step].clone();
            async move { Ok::<_, io::Error>(text) }
        },
        move |(step, length), _, text| {
            *step += 1;
            *length += text.len();
            Action::from_static(if *step == steps { "end" } else { "more" })
        },
    );

    Flow::builder("long")
        .start("text")
        .node("text", node.with_actions(["more", "end"]))
        .edge("text", "more", "text")
        .end("text", "end")
        .build()
        .unwrap()
}

async fn run(store: &FileStore, flow: &Flow<(usize, usize)>) -> usize {
    let journal = store.start_or_resume("a", flow, &(0, 0)).await.unwrap();
    let mut state = journal.state().unwrap();
    let run = flow.begin().with_journal(journal);
    run.with_max_outcome(8 * MIB)
        .finish(&mut state)
        .await
        .unwrap();
    state.1
}

#[tokio::test]
async fn a_file_of_several_parts_is_read_whole() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::new(folder.path()).with_sync(false);
    let calls = Arc::default();
    let flow = flow(&calls);

    let all = LENGTHS.map(|length| text(length).len());
    assert_eq!(run(&store, &flow).await, all.iter().sum::<usize>());
    assert_eq!(run(&store, &flow).await, all.iter().sum::<usize>());
    assert_eq!(calls.load(Ordering::Relaxed), LENGTHS.len());

    let entries = store.entries("a", ..).await.unwrap();
    let outcomes = entries.iter().filter_map(|entry| match &entry.entry {
        Entry::Outcome { outcome, .. } => Some(outcome.read::<String>().unwrap().len()),
        _ => None,
    });
    assert_eq!(outcomes.collect::<Vec<_>>(), all);

    let runs = store.runs().await.unwrap();
    assert!(
        matches!(runs[0].status, RunStatus::Ended { .. }),
        "{runs:?}"
    );
}

#[tokio::test]
async fn a_long_line_is_refused_wherever_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::new(folder.path()).with_sync(false);
    let flow = flow(&Arc::default());
    run(&store, &flow).await;

    // The number of the first line that is longer than the limit.
    let path = folder.path().join("a.jsonl");
    let bytes = std::fs::read(&path).unwrap();
    for limit in [50 * KIB, 100 * KIB, MIB] {
        let mut lines = bytes.split(|byte| *byte == b'\n');
        let number = lines.position(|line| line.len() > limit).unwrap() + 1;

        let store = FileStore::new(folder.path()).with_max_line(limit);
        let error = store.resume("a", &flow).await.unwrap_err();
        assert!(error.is_too_large(), "{error}");
        let expected = format!("line {number}: the line is longer than {limit} bytes");
        assert!(error.to_string().contains(&expected), "{error}");
    }
}
