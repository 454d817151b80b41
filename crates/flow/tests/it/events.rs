//! Whoever watches a run sees what happens in it, in an order that makes sense, and cannot hold it
//! up.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use crate::lines;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use cogwork_flow::watch::{EventKind, Events, events};
use cogwork_flow::{Action, Backoff, Batch, Flow, Node, Wait, from_fn, from_phases};
use tokio::time::sleep;

/// Everything told, a line each, with the time since the run's start.
async fn lines(mut told: Events) -> String {
    let mut lines = String::new();
    while let Some(event) = told.next().await {
        lines += &format!("{:>4} {event}\n", event.at.as_millis());
    }

    lines
}

/// Fails as often as is left in the counter, waits 10 ms each time, then counts the state up.
fn flaky(failures: u32) -> impl Node<u32> {
    let left = Arc::new(AtomicU32::new(failures));
    let node = from_phases(
        |_: &mut u32| (),
        move |()| {
            let left = Arc::clone(&left);
            async move {
                sleep(Duration::from_millis(10)).await;
                match left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
                    left.checked_sub(1)
                }) {
                    Ok(_) => Err("not yet"),
                    Err(_) => Ok(()),
                }
            }
        },
        |n, ()| *n += 1,
    );

    node.retry(
        Backoff::of::<3>()
            .with_first(Duration::from_millis(100))
            .with_factor(1.0)
            .with_jitter(false),
    )
}

