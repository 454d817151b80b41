//! Runs as streams of their events.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use cogwork_flow::watch::{EventKind, ReportedValue, RunItem, RunStream, report_from};
use cogwork_flow::{Action, Flow, Wait, from_phases};
use insta::assert_snapshot;
use serde::Serialize;

#[derive(Debug, PartialEq, Serialize)]
struct Weight {
    grams: u32,
}

/// A flow that counts down, and reports the number in each phase.
fn countdown() -> Flow<u32> {
    let count = from_phases(
        |left: &mut u32| {
            report_from("count", || format!("prep {left}"));
            *left
        },
        |left| async move {
            report_from("count", || Weight { grams: left });
            tokio::task::yield_now().await;
            Ok::<_, Infallible>(left - 1)
        },
        |left, less| {
            *left = less;
            report_from("count", || format!("post {left}"));
            Action::from_static(if less == 0 { "end" } else { "again" })
        },
    )
    .with_actions(["again", "end"]);

    Flow::builder("countdown")
        .start("count")
        .node("count", count)
        .edge("count", "again", "count")
        .end("count", "end")
        .build()
        .unwrap()
}

/// Returns the events as lines of JSON, without times, and the end.
async fn lines<S: std::fmt::Debug>(mut stream: RunStream<S>) -> String {
    let mut lines = String::new();

    while let Some(item) = stream.next().await {
        match item {
            RunItem::Event(event) => {
                let mut json = serde_json::to_value(&event).unwrap();
                json.as_object_mut().unwrap().remove("at").unwrap();
                json.as_object_mut().unwrap().remove("took");
                lines += &format!("{json}\n");
            }
            RunItem::Finished(finished) => {
                let result = finished.result.map(|ended| (ended.action, ended.steps));
                lines += &format!("{:?}: {result:?}\n", finished.state);
            }
        }
    }

    assert!(stream.next().await.is_none());
    lines
}

