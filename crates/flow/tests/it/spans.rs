//! Runs as `tracing` spans.

#![cfg(feature = "tracing")]
#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cogwork_flow::journal::{Entry, Json, Recorded};
use cogwork_flow::{
    Action, Backoff, Batch, Branches, EventSink, Events, Flow, Node, Wait, events, from_fn,
    from_phases, write_spans,
};
use insta::assert_snapshot;
use tokio::time::sleep;
use tracing_subscriber::fmt::format::FmtSpan;

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What a subscriber writes of these events: a line for each span that opens or closes and for each
/// event, with the spans it is in.
async fn written(told: Events) -> String {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_span_events(FmtSpan::NEW | FmtSpan::CLOSE)
        .without_time()
        .with_target(false)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();

    let subscribed = tracing::subscriber::set_default(subscriber);
    write_spans(told).await;
    drop(subscribed);
    let written = lines.0.lock().unwrap().clone();

    String::from_utf8(written)
        .unwrap()
        .lines()
        .map(|line| without_idle(line) + "\n")
        .collect()
}

/// How long a span was open is the subscriber's own time.
fn without_idle(line: &str) -> String {
    let line = line.split(" time.busy=").next().unwrap_or_default();
    line.trim().to_owned()
}

/// Fails once, then works, 10 ms each.
fn flaky() -> impl Node<u32> {
    let failed = AtomicBool::new(false);
    let node = from_phases(
        |_: &mut u32| (),
        move |()| {
            let failed = failed.swap(true, Ordering::SeqCst);
            async move {
                sleep(Duration::from_millis(10)).await;
                if failed { Ok(()) } else { Err("not yet") }
            }
        },
        |n, _, ()| *n += 1,
    );

    node.retry(
        Backoff::of::<3>()
            .with_first(Duration::from_millis(100))
            .with_factor(1.0)
            .with_jitter(false),
    )
}

fn one(name: &str) -> Flow<u32> {
    let node = from_fn(|n: &mut u32| *n += 1);
    Flow::builder(name)
        .start("work")
        .node("work", node)
        .end("work", "default")
        .build()
        .unwrap()
}

async fn told<S>(run: impl AsyncFnOnce(EventSink) -> S) -> Events {
    let (sink, told) = events(1_000);
    run(sink).await;
    told
}

