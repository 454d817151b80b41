//! Runs as `tracing` spans.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::fmt::{Debug, Write};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cogwork_flow::engine::{Entry, Json, MemoryJournal, Recorded};
use cogwork_flow::watch::note;
use cogwork_flow::{Action, Backoff, Batch, Branches, Flow, Node, Wait, from_fn, from_phases};
use insta::assert_snapshot;
use tokio::time::sleep;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Instrument, Subscriber, info_span};
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{Layer, Registry};

/// The spans and events of a test, as a tree.
#[derive(Clone, Default)]
struct Tree(Arc<Mutex<Vec<Line>>>);

#[derive(Default)]
struct Line {
    /// The id of a span; `None` for an event.
    id: Option<u64>,
    parent: Option<u64>,
    fields: Vec<(&'static str, String)>,
    is_closed: bool,
}

impl Line {
    fn set(&mut self, name: &'static str, value: String) {
        self.fields.retain(|(field, _)| *field != name);
        self.fields.push((name, value));
    }
}

impl Visit for Line {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.set(field.name(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.set(field.name(), format!("{value:?}"));
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Tree {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let parent = context.span(id).unwrap().parent();
        let mut line = Line {
            id: Some(id.into_u64()),
            parent: parent.map(|parent| parent.id().into_u64()),
            ..Line::default()
        };
        line.set("name", attributes.metadata().name().to_owned());
        attributes.record(&mut line);

        self.0.lock().unwrap().push(line);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, _: Context<'_, S>) {
        self.change(id, |line| values.record(line));
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let parent = context.event_span(event);
        let mut line = Line {
            parent: parent.map(|parent| parent.id().into_u64()),
            ..Line::default()
        };
        line.set("level", event.metadata().level().to_string());
        event.record(&mut line);

        self.0.lock().unwrap().push(line);
    }

    fn on_close(&self, id: Id, _: Context<'_, S>) {
        self.change(&id, |line| line.is_closed = true);
    }
}

impl Tree {
    /// Ids are used again when a span is closed, so it is the last one with this id.
    fn change(&self, id: &Id, change: impl FnOnce(&mut Line)) {
        let mut lines = self.0.lock().unwrap();
        let line = lines
            .iter_mut()
            .rfind(|line| line.id == Some(id.into_u64()));

        change(line.unwrap());
    }

    /// Writes each span with its fields, followed by its children, and marks open ones.
    fn text(&self) -> String {
        let lines = self.0.lock().unwrap();
        let mut depths: Vec<(u64, usize)> = Vec::new();
        let mut text = String::new();

        for line in lines.iter() {
            let around = depths.iter().rfind(|(id, _)| Some(*id) == line.parent);
            let depth = around.map_or(0, |(_, depth)| depth + 1);
            if let Some(id) = line.id {
                depths.push((id, depth));
            }

            let open = if line.id.is_some() && !line.is_closed {
                " (open)"
            } else {
                ""
            };
            let fields: Vec<_> = line.fields.iter().map(written).collect();
            writeln!(text, "{}{}{open}", "    ".repeat(depth), fields.join(" ")).unwrap();
        }

        text
    }
}

fn written((name, value): &(&str, String)) -> String {
    match *name {
        "name" | "level" | "message" => value.clone(),
        name => format!("{name}={value}"),
    }
}

/// Returns the spans and events of `work` as text.
async fn traced<T>(work: impl Future<Output = T>) -> String {
    let tree = Tree::default();
    let subscriber = Registry::default().with(tree.clone());

    let subscribed = tracing::subscriber::set_default(subscriber);
    work.await;
    drop(subscribed);

    tree.text()
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
        |n, ()| *n += 1,
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
        .node("work", node)
        .chain(["work"])
        .build()
        .unwrap()
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

    let text = traced(async { flow.begin().with_id("r").finish(&mut 0).await.unwrap() }).await;
    assert_snapshot!(text);
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_an_error_in_the_step_that_failed() {
    let unlucky = from_fn(|_: &mut u32| Err::<(), _>("13 is unlucky".into()));
    let inner = Flow::builder("inner")
        .node("fail", unlucky)
        .chain(["fail"])
        .build()
        .unwrap();

    let branches = Branches::new().branch("only", inner, |n: &u32| *n, |n, only| *n = only);
    let flow = Flow::builder("all")
        .branches("fork", branches)
        .chain(["fork"]);
    let flow = flow.build().unwrap();

    let text = traced(async { flow.run(&mut 0).await.unwrap_err() }).await;
    assert_snapshot!(text);
}

/// Waits for a number, then doubles each of two.
fn doubled() -> Flow<Vec<u32>> {
    let double = from_phases(
        |n: &mut u32| *n,
        |n| async move { Ok::<_, io::Error>(2 * n) },
        |n, doubled| *n = doubled,
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
async fn pauses_and_replays_are_events() {
    let outcome = |step: &str, outcome: u32| Entry::Outcome {
        step: step.to_owned(),
        outcome: Json::of(&outcome).unwrap(),
    };
    let record = [outcome("f/double#1[0]", 2), outcome("f/double#1[1]", 4)];
    let journal = Recorded::over("r", record, ()).unwrap();
    let flow = doubled();

    let text = traced(async {
        let mut state = vec![1, 2];
        let mut run = flow.begin().with_journal(journal);
        run.finish(&mut state).await.unwrap_err();
        run.deliver("number", &7).await.unwrap();
        run.finish(&mut state).await.unwrap();
        assert_eq!(state, [2, 4, 7]);
    })
    .await;

    assert_snapshot!(text);
}

/// Calls something that has a span of its own, and writes a note in each phase.
fn calling() -> Flow<u32> {
    let call = from_phases(
        |n: &mut u32| {
            note(|| "in prep".into());
            *n
        },
        |n| async move {
            note(|| "in exec".into());
            sleep(Duration::from_millis(1))
                .instrument(info_span!("call"))
                .await;
            Ok::<_, io::Error>(n + 1)
        },
        |n, added| {
            note(|| "in post".into());
            *n = added;
        },
    );

    Flow::from_node("call", call.timeout(Duration::from_secs(1))).unwrap()
}

#[tokio::test(start_paused = true)]
async fn spans_of_a_node_are_inside_its_step() {
    let flow = calling();
    let plain = traced(async { flow.run(&mut 0).await.unwrap() }).await;

    let recorded = traced(async {
        let journal = MemoryJournal::new("r");
        flow.begin()
            .with_journal(journal)
            .finish(&mut 0)
            .await
            .unwrap()
    })
    .await;

    assert_snapshot!(plain);
    let of_run = " run=r ";
    assert!(recorded.contains(of_run), "{recorded}");
    assert_eq!(steps_of(&recorded), steps_of(&plain));
}

/// Returns everything inside the span of the run.
fn steps_of(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.starts_with(' ')).collect()
}

#[tokio::test(start_paused = true)]
async fn a_run_is_inside_the_span_that_was_current() {
    let flow = one("f");
    let text = traced(async {
        let request = info_span!("request");
        flow.run(&mut 0).instrument(request).await.unwrap();
    })
    .await;

    assert!(text.starts_with("request\n    run "), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_run_is_an_error_of_the_run() {
    let flow = calling();

    let text = traced(async {
        let mut run = flow.begin().with_deadline(tokio::time::Instant::now());
        run.finish(&mut 0).await.unwrap_err();
    })
    .await;

    assert!(
        text.contains("otel.status_code=ERROR error.type=deadline"),
        "{text}"
    );
}