#[tokio::test(start_paused = true)]
async fn a_stream_has_every_event_and_the_end() {
    let stream = Arc::new(countdown()).stream(2, |run| run.with_id("run"));

    assert_snapshot!(lines(stream).await, @r#"
    {"run":"run","type":"run_started"}
    {"run":"run","step":"countdown/count#1","type":"step_entered"}
    {"report":"prep 2","run":"run","source":"count","step":"countdown/count#1","type":"reported"}
    {"phase":"prep","run":"run","step":"countdown/count#1","type":"phase_finished"}
    {"report":{"grams":2},"run":"run","source":"count","step":"countdown/count#1","type":"reported"}
    {"phase":"exec","run":"run","step":"countdown/count#1","type":"phase_finished"}
    {"outcome":1,"run":"run","step":"countdown/count#1","type":"outcome"}
    {"report":"post 1","run":"run","source":"count","step":"countdown/count#1","type":"reported"}
    {"phase":"post","run":"run","step":"countdown/count#1","type":"phase_finished"}
    {"action":"again","run":"run","step":"countdown/count#1","to":"count","type":"moved"}
    {"run":"run","step":"countdown/count#2","type":"step_entered"}
    {"report":"prep 1","run":"run","source":"count","step":"countdown/count#2","type":"reported"}
    {"phase":"prep","run":"run","step":"countdown/count#2","type":"phase_finished"}
    {"report":{"grams":1},"run":"run","source":"count","step":"countdown/count#2","type":"reported"}
    {"phase":"exec","run":"run","step":"countdown/count#2","type":"phase_finished"}
    {"outcome":0,"run":"run","step":"countdown/count#2","type":"outcome"}
    {"report":"post 0","run":"run","source":"count","step":"countdown/count#2","type":"reported"}
    {"phase":"post","run":"run","step":"countdown/count#2","type":"phase_finished"}
    {"action":"end","run":"run","step":"countdown/count#2","steps":2,"type":"ended"}
    0: Ok(("end", 2))
    "#);
}

#[tokio::test(start_paused = true)]
async fn a_stream_ends_with_the_error_of_the_run() {
    let broken = from_phases(
        |_: &mut u32| (),
        |()| async { Err::<(), _>(io::Error::other("broken")) },
        |_, ()| {},
    );
    let flow = Flow::builder("flow")
        .node("node", broken)
        .chain(["node"])
        .build()
        .unwrap();

    assert_snapshot!(lines(Arc::new(flow).stream(7, |run| run.with_id("run"))).await, @r#"
    {"run":"run","type":"run_started"}
    {"run":"run","step":"flow/node#1","type":"step_entered"}
    {"phase":"prep","run":"run","step":"flow/node#1","type":"phase_finished"}
    {"phase":"exec","run":"run","step":"flow/node#1","type":"phase_finished"}
    {"error":"flow `flow`, node `node`: exec failed: broken","run":"run","step":"flow/node#1","type":"failed"}
    7: Err(flow `flow`, node `node`: exec failed: broken)
    "#);
}

#[tokio::test(start_paused = true)]
async fn a_stream_ends_when_the_run_pauses() {
    let wait = Wait::for_event("approval", |_: &mut u32, _: bool| {})
        .with_reason(|_| "a person decides".to_owned());
    let flow = Flow::builder("flow")
        .wait("ask", wait)
        .chain(["ask"])
        .build()
        .unwrap();

    assert_snapshot!(lines(Arc::new(flow).stream(7, |run| run.with_id("run"))).await, @r#"
    {"run":"run","type":"run_started"}
    {"run":"run","step":"flow/ask#1","type":"step_entered"}
    {"event":"approval","run":"run","type":"paused","waits_at":"flow/ask#1","why":"a person decides"}
    7: Err(flow `flow`, node `ask`: the run waits for the event `approval`: a person decides)
    "#);
}

#[tokio::test]
async fn a_slow_reader_loses_nothing_and_delays_the_run() {
    let steps = 5_000;
    let flow = Arc::new(countdown());
    let mut stream = flow.stream(steps, |run| run.with_max_steps(u64::MAX));
    let mut weights = Vec::new();
    let mut left = None;

    while let Some(item) = stream.next().await {
        match item {
            RunItem::Event(event) => match event.kind {
                EventKind::Reported { report } => {
                    weights.extend(report.downcast_ref::<Weight>().map(|weight| weight.grams));
                }
                EventKind::Lost { count } => panic!("{count} events were lost"),
                _ => {}
            },
            RunItem::Finished(finished) => left = Some(finished.state),
        }
    }

    assert_eq!(left, Some(0));
    assert_eq!(weights, (1..=steps).rev().collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn a_run_takes_no_step_before_its_stream_is_read_and_none_after_it_is_dropped() {
    struct Stopped(Arc<AtomicBool>);

    impl Drop for Stopped {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    let calls = Arc::new(AtomicUsize::new(0));
    let stopped = Arc::new(AtomicBool::new(false));
    let slow = from_phases(
        |_: &mut ()| (),
        {
            let calls = Arc::clone(&calls);
            let stopped = Arc::clone(&stopped);
            move |()| {
                let calls = Arc::clone(&calls);
                let stopped = Stopped(Arc::clone(&stopped));
                async move {
                    calls.fetch_add(1, Ordering::Relaxed);
                    tokio::time::sleep(Duration::from_secs(60)).await;
                    drop(stopped);
                    Ok::<_, Infallible>(())
                }
            }
        },
        |_, ()| {},
    );
    let flow = Flow::builder("flow")
        .node("node", slow)
        .chain(["node"])
        .build()
        .unwrap();

    let mut stream = Arc::new(flow).stream((), |run| run);
    tokio::task::yield_now().await;
    assert_eq!(calls.load(Ordering::Relaxed), 0);

    let waiting = async { while stream.next().await.is_some() {} };
    tokio::time::timeout(Duration::from_secs(1), waiting)
        .await
        .unwrap_err();
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    assert!(!stopped.load(Ordering::Relaxed));

    drop(stream);
    assert!(stopped.load(Ordering::Relaxed));
}

#[test]
fn a_report_is_its_value() {
    let report = ReportedValue::new("scales", Weight { grams: 3 });

    assert_eq!(report.downcast_ref(), Some(&Weight { grams: 3 }));
    assert_eq!(report.downcast_ref::<u32>(), None);
    assert_eq!(report.to_string(), r#"{"grams":3}"#);
    assert_eq!(report, report.clone());
    assert_ne!(report, ReportedValue::new("scales", Weight { grams: 3 }));
    assert!(format!("{report:?}").contains("scales"), "{report:?}");
}