#[tokio::test(start_paused = true)]
async fn a_run_is_a_span_around_those_of_its_steps() {
    let branches = Branches::new()
        .branch("left", one("any"), |n: &u32| *n, |n, left| *n = left)
        .branch("right", one("any"), |n: &u32| *n, |n, right| *n += right);
    let flow = Flow::builder("all")
        .start("up")
        .node("up", flaky())
        .edge("up", "default", "sub")
        .subflow("sub", one("inner"), |n: &mut u32| n)
        .edge("sub", "default", "fork")
        .branches("fork", branches)
        .end("fork", "default")
        .build()
        .unwrap();

    let told = told(async |sink| {
        flow.begin()
            .with_id("r")
            .with_events(sink)
            .finish(&mut 0)
            .await
            .unwrap()
    })
    .await;

    assert_snapshot!(written(told).await);
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_an_error_in_the_step_that_failed() {
    let unlucky = from_fn(|_: &mut u32| Err::<(), _>("13 is unlucky".into()));
    let inner = Flow::builder("inner")
        .start("fail")
        .node("fail", unlucky)
        .end("fail", "default")
        .build()
        .unwrap();

    let branches = Branches::new().branch("only", inner, |n: &u32| *n, |n, only| *n = only);
    let flow = Flow::builder("all")
        .start("fork")
        .branches("fork", branches)
        .end("fork", "default");
    let flow = flow.build().unwrap();
    let told = told(async |sink| {
        flow.begin()
            .with_id("r")
            .with_events(sink)
            .finish(&mut 0)
            .await
            .unwrap_err()
    })
    .await;

    assert_snapshot!(written(told).await, @r#"
    INFO run{run="r"}: new
    INFO run{run="r"}:step{flow="all" node="fork" number=1 at_us=0}: new
    INFO run{run="r"}:step{flow="all" node="fork" number=1 at_us=0}:step{flow="all/fork#1[only]" node="fail" number=1 at_us=0}: new
    ERROR run{run="r"}:step{flow="all" node="fork" number=1 at_us=0}:step{flow="all/fork#1[only]" node="fail" number=1 at_us=0 exec_us=0}: failed error="flow `all/fork/only`, node `fail`: post failed: 13 is unlucky"
    INFO run{run="r"}:step{flow="all" node="fork" number=1 at_us=0}:step{flow="all/fork#1[only]" node="fail" number=1 at_us=0 exec_us=0}: close
    INFO run{run="r"}:step{flow="all" node="fork" number=1 at_us=0}: close
    INFO run{run="r"}: close
    "#);
}

/// Waits for a number, then doubles each of two.
fn doubled() -> Flow<Vec<u32>> {
    let double = from_phases(
        |n: &mut u32| *n,
        |n| async move { Ok::<_, io::Error>(2 * n) },
        |n, _, doubled| *n = doubled,
    );

    let batch = Batch::at_most(
        2,
        double,
        |all: &Vec<u32>| all.clone(),
        |all, done| *all = done,
    );

    let wait = Wait::for_event("number", |all: &mut Vec<u32>, n: u32| all.push(n))
        .with_reason(|_| "one more".into());
    Flow::builder("f")
        .start("double")
        .batch("double", batch)
        .edge("double", "default", "ask")
        .wait("ask", wait)
        .end("ask", Action::DEFAULT)
        .build()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn pauses_and_replays_are_told() {
    let outcome = |step: &str, outcome: u32| Entry::Outcome {
        step: step.to_owned(),
        outcome: Json::of(&outcome).unwrap(),
    };
    let record = [outcome("f/double#1[0]", 2), outcome("f/double#1[1]", 4)];
    let journal = Recorded::over("r", record, ()).unwrap();
    let flow = doubled();
    let told = told(async |sink| {
        let mut state = vec![1, 2];
        let mut run = flow.begin().with_journal(journal).with_events(sink);
        run.finish(&mut state).await.unwrap_err();
        run.deliver("number", &7).await.unwrap();
        run.finish(&mut state).await.unwrap();
        assert_eq!(state, [2, 4, 7]);
    })
    .await;

    assert_snapshot!(written(told).await);
}

fn two_steps() -> Flow<u32> {
    Flow::builder("f")
        .start("a")
        .node("a", from_fn(|_: &mut u32| ()))
        .edge("a", "default", "b")
        .node("b", from_fn(|_: &mut u32| ()))
        .end("b", "default")
        .build()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn where_events_were_lost_spans_are_opened_anew() {
    let (sink, told) = events(4);
    let flow = two_steps();
    let stepped = async {
        let mut run = flow.begin().with_id("r").with_events(sink);
        run.step(&mut 0).await.unwrap(); // six events, of which two are lost
        sleep(Duration::from_millis(1)).await; // they are read
        run.step(&mut 0).await.unwrap(); // five, of which one is
    };

    let (written, ()) = tokio::join!(written(told), stepped);
    assert_snapshot!(written, @r#"
    INFO run{run="r"}: new
    WARN events were lost count=2
    INFO run{run="r"}: close
    INFO run{run="r"}: new
    INFO run{run="r"}:step{flow="f" node="a" number=1 at_us=0}: new
    INFO run{run="r"}:step{flow="f" node="a" number=1 at_us=0 exec_us=0}: close
    INFO run{run="r"}:step{flow="f" node="b" number=2 at_us=1000}: new
    WARN events were lost count=1
    INFO run{run="r"}:step{flow="f" node="b" number=2 at_us=1000}: close
    INFO run{run="r"}: close
    INFO run{run="r"}: new
    INFO run{run="r"}:step{flow="f" node="b" number=2 at_us=1000}: new
    INFO run{run="r"}:step{flow="f" node="b" number=2 at_us=1000 exec_us=0}: close
    INFO run{run="r"}: close
    "#);
}

/// A run whose future was dropped tells no end; it is forgotten when very many others came after
/// it.
#[tokio::test]
async fn the_span_of_a_run_that_was_left_is_closed_at_last() {
    let (sink, told) = events(200_000);
    let flow = two_steps();
    for id in std::iter::once("left".to_owned()).chain((0..20_001).map(|id| id.to_string())) {
        flow.begin()
            .with_id(id)
            .with_events(sink.clone())
            .step(&mut 0)
            .await
            .unwrap();
    }

    drop(sink);
    let written = written(told).await;
    let closed = written.find("run{run=\"left\"}: close").unwrap();
    assert!(closed < written.find("run{run=\"20000\"}: new").unwrap());
}