fn counted() -> Flow<u32> {
    let enough =
        from_fn(|n: &mut u32| Action::from_static(if *n < 2 { "again" } else { "enough" }));
    Flow::builder("count")
        .start("up")
        .node("up", flaky(1))
        .node("look", enough.with_actions(["again", "enough"]))
        .edge("up", "default", "look")
        .edge("look", "again", "up")
        .end("look", "enough")
        .build()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_run_tells_its_steps_phases_retries_and_moves() {
    let (sink, told) = events(100);
    counted()
        .begin()
        .with_id("r")
        .with_events(sink)
        .finish(&mut 0)
        .await
        .unwrap();

    insta::assert_snapshot!(lines(told).await, @r"
      0 r: started
      0 r: count/up#1 entered
      0 r: count/up#1 finished prep in 0ns
     10 r: count/up#1 failed attempt 1, next in 100.0ms: not yet
    120 r: count/up#1 finished exec in 120ms
    120 r: count/up#1 finished post in 0ns
    120 r: count/up#1 moved on `default` to look
    120 r: count/look#2 entered
    120 r: count/look#2 finished prep in 0ns
    120 r: count/look#2 finished exec in 0ns
    120 r: count/look#2 finished post in 0ns
    120 r: count/look#2 moved on `again` to up
    120 r: count/up#3 entered
    120 r: count/up#3 finished prep in 0ns
    130 r: count/up#3 finished exec in 10ms
    130 r: count/up#3 finished post in 0ns
    130 r: count/up#3 moved on `default` to look
    130 r: count/look#4 entered
    130 r: count/look#4 finished prep in 0ns
    130 r: count/look#4 finished exec in 0ns
    130 r: count/look#4 finished post in 0ns
    130 r: count/look#4 ended on `enough` after 4 steps in all
    ");
}

/// Doubles two numbers, waits for a third and doubles that.
fn doubled_and_asked() -> Flow<Vec<u32>> {
    let double = || {
        from_phases(
            |n: &mut u32| *n,
            |n| async move { Ok::<_, std::io::Error>(2 * n) },
            |n, doubled| *n = doubled,
        )
    };

    let batch = Batch::at_most(
        2,
        double(),
        |all: &Vec<u32>| all.clone(),
        |all, done| *all = done,
    );

    let ask = Wait::for_event("number", |all: &mut Vec<u32>, n: u32| all.push(n))
        .with_reason(|_| "one more".into());
    Flow::builder("f")
        .start("both")
        .batch("both", batch)
        .edge("both", "default", "ask")
        .wait("ask", ask)
        .edge("ask", "default", "last")
        .node(
            "last",
            double().focus(|all: &mut Vec<u32>| all.last_mut().unwrap()),
        )
        .end("last", "default")
        .build()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_pause_is_told_and_so_is_what_was_replayed_after_it() {
    let flow = doubled_and_asked();
    let record = lines::Lines::default();
    record.run(&flow, &mut vec![1, 2]).await.unwrap_err();

    let (sink, told) = events(100);
    let mut state = vec![1, 2];
    let mut run = flow
        .begin()
        .with_journal(record.journal())
        .with_events(sink);
    run.finish(&mut state).await.unwrap_err();
    run.deliver("number", &3).await.unwrap();
    run.finish(&mut state).await.unwrap();
    assert_eq!(state, [2, 4, 6]);
    drop(run);
    insta::assert_snapshot!(lines(told).await, @r"
    0 r: started
    0 r: f/both#1 entered
    0 r: f/both#1[0] replayed
    0 r: f/both#1[1] replayed
    0 r: f/both#1 moved on `default` to ask
    0 r: f/ask#2 entered
    0 r: paused at f/ask#2 for the event `number`: one more
    0 r: f/ask#2 entered
    0 r: f/ask#2 returned 3
    0 r: f/ask#2 moved on `default` to last
    0 r: f/last#3 entered
    0 r: f/last#3 finished prep in 0ns
    0 r: f/last#3 finished exec in 0ns
    0 r: f/last#3 returned 6
    0 r: f/last#3 finished post in 0ns
    0 r: f/last#3 ended on `default` after 3 steps in all
    ");
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_told_once_and_replayed_after_that() {
    let flow = doubled_and_asked();
    let record = lines::Lines::default();
    let mut run = flow.begin().with_journal(record.journal());
    run.finish(&mut vec![1, 2]).await.unwrap_err();
    run.deliver("number", &3).await.unwrap();
    drop(run);

    let mut seen = String::new();
    for _ in 0..2 {
        let (sink, told) = events(100);
        let run = flow.begin().with_journal(record.journal());
        run.with_events(sink).finish(&mut vec![1, 2]).await.unwrap();
        let told = lines(told).await;
        let of_wait = told.lines().filter(|line| line.contains("ask#2"));
        seen += &of_wait.map(|line| format!("{line}\n")).collect::<String>();
    }
    insta::assert_snapshot!(seen, @r"
    0 r: f/ask#2 entered
    0 r: f/ask#2 returned 3
    0 r: f/ask#2 moved on `default` to last
    0 r: f/ask#2 entered
    0 r: f/ask#2 replayed
    0 r: f/ask#2 moved on `default` to last
    ");
}

#[tokio::test(start_paused = true)]
async fn a_run_at_its_deadline_is_told_to_fail_at_the_step_it_was_in() {
    let flow = Flow::builder("f")
        .node("up", flaky(1))
        .chain(["up"])
        .build()
        .unwrap();

    let (sink, told) = events(100);
    let deadline = tokio::time::Instant::now() + Duration::from_millis(50);
    flow.begin()
        .with_id("r")
        .with_deadline(deadline)
        .with_events(sink)
        .finish(&mut 0)
        .await
        .unwrap_err();

    insta::assert_snapshot!(lines(told).await, @r"
     0 r: started
     0 r: f/up#1 entered
     0 r: f/up#1 finished prep in 0ns
    10 r: f/up#1 failed attempt 1, next in 100.0ms: not yet
    50 r: f/up#1 failed: flow `f`, node `up`: the run reached its deadline at this node
    ");
}

#[tokio::test]
async fn a_reader_that_is_too_slow_misses_events_and_is_told_how_many() {
    let (sink, mut told) = events(3);
    let mut n = 0;
    let flow = Flow::builder("f")
        .start("up")
        .node(
            "up",
            from_fn(|n: &mut u32| {
                *n += 1;
                Action::from_static(if *n < 100 { "again" } else { "done" })
            })
            .with_actions(["again", "done"]),
        )
        .edge("up", "again", "up")
        .end("up", "done")
        .build()
        .unwrap();

    flow.begin().with_events(sink).finish(&mut n).await.unwrap();

    // Started once, then entered, three phases and moved or ended, a hundred times.
    let lost = told.next().await.unwrap();
    assert_eq!(
        (lost.kind.clone(), n),
        (EventKind::Lost { count: 1 + 500 - 3 }, 100)
    );
    assert_eq!(
        lost.to_string(),
        "498 events were lost: the reader is too slow"
    );
    let mut kept = 0;

    while told.next().await.is_some() {
        kept += 1;
    }

    assert_eq!(kept, 3);
}
