//! A long run keeps a short record: a snapshot of its state in place of what led there.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use crate::lines;

use std::num::NonZeroU64;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use cogwork_flow::engine::{Entry, Journal, Recorded, Snapshot};
use cogwork_flow::{
    Action, Batch, BoxError, Flow, Node, RunError, Stepped, Wait, from_fn, from_phases,
    idempotency_key,
};
use insta::assert_snapshot;
use lines::Lines;
use serde::{Deserialize, Serialize};
use tokio::time::advance;

type Keys = Arc<Mutex<Vec<String>>>;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Tally {
    rounds: u64,
    sum: u64,
    words: Vec<String>,
}

fn every(steps: u64) -> NonZeroU64 {
    NonZeroU64::new(steps).unwrap()
}

/// Adds one to a number, and keeps the name of the call.
fn add(keys: &Keys) -> impl Node<u64, Exec = u64> + use<> {
    let keys = Arc::clone(keys);
    from_phases(
        |n: &mut u64| *n,
        move |n| {
            keys.lock().unwrap().extend(idempotency_key());
            async move {
                tokio::task::yield_now().await;
                Ok::<_, BoxError>(n + 1)
            }
        },
        |n, more| *n = more,
    )
}

fn rounds(of: u64) -> impl Node<Tally> {
    let again = from_fn(move |tally: &mut Tally| {
        tally.rounds += 1;
        Action::from_static(if tally.rounds < of { "again" } else { "enough" })
    });
    again.with_actions(["again", "enough"])
}

/// So many rounds of a subflow with a batch in it.
fn long(of: u64, keys: &Keys) -> Flow<Tally> {
    let batch = Batch::at_most(
        2,
        add(keys),
        |tally: &Tally| vec![tally.sum, tally.sum],
        |tally, both| tally.sum = both.iter().sum::<u64>() % 1_000_003,
    );

    let inner = Flow::builder("inner")
        .start("one")
        .node("one", add(keys).focus(|tally: &mut Tally| &mut tally.sum))
        .batch("two", batch)
        .edge("one", "default", "two")
        .end("two", "default")
        .build()
        .unwrap();

    Flow::builder("long")
        .start("add")
        .subflow("add", inner, |tally: &mut Tally| tally)
        .node("look", rounds(of))
        .edge("add", "default", "look")
        .edge("look", "again", "add")
        .end("look", "enough")
        .build()
        .unwrap()
}

/// The journal after a restart, and the state that it begins with.
fn taken_up(lines: &Lines) -> (Recorded<Lines>, Tally) {
    let journal = lines.journal();
    let state = journal
        .snapshot()
        .map_or_else(Tally::default, |snapshot| snapshot.state.read().unwrap());
    (journal, state)
}

#[tokio::test]
async fn a_long_loop_keeps_a_short_record() {
    let keys = Keys::default();
    let lines = Lines::default();
    let flow = long(300, &keys);
    let mut plain = Tally::default();
    let ended = flow.run(&mut plain).await.unwrap();

    let (journal, mut state) = taken_up(&lines);
    let mut run = flow
        .begin()
        .with_journal(journal)
        .with_fold_every(every(10));
    loop {
        let stepped = run.step(&mut state).await.unwrap();
        assert!(
            lines.all().len() <= 1 + 10 * 2,
            "a snapshot, and what came since"
        );
        if let Stepped::Ended(there) = stepped {
            assert_eq!((there, &state), (ended, &plain));
            break;
        }
    }

    let (journal, mut state) = taken_up(&lines);
    assert_eq!(
        journal.snapshot().unwrap().steps,
        890,
        "none is made at the end"
    );

    let made = keys.lock().unwrap().len();
    assert_eq!(
        flow.begin()
            .with_journal(journal)
            .finish(&mut state)
            .await
            .unwrap()
            .steps,
        900
    );

    assert_eq!((state, keys.lock().unwrap().len()), (plain, made));
}

