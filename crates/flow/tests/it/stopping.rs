//! A run that is stopped from outside says where, leaves the state whole, and can go on.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use crate::lines;

use std::task::Poll;
use std::time::Duration;

use cogwork_flow::engine::Entry;
use cogwork_flow::{Action, CancellationToken, Flow, Run, from_fn, from_phases};
use lines::Lines;
use tokio::time::{Instant, sleep};

/// Counts up, ten milliseconds a step, without an end.
fn clock() -> Flow<u32> {
    let tick = from_phases(
        |_: &mut u32| (),
        |()| async {
            sleep(Duration::from_millis(10)).await;
            Ok::<_, &str>(())
        },
        |n, ()| *n += 1,
    );
    Flow::builder("clock")
        .start("tick")
        .node("tick", tick)
        .edge("tick", "default", "tick")
        .build()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_deadline_stops_a_run_in_the_middle_of_a_step_and_it_can_go_on() {
    let flow = clock();
    let start = Instant::now();
    let mut n = 0;
    let mut run = flow
        .begin()
        .with_deadline(start + Duration::from_millis(35));
    let error = run.finish(&mut n).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "flow `clock`, node `tick`: the run reached its deadline at this node"
    );
    assert!(error.is_deadline() && !error.is_cancelled() && !error.is_step_limit());
    assert_eq!((n, run.steps(), start.elapsed().as_millis()), (3, 3, 35));

    let mut run = run.with_deadline(start + Duration::from_millis(60));
    assert!(run.finish(&mut n).await.unwrap_err().is_deadline());
    assert_eq!((n, run.steps()), (5, 5));
}

#[tokio::test(start_paused = true)]
async fn a_token_stops_a_run_while_it_waits() {
    let flow = clock();
    let token = CancellationToken::new();
    let mut n = 0;
    let cancel = async {
        sleep(Duration::from_millis(25)).await;
        token.cancel();
    };
    let mut run = flow.begin().with_cancellation(token.clone());
    let (result, ()) = tokio::join!(run.finish(&mut n), cancel);
    let error = result.unwrap_err();

    assert_eq!(
        error.to_string(),
        "flow `clock`, node `tick`: the run was cancelled at this node"
    );
    assert!(error.is_cancelled());
    assert_eq!(n, 2);
}

#[tokio::test(start_paused = true)]
async fn a_run_cancelled_before_it_starts_visits_nothing() {
    let flow = clock();
    let token = CancellationToken::new();
    let mut n = 0;
    token.cancel();
    assert!(
        flow.begin()
            .with_cancellation(token)
            .finish(&mut n)
            .await
            .unwrap_err()
            .is_cancelled()
    );

    let late = flow
        .begin()
        .with_deadline(Instant::now())
        .finish(&mut n)
        .await
        .unwrap_err();

    assert!(late.is_deadline());
    assert_eq!(n, 0);
}

/// Polls a run until its end is in the record, but not yet known to be written.
async fn until_the_end_is_queued(lines: &Lines, run: &mut Run<'_, u32>) {
    let mut n = 0;
    let mut running = std::pin::pin!(run.finish(&mut n));
    std::future::poll_fn(|context| {
        assert!(running.as_mut().poll(context).is_pending());
        match lines.all().last() {
            Some(Entry::Ended { .. }) => Poll::Ready(()),
            _ => Poll::Pending,
        }
    })
    .await;
}

fn enough() -> Flow<u32> {
    let count = from_fn(|n: &mut u32| {
        *n += 1;
        Action::from_static("enough")
    });
    Flow::builder("count")
        .start("count")
        .node("count", count.with_actions(["enough"]))
        .end("count", "enough")
        .build()
        .unwrap()
}

#[tokio::test]
async fn a_run_dropped_while_its_end_is_written_keeps_its_label() {
    let flow = enough();
    let lines = Lines::default();
    let mut run = flow.begin().with_journal(lines.journal());
    until_the_end_is_queued(&lines, &mut run).await;
    let ended = run.finish(&mut 1).await.unwrap();

    assert_eq!((ended.action.as_str(), ended.steps), ("enough", 1));
    assert_eq!(run.node(), None);
}

#[tokio::test]
async fn a_run_at_its_end_is_not_cancelled() {
    let flow = enough();
    let lines = Lines::default();
    let token = CancellationToken::new();
    let mut run = flow
        .begin()
        .with_journal(lines.journal())
        .with_cancellation(token.clone());
    until_the_end_is_queued(&lines, &mut run).await;
    token.cancel();
    assert_eq!(run.finish(&mut 1).await.unwrap().action.as_str(), "enough");
    assert!(
        matches!(lines.all().last(), Some(Entry::Ended { .. })),
        "no failure follows: {}",
        lines.text()
    );
}

#[tokio::test]
async fn a_run_that_has_ended_stays_so_if_a_limit_stops_its_replay() {
    let flow = enough();
    let lines = Lines::default();
    let mut run = flow.begin().with_journal(lines.journal());
    run.finish(&mut 0).await.unwrap();

    let mut replay = flow.begin().with_journal(lines.journal()).with_max_steps(0);
    let error = replay.finish(&mut 0).await.unwrap_err();
    assert!(error.is_step_limit());
    assert!(
        matches!(lines.all().last(), Some(Entry::Ended { .. })),
        "no failure follows: {}",
        lines.text()
    );
}
