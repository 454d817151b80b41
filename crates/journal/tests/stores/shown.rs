//! Errors show ids, flows, paths and records safely, whatever they contain.

#[path = "../../../text/tests/support/hostile.rs"]
mod hostile;

use std::collections::HashMap;

use cogwork_flow::{Flow, Wait, from_fn};
use cogwork_journal::{Fork, StoreError};
use hostile::{assert_error_is_safe, texts};

use crate::each::FileStore;
use crate::work::is_long;

#[tokio::test]
async fn nothing_unsafe_is_shown() {
    for text in texts().into_iter().step_by(if is_long() { 1 } else { 4 }) {
        for error in errors(&text).await {
            assert_error_is_safe(&error);
        }
    }
}

/// A flow that waits, with a text for every name.
fn waiting(text: &str) -> Flow<String> {
    let wait = Wait::for_event(text, |_: &mut String, (): ()| ());
    let builder = Flow::builder(text)
        .start(text)
        .wait(text, wait)
        .end(text, "default");

    builder.build().unwrap()
}

/// Another flow of the same name.
fn changed(text: &str) -> Flow<String> {
    let node = format!("{text}2");
    let builder = Flow::builder(text)
        .start(&node)
        .node(&node, from_fn(|_: &mut String| ()));

    builder.end(&node, "default").build().unwrap()
}

async fn errors(text: &str) -> Vec<StoreError> {
    let folder = tempfile::tempdir().unwrap();
    let name: String = text
        .chars()
        .filter(|character| !matches!(character, '/' | '\0'))
        .take(60)
        .collect();

    let store = FileStore::new(folder.path().join(format!("runs {name}")));
    let flow = waiting(text);
    let mut errors = vec![store.resume(text, &flow).await.unwrap_err()];

    let journal = store.start(text, &flow, &text).await.unwrap();
    errors.push(journal.input::<u32>().unwrap_err());
    errors.push(store.resume(text, &flow).await.unwrap_err());
    drop(journal);

    errors.push(store.start(text, &flow, &text).await.unwrap_err());
    let other = HashMap::from([(text, 1)]);
    errors.push(
        store
            .start_or_resume(text, &flow, &other)
            .await
            .unwrap_err(),
    );
    errors.push(different_key(&store, text, &flow).await);

    errors.push(store.resume(text, &changed(text)).await.unwrap_err());
    errors.push(
        store
            .resume(text, &waiting(&format!("{text}2")))
            .await
            .unwrap_err(),
    );

    errors.push(
        store
            .deliver(text, &format!("{text}2"), &1)
            .await
            .unwrap_err(),
    );

    errors.extend(forks(&store, text, &flow).await);
    errors.extend(damaged(&store, text, &flow).await);
    errors
}

/// The errors for forks that are impossible.
async fn forks(store: &FileStore, text: &str, flow: &Flow<String>) -> Vec<StoreError> {
    let forks = [
        Fork::at(9),
        Fork::at_visit(text, 9),
        Fork::at(1).with_outcome(&1),
        Fork::at(1).with_outcome_of(text, &1),
        Fork::at(1).with_run_id(text),
    ];
    let mut errors = Vec::new();
    for fork in forks {
        errors.push(store.fork(text, flow, fork).await.unwrap_err());
    }

    let fork = Fork::at(1);
    errors.push(store.fork(text, &changed(text), fork).await.unwrap_err());
    errors
}

/// The error for an input that differs at a key.
async fn different_key(store: &FileStore, text: &str, flow: &Flow<String>) -> StoreError {
    let run_id = "different key";
    let input = HashMap::from([(text, 1)]);
    drop(store.start_or_resume(run_id, flow, &input).await.unwrap());

    let other = HashMap::from([(text, 2)]);
    let error = store.start_or_resume(run_id, flow, &other).await;
    error.unwrap_err()
}

/// What is said of files with a text in the wrong places.
async fn damaged(store: &FileStore, text: &str, flow: &Flow<String>) -> Vec<StoreError> {
    let path = store.path(text);
    let whole = std::fs::read_to_string(&path).unwrap();
    let json = serde_json::to_string(text).unwrap();
    let damaged = [
        format!("{text}\n"),
        format!("{{\"cogwork_journal\":{text}}}\n"),
        whole.replacen("{\"", &format!("{{{json}:1,\""), 1),
        format!("{whole}{text}\n"),
    ];

    let mut errors = Vec::new();
    for content in damaged
        .iter()
        .filter(|content| **content != whole && !content.trim().is_empty())
    {
        std::fs::write(&path, content).unwrap();
        errors.extend(store.resume(text, flow).await.err());
    }

    errors
}
