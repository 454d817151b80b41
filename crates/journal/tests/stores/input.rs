//! A run is resumed only with the input with which it was started.

use std::collections::HashMap;

use cogwork_flow::{Action, Flow, from_fn};
use cogwork_journal::{Store, StoreError};
use serde::Serialize;

use crate::each::{Tested, for_each_store};
use crate::work::{Calls, Work, changed, counted, flow};

for_each_store! {
    a_different_input_is_refused_at_any_point_of_a_run,
    any_input_resumes_a_run_if_the_program_asks_for_it,
    a_different_input_is_reported_before_a_changed_flow,
    the_order_of_keys_does_not_matter,
    the_place_of_the_difference_is_reported,
    inputs_that_are_nested_too_deeply_are_compared_as_text,
}

/// How far the first process comes before it dies.
#[derive(Debug, Clone, Copy)]
enum Progress {
    /// The header is written, but no entry.
    Header,
    Steps(usize),
    Folded,
    Ended,
}

const PROGRESS: [Progress; 4] = [
    Progress::Header,
    Progress::Steps(2),
    Progress::Folded,
    Progress::Ended,
];

/// Runs as far as `progress` and drops everything.
async fn run_until(store: &Store, run_id: &str, flow: &Flow<Work>, progress: Progress) {
    let input = Work::of(3);
    let journal = store.start_or_resume(run_id, flow, &input).await.unwrap();
    let mut work: Work = journal.state().unwrap();
    let run = flow.begin().with_journal(journal);

    let steps = match progress {
        Progress::Header => 0,
        Progress::Steps(steps) => steps,
        Progress::Folded => 3,
        Progress::Ended => usize::MAX,
    };
    let mut run = match progress {
        Progress::Folded => run.with_fold_every(std::num::NonZeroU64::MIN),
        _ => run,
    };

    if steps == usize::MAX {
        run.finish(&mut work).await.unwrap();
        return;
    }

    for _ in 0..steps {
        run.step(&mut work).await.unwrap();
    }
}

async fn a_different_input_is_refused_at_any_point_of_a_run<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let flow = flow(&counted(&Calls::default()));

    for progress in PROGRESS {
        let run_id = format!("{progress:?}");
        run_until(&store, &run_id, &flow, progress).await;
        let before = store.lines(&run_id);

        let other = Work::of(4);
        let error = store.start_or_resume(&run_id, &flow, &other).await;
        assert!(error.unwrap_err().is_another_input(), "{run_id}");
        assert_eq!(store.lines(&run_id), before, "{run_id}");
    }
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

async fn a_different_input_is_reported_before_a_changed_flow<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let call = counted(&Calls::default());
    let old = flow(&call);
    let new = changed(&call, "twice");
    drop(store.start("a", &old, &Work::of(3)).await.unwrap());

    let error = store.start_or_resume("a", &new, &Work::of(4)).await;
    assert!(error.unwrap_err().is_another_input());

    let error = store.start_or_resume("a", &new, &Work::of(3)).await;
    assert!(error.unwrap_err().is_another_flow());

    let error = store
        .start_or_resume_any_input("a", &new, &Work::of(4))
        .await;
    assert!(error.unwrap_err().is_another_flow());
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
    assert!(error.unwrap_err().is_another_input());
}