#[tokio::test]
async fn a_run_is_taken_up_from_its_snapshot_wherever_it_was_dropped() {
    let mut undisturbed = Tally::default();
    long(4, &Keys::default())
        .run(&mut undisturbed)
        .await
        .unwrap();
    for fold in [1, 2, 5] {
        let mut subflows = 0;
        for polls in 1.. {
            let keys = Keys::default();
            let lines = Lines::default();
            let flow = long(4, &keys);
            let (journal, mut state) = taken_up(&lines);
            let mut run = flow
                .begin()
                .with_journal(journal)
                .with_fold_every(every(fold));
            let mut left = polls;

            {
                let mut running = std::pin::pin!(run.finish(&mut state));
                let done = std::future::poll_fn(|context| {
                    left -= 1;
                    match running.as_mut().poll(context) {
                        Poll::Pending if left == 0 => Poll::Ready(false),
                        polled => polled.map(|ended| ended.is_ok()),
                    }
                });

                if done.await {
                    break;
                }
            }
            let (journal, mut state) = taken_up(&lines);
            subflows += usize::from(
                journal
                    .snapshot()
                    .is_some_and(|snapshot| snapshot.node == ["add", "two"]),
            );

            let run = flow
                .begin()
                .with_journal(journal)
                .with_fold_every(every(fold));
            assert_eq!({ run }.finish(&mut state).await.unwrap().steps, 12);
            assert_eq!(state, undisturbed);
            let mut keys = keys.lock().unwrap().clone();
            let made = keys.len();

            keys.sort_unstable();
            keys.dedup();
            assert_eq!(keys.len(), 4 * 3, "each call by its own name");
            assert!(
                made <= keys.len() + 2,
                "only what was in flight is made again: {made} calls"
            );
        }

        assert!(subflows > 0, "some of them in the middle of the subflow");
    }
}

