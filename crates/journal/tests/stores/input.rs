//! A run is resumed only with the input with which it was started.

use std::collections::HashMap;

use cogwork_flow::{Action, Flow, from_fn};
use cogwork_journal::{Store, StoreError, StoreErrorKind};
use serde::Serialize;

use crate::each::{Tested, for_each_store};
use crate::work::{Calls, Work, counted, flow};

for_each_store! {
    any_input_resumes_a_run_if_the_program_asks_for_it,
    the_order_of_keys_does_not_matter,
    the_place_of_the_difference_is_reported,
    inputs_that_are_nested_too_deeply_are_compared_as_text,
    a_start_is_compared_while_the_run_is_in_use,
}

async fn any_input_resumes_a_run_if_the_program_asks_for_it<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let flow = flow(&counted(&Calls::default()));

    for rounds in [3, 4] {
        let input = Work::of(rounds);
        let journal = store.start_or_resume_any_input("a", &flow, &input).await;
        let journal = journal.unwrap();
        assert_eq!(journal.state::<Work>().unwrap(), Work::of(3));
    }

    let journal = store.resume("a", &flow).await.unwrap();
    assert_eq!(journal.state::<Work>().unwrap(), Work::of(3));
}

/// A flow that does nothing, for inputs of any type.
fn idle() -> Flow<()> {
    Flow::builder("idle")
        .start("rest")
        .node("rest", from_fn(|_: &mut ()| ()))
        .end("rest", Action::DEFAULT)
        .build()
        .unwrap()
}

async fn the_order_of_keys_does_not_matter<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let flow = idle();

    // Each map has its own order, and with 20 keys two are hardly ever the same.
    for _ in 0..5 {
        let input: HashMap<_, _> = (0..20).map(|n| (n.to_string(), n)).collect();
        drop(store.start_or_resume("a", &flow, &input).await.unwrap());
    }
}

/// Starts a run with one input, and returns the error of the other.
async fn refusal(
    store: &Store,
    run_id: &str,
    recorded: &impl Serialize,
    given: &impl Serialize,
) -> StoreError {
    let flow = idle();
    drop(
        store
            .start_or_resume(run_id, &flow, recorded)
            .await
            .unwrap(),
    );

    let error = store.start_or_resume(run_id, &flow, given).await;
    error.unwrap_err()
}

async fn the_place_of_the_difference_is_reported<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let told = |error| S::told(error, folder.path());

    let error = refusal(&store, "a", &"2 + 2", &"2 + 3").await;
    insta::assert_snapshot!(told(error), @"STORE, line 1: the run `a` was started with a different input; to start a run with this input, choose a different id; to continue the run with its recorded input, use `resume` or `start_or_resume_any_input`");

    let recorded = serde_json::json!({"topic": "sea", "notes": [1, {"a/b": 1}]});
    let given = serde_json::json!({"topic": "sea", "notes": [1, {"a/b": 2}]});
    let error = refusal(&store, "nested", &recorded, &given).await;
    assert!(told(error).contains("(it differs at `/notes/1/a~1b`)"));

    let error = refusal(&store, "longer", &[1, 2], &[1, 2, 3]).await;
    assert!(told(error).contains("(it differs at `/2`)"));

    let recorded = serde_json::json!({"a": 1, "b": 2});
    let given = serde_json::json!({"a": 1});
    let error = refusal(&store, "fewer keys", &recorded, &given).await;
    assert!(told(error).contains("(it differs at `/b`)"));
}

async fn inputs_that_are_nested_too_deeply_are_compared_as_text<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let flow = idle();
    let nested = |inner: &str| {
        let json = format!("{}{inner}{}", "[".repeat(300), "]".repeat(300));
        serde_json::value::RawValue::from_string(json).unwrap()
    };

    for _ in 0..2 {
        let journal = store.start_or_resume("a", &flow, &nested("1")).await;
        drop(journal.unwrap());
    }

    let error = store.start_or_resume("a", &flow, &nested("2")).await;
    assert_eq!(error.unwrap_err().kind(), StoreErrorKind::AnotherInput);
}

async fn a_start_is_compared_while_the_run_is_in_use<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let work = flow(&counted(&Calls::default()));
    let input = Work::of(3);
    let missing = store.is_started_with("a", &work, &input).await.unwrap_err();
    assert_eq!(missing.kind(), StoreErrorKind::Missing);

    let _in_use = store.start("a", &work, &input).await.unwrap();
    assert!(store.is_started_with("a", &work, &input).await.unwrap());
    let other = Work::of(4);
    assert!(!store.is_started_with("a", &work, &other).await.unwrap());
    assert!(!store.is_started_with("a", &idle(), &input).await.unwrap());
}
