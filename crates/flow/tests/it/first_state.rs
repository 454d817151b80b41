//! A run is resumed only with the state with which it began.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use cogwork_flow::engine::{Entry, Json, Recorded, StateDigest};
use cogwork_flow::{Action, BoxError, Flow, RunError, from_phases};
use insta::assert_snapshot;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::lines::Lines;

/// Two steps, each with an outcome, over a state of any type.
fn flow<S: Send + 'static>() -> Flow<S> {
    let step = || {
        from_phases(
            |_: &mut S| (),
            |()| async { Ok::<_, BoxError>(()) },
            |_: &mut S, ()| Action::DEFAULT,
        )
    };

    Flow::builder("two")
        .start("one")
        .node("one", step())
        .node("other", step())
        .edge("one", "default", "other")
        .end("other", "default")
        .build()
        .unwrap()
}

async fn run<S>(lines: &Lines, mut state: S) -> Result<(), RunError>
where
    S: Serialize + Send + 'static,
{
    let flow = flow::<S>();
    let mut run = flow.begin().with_journal(lines.journal());
    run.finish(&mut state).await.map(drop)
}

/// Takes one step, and folds the record after it if `folds`.
async fn step<S>(lines: &Lines, mut state: S, folds: bool)
where
    S: Serialize + DeserializeOwned + Send + 'static,
{
    let flow = flow::<S>();
    let mut run = flow.begin().with_journal(lines.journal());
    if folds {
        run = run.with_fold_every(NonZeroU64::MIN);
    }
    run.step(&mut state).await.unwrap();
}

fn digest(value: &impl Serialize) -> StateDigest {
    StateDigest::of(&Json::of(value).unwrap()).unwrap()
}

#[tokio::test]
async fn a_different_state_is_refused_and_nothing_is_recorded_of_it() {
    for folds in [false, true] {
        let lines = Lines::default();
        step(&lines, json!({"order": [30, 12]}), folds).await;
        let before = lines.text();

        for other in [json!({"order": [12, 30]}), json!({}), json!(null)] {
            let error = run(&lines, other).await.unwrap_err();
            assert!(error.is_another_state() && !error.is_journal(), "{error}");
            assert_eq!(lines.text(), before);
        }

        run(&lines, json!({"order": [30, 12]})).await.unwrap();
        run(&lines, json!(null)).await.unwrap_err();
    }
}

#[tokio::test]
async fn the_error_names_the_run_and_the_flow_and_what_is_expected() {
    let lines = Lines::default();
    run(&lines, 1).await.unwrap();
    let error = run(&lines, 2).await.unwrap_err();
    assert_snapshot!(error, @"flow `two`, node `one`: the run `r` began with a different state; expected the state of its first step, or that of its last snapshot");
}

#[tokio::test]
async fn a_refused_run_is_refused_again() {
    let lines = Lines::default();
    run(&lines, 1).await.unwrap();

    let flow = flow::<u32>();
    let mut run = flow.begin().with_journal(lines.journal());
    for _ in 0..2 {
        let error = run.finish(&mut 2).await.unwrap_err();
        assert!(error.is_another_state());
    }
    run.finish(&mut 1).await.unwrap();
}

#[tokio::test]
async fn only_the_digest_of_the_state_is_recorded() {
    let lines = Lines::default();
    step(&lines, "a secret".to_owned(), false).await;
    assert_snapshot!(lines.text(), @r#"
    {"began":{"state":[832676171119894650,832676171119894650]}}
    {"outcome":{"step":"two/one#1","outcome":null}}
    "#);
}

/// The digests were computed with a different program, from the definition in the documentation.
#[test]
fn the_digest_is_the_same_everywhere() {
    let value = json!({"b": [2, {"z": null, "a": "\u{e9}\n"}, 1.5], "a": true});
    let digest = |value: &Value| serde_json::to_string(&digest(value)).unwrap();
    assert_snapshot!(digest(&value), @"[6780389470812210955,5164926520390477949]");
    assert_snapshot!(digest(&Value::Null), @"[13213355136530718826,13213355136530718826]");
}

#[test]
fn lists_in_a_different_order_are_recognised() {
    let one = digest(&json!({"tags": ["a", "b"], "all": [[1, 2], [3]]}));
    let other = digest(&json!({"all": [[3], [2, 1]], "tags": ["b", "a"]}));
    assert_ne!(one, other);
    assert!(one.is_equal_in_any_order(&other));

    let different = digest(&json!({"tags": ["a", "b"], "all": [[1], [2, 3]]}));
    assert!(!one.is_equal_in_any_order(&different));
}

#[tokio::test]
async fn a_program_may_take_the_responsibility_for_the_state() {
    struct NotSerialisable;

    let lines = Lines::default();
    run(&lines, 1).await.unwrap();

    let flow = flow::<NotSerialisable>();
    let mut run = flow.begin().with_journal_any_state(lines.journal());
    run.finish(&mut NotSerialisable).await.unwrap();
}

#[tokio::test]
async fn a_state_that_cannot_be_written_as_json_is_not_compared() {
    let lines = Lines::default();
    for n in [1, 2] {
        run(&lines, BTreeMap::from([((n, n), n)])).await.unwrap();
    }
    assert!(!lines.text().contains("began"), "{}", lines.text());
}

#[tokio::test]
async fn a_record_without_a_digest_accepts_every_state() {
    let lines = Lines::default();
    step(&lines, 1, false).await;
    lines.0.lock().unwrap().remove(0);

    run(&lines, 2).await.unwrap();
    assert!(!lines.text().contains("began"), "{}", lines.text());
}

#[tokio::test]
async fn the_state_is_recorded_before_anything_else_that_a_run_does() {
    let failing = Flow::builder("failing")
        .start("fail")
        .node(
            "fail",
            cogwork_flow::from_fn(|_: &mut u32| Err::<(), _>("no luck".into())),
        )
        .end("fail", "default")
        .build()
        .unwrap();

    let lines = Lines::default();
    let answer = Json::of(&1).unwrap();
    let event = "early".to_owned();
    lines
        .0
        .lock()
        .unwrap()
        .push(Entry::Answer { event, answer });

    let mut run = failing.begin().with_journal(lines.journal());
    run.finish(&mut 1).await.unwrap_err();
    drop(run);

    let mut run = failing.begin().with_journal(lines.journal());
    let error = run.finish(&mut 2).await.unwrap_err();
    assert!(error.is_another_state(), "{error}");
}

#[test]
fn a_record_has_one_first_state() {
    let entry = |text: &str| serde_json::from_str::<Entry>(text);
    let started = || entry(r#"{"began":{"state":[1,2]}}"#).unwrap();
    let outcome = || entry(r#"{"outcome":{"step":"a/b#1","outcome":1}}"#).unwrap();

    for entries in [vec![started(), started()], vec![outcome(), started()]] {
        let error = Recorded::over("r", entries, ()).unwrap_err();
        assert_eq!(error.to_string(), "entry 1: the run has begun already");
    }
}
