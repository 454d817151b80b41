//! A run with a journal: what is on record is never done again.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::sync::{Arc, Mutex};

use cogwork_flow::engine::Entry;

use cogwork_flow::{Action, Batch, Branches, Each, Flow, Node, from_phases};

use crate::lines::Lines;

type Calls = Arc<Mutex<Vec<String>>>;

/// Doubles a number, and says that it did.
fn double(calls: &Calls) -> impl Node<u64, Exec = u64> + use<> {
    let calls = Arc::clone(calls);
    from_phases(
        |n: &mut u64| *n,
        move |n| {
            let calls = Arc::clone(&calls);
            async move {
                calls.lock().unwrap().push(format!(
                    "{n} as {}",
                    cogwork_flow::idempotency_key().unwrap_or_default()
                ));
                tokio::task::yield_now().await;
                if n == 13 {
                    Err("13 is unlucky")
                } else {
                    Ok(2 * n)
                }
            }
        },
        |n, doubled| {
            *n = doubled;
            Action::from_static(if doubled < 100 { "again" } else { "enough" })
        },
    )
    .with_actions(["again", "enough"])
}

fn doubling(calls: &Calls) -> Flow<u64> {
    Flow::builder("doubling")
        .start("double")
        .node("double", double(calls))
        .edge("double", "again", "double")
        .end("double", "enough")
        .build()
        .unwrap()
}

/// A loop inside a subflow, a batch, items and branches.
fn everything(calls: &Calls) -> Flow<Vec<u64>> {
    let sum = |all: &Vec<u64>| all.iter().sum::<u64>();
    let batch = Batch::at_most(
        2,
        double(calls),
        |all: &Vec<u64>| all.clone(),
        |all, done| *all = done,
    );

    let each = Each::at_most(
        2,
        doubling(calls),
        |all: &Vec<u64>| all.clone(),
        |all, done| *all = done,
    );

    let branches = Branches::new()
        .branch("left", doubling(calls), sum, |all, left| all.push(left))
        .branch("right", doubling(calls), sum, |all, right| {
            all.push(right + 1)
        });

    Flow::builder("everything")
        .start("loop")
        .subflow("loop", doubling(calls), |all: &mut Vec<u64>| {
            all.first_mut().unwrap()
        })
        .batch("batch", batch)
        .each("each", each)
        .branches("fork", branches)
        .edge("loop", "enough", "batch")
        .edge("batch", Action::DEFAULT, "each")
        .edge("each", Action::DEFAULT, "fork")
        .end("fork", Action::DEFAULT)
        .build()
        .unwrap()
}

#[tokio::test]
async fn a_replay_does_nothing_again_and_comes_to_the_same_end() {
    let calls = Calls::default();
    let lines = Lines::default();
    let flow = everything(&calls);
    let mut undisturbed = vec![3, 5, 60];
    flow.run(&mut undisturbed).await.unwrap();

    let made = calls.lock().unwrap().len();

    for _ in 0..2 {
        let mut state = vec![3, 5, 60];
        let ended = lines.run(&flow, &mut state).await.unwrap();

        assert_eq!((&state, ended.action), (&undisturbed, Action::DEFAULT));
        assert_eq!(calls.lock().unwrap().len(), 2 * made);
    }

    let keys = calls.lock().unwrap()[made..].to_vec();
    insta::assert_snapshot!(keys.join("\n"));
}

#[tokio::test]
async fn a_run_dropped_anywhere_goes_on_and_makes_no_recorded_call_again() {
    let calls = Calls::default();
    let flow = everything(&calls);
    let mut undisturbed = vec![3, 5, 60];
    flow.run(&mut undisturbed).await.unwrap();

    let made = calls.lock().unwrap().len();

    for polls in 1.. {
        let lines = Lines::default();
        calls.lock().unwrap().clear();
        let mut state = vec![3, 5, 60];
        let mut run = flow.begin().with_journal(lines.journal());

        {
            let mut running = std::pin::pin!(run.finish(&mut state));
            let mut left = polls;
            let done = std::future::poll_fn(|context| {
                left -= 1;
                match running.as_mut().poll(context) {
                    std::task::Poll::Pending if left == 0 => std::task::Poll::Ready(false),
                    polled => polled.map(|ended| ended.is_ok()),
                }
            });

            if done.await {
                return;
            }
        }
        let recorded = |lines: &Lines| {
            lines
                .0
                .lock()
                .unwrap()
                .iter()
                .filter(|line| matches!(line, Entry::Outcome { .. }))
                .count()
        };

        let before = recorded(&lines);
        let tried = calls.lock().unwrap().len();
        let mut state = vec![3, 5, 60];
        lines.run(&flow, &mut state).await.unwrap();

        assert_eq!(state, undisturbed);
        assert_eq!(recorded(&lines), made);
        assert_eq!(
            calls.lock().unwrap().len() - tried,
            made - before,
            "only what is not on record is done"
        );
    }
}

#[tokio::test]
async fn a_replay_that_goes_another_way_is_refused() {
    let calls = Calls::default();
    let lines = Lines::default();
    lines.run(&doubling(&calls), &mut 20).await.unwrap();

    let other = Flow::builder("doubling")
        .start("twice")
        .node("twice", double(&calls))
        .edge("twice", "again", "twice")
        .end("twice", "enough")
        .build()
        .unwrap();

    let error = lines.run(&other, &mut 20).await.unwrap_err();

    assert!(error.is_journal());
    insta::assert_snapshot!(error, @"flow `doubling`, node `twice`: the journal failed: the run visits `doubling/twice#1`, but the recorded one visited `doubling/double#1` at this point; with the same state and outcomes, `prep` and `post` must do the same again; after a change of the flow, fork the run at step 1 or before");
}

#[tokio::test]
async fn an_outcome_past_the_limit_is_refused_and_not_recorded() {
    let calls = Calls::default();
    let lines = Lines::default();
    let flow = doubling(&calls);
    let error = flow
        .begin()
        .with_max_outcome(2)
        .with_journal(lines.journal())
        .finish(&mut 40)
        .await
        .unwrap_err();

    insta::assert_snapshot!(error, @"flow `doubling`, node `double`: exec failed: the outcome is larger than the 2 bytes that may be recorded");
    assert!(
        lines.0.lock().unwrap().iter().all(
            |line| !matches!(line, Entry::Outcome { outcome, .. } if outcome.as_str().len() > 2)
        )
    );
}