/// Asks for a word in each round, in a minute.
fn asking(of: u64) -> Flow<Tally> {
    let wait = Wait::for_event("word", |tally: &mut Tally, word: String| {
        tally.words.push(word)
    });
    Flow::builder("asking")
        .start("look")
        .node("look", rounds(of))
        .wait("ask", wait.with_timeout(Duration::from_secs(60)))
        .sleep("rest", |_| Duration::from_secs(10))
        .edge("look", "again", "ask")
        .edge("ask", "default", "rest")
        .edge("ask", Action::TIMED_OUT, "rest")
        .edge("rest", "default", "look")
        .end("look", "enough")
        .build()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn answers_that_nobody_has_taken_outlive_a_fold() {
    let flow = asking(4);
    let lines = Lines::default();
    let (journal, mut state) = taken_up(&lines);
    let mut run = flow.begin().with_journal(journal).with_fold_every(every(1));

    for word in ["one", "two", "three"] {
        run.deliver("word", &word).await.unwrap();
    }

    for _ in 0..2 {
        run.step(&mut state).await.unwrap();
    }

    assert_snapshot!(lines.text(), @r#"
    {"snapshot":{"node":["rest"],"number":2,"steps":2,"state":{"rounds":1,"sum":0,"words":["one"]}}}
    {"answer":{"event":"word","answer":"two"}}
    {"answer":{"event":"word","answer":"three"}}
    "#);

    let (journal, mut state) = taken_up(&lines);
    flow.begin()
        .with_journal(journal)
        .with_fold_every(every(1))
        .finish(&mut state)
        .await
        .unwrap();

    assert_eq!(state.words, ["one", "two", "three"]);
}

/// A record without folds, taken up with them: it is folded when the run is past it, and not again
/// for each step that is replayed.
#[tokio::test(start_paused = true)]
async fn a_replay_folds_nothing_until_it_is_past_the_record() {
    let flow = asking(9);
    let lines = Lines::default();
    let (journal, mut state) = taken_up(&lines);
    let mut run = flow.begin().with_journal(journal);
    run.deliver("word", &"one").await.unwrap();
    let first = run.finish(&mut state).await.unwrap_err();
    assert!(first.paused().is_some());
    advance(Duration::from_secs(61)).await;

    let second = run.finish(&mut state).await.unwrap_err();
    let until = second.into_paused().unwrap().until;
    assert_eq!((run.steps(), &state.words), (7, &vec!["one".to_owned()]));

    let before = lines.text();
    let (journal, mut again) = taken_up(&lines);
    let mut run = flow.begin().with_journal(journal).with_fold_every(every(1));

    let third = run.finish(&mut again).await.unwrap_err();
    let third = third.into_paused().unwrap();
    assert_eq!(third.until, until, "the time limit is the one it was");

    assert_eq!((&again, run.steps()), (&state, 7));
    assert_eq!(lines.text(), before);

    run.deliver("word", &"two").await.unwrap();
    run.step(&mut again).await.unwrap();
    assert_snapshot!(lines.text(), @r#"{"snapshot":{"node":["rest"],"number":8,"steps":8,"state":{"rounds":3,"sum":0,"words":["one","two"]}}}"#);
}

fn halving() -> Flow<f64> {
    Flow::builder("halve")
        .start("halve")
        .node(
            "halve",
            from_fn(|n: &mut f64| {
                *n = if *n < 1.0 { f64::NAN } else { *n / 2.0 };
                Action::from_static(if n.is_nan() { "odd" } else { "again" })
            })
            .with_actions(["again", "odd"]),
        )
        .node("mend", from_fn(|n: &mut f64| *n = 1.0))
        .edge("halve", "again", "halve")
        .edge("halve", "odd", "mend")
        .end("mend", "default")
        .build()
        .unwrap()
}

#[tokio::test]
async fn a_state_that_cannot_be_read_back_is_an_error_and_nothing_is_lost() {
    let flow = halving();
    let lines = Lines::default();
    let mut n = 4.0;
    let mut run = flow
        .begin()
        .with_journal(lines.journal())
        .with_fold_every(every(1));
    let error = run.finish(&mut n).await.unwrap_err();
    assert_snapshot!(error, @"flow `halve`, node `mend`: the journal failed: the state cannot be written as a snapshot: invalid type: null, expected f64 at line 1 column 4");
    assert!(error.is_journal());
    assert_eq!(
        (run.steps(), run.node()),
        (4, Some("mend")),
        "the step is whole"
    );

    assert_eq!(
        run.finish(&mut n).await.unwrap().steps,
        5,
        "the run can go on"
    );

    assert_eq!(n, 1.0);

    let journal = lines.journal();
    let mut n: f64 = journal.snapshot().unwrap().state.read().unwrap();
    assert_eq!(n, 0.5);
    flow.begin()
        .with_journal(journal)
        .finish(&mut n)
        .await
        .unwrap();
    assert_eq!(n, 1.0, "and so can one that is taken up");
}

fn snapshot(node: &str, number: u64, steps: u64) -> Snapshot {
    serde_json::from_str(&format!(
        r#"{{"node":{node},"number":{number},"steps":{steps},"state":{{"rounds":0,"sum":0,"words":[]}}}}"#
    ))
    .unwrap()
}

async fn begun_at(snapshot: Snapshot) -> RunError {
    let journal = Recorded::over("r", [Entry::Snapshot(snapshot)], Lines::default()).unwrap();
    long(9, &Keys::default())
        .begin()
        .with_journal(journal)
        .finish(&mut Tally::default())
        .await
        .unwrap_err()
}

#[tokio::test]
async fn a_snapshot_of_another_flow_is_refused() {
    assert_snapshot!(begun_at(snapshot(r#"["add","three"]"#, 4, 4)).await, @"flow `long/add`, node `one`: the journal failed: its snapshot is at `add/three`, which isn't a node of this flow");
    assert_snapshot!(begun_at(snapshot(r#"["add"]"#, 4, 4)).await, @"flow `long/add`, node `one`: the journal failed: its snapshot is at `add`, which isn't a node of this flow");
    assert_snapshot!(begun_at(snapshot(r#"["look","one"]"#, 4, 4)).await, @"flow `long/add`, node `one`: the journal failed: its snapshot is at `look/one`, which isn't a node of this flow");
    assert_snapshot!(begun_at(snapshot("[]", 4, 4)).await, @"flow `long/add`, node `one`: the journal failed: its snapshot is at ``, which isn't a node of this flow");
    assert_snapshot!(begun_at(snapshot(r#"["look"]"#, u64::MAX, 4)).await, @"flow `long/add`, node `one`: the journal failed: its snapshot counts 18446744073709551615 steps of the flow, and 4 in all");
    assert!(
        begun_at(snapshot(r#"["look"]"#, u64::MAX, u64::MAX))
            .await
            .is_step_limit()
    );
}

#[tokio::test]
async fn a_run_continues_from_a_snapshot_of_a_different_one() {
    let flow = Flow::builder("tally")
        .start("round")
        .node("round", rounds(3))
        .edge("round", "again", "round")
        .end("round", "enough")
        .build()
        .unwrap();
    let mut tally = Tally::default();
    let mut run = flow.begin();
    run.step(&mut tally).await.unwrap();

    let snapshot = run.snapshot(&tally).unwrap().unwrap();
    assert_eq!((snapshot.number, snapshot.steps), (1, 1));
    assert_eq!(snapshot.node, ["round"]);

    let mut other: Tally = snapshot.state.read().unwrap();
    let journal = Recorded::over("other", [Entry::Snapshot(snapshot)], ()).unwrap();
    let ended = flow.begin().with_journal(journal).finish(&mut other).await;
    assert_eq!((ended.unwrap().steps, other.rounds), (3, 3));

    run.finish(&mut tally).await.unwrap();
    assert!(run.snapshot(&tally).unwrap().is_none());
}
