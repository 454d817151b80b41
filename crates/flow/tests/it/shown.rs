//! Text in names, labels, errors and records is safe to show.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

#[path = "../../../text/tests/support/hostile.rs"]
mod hostile;

use std::io;

use std::time::Duration;

use async_trait::async_trait;
use cogwork_flow::engine::{
    Awaited, CallError, CannotWait, Entry, Journal, Json, MemoryJournal, OutcomeProblem, Recorded,
    StepError, StepName, Waited, Work, WorkError, wait_for,
};
use cogwork_flow::nodes::Phase;
use cogwork_flow::watch::{Event, EventKind, ReportedValue, events};
use cogwork_flow::{
    Action, BoxError, Branches, CancellationToken, Flow, Node, Run, RunError, Wait, from_fn,
};
use hostile::{
    assert_error_is_safe, assert_line_is_safe, assert_lines_are_safe, assert_safe,
    assert_safe_line, texts,
};
use tokio::time::Instant;

#[tokio::test(start_paused = true)]
async fn nothing_unsafe_is_shown() {
    for text in texts() {
        show_values(&text);
        show_problems(&text);
        show_runs(&text).await;
        show_calls(&text).await;
        show_records(&text).await;
    }
}

fn show_values(text: &str) {
    let owned = || text.to_owned();

    assert_line_is_safe(&Action::new(owned()));
    assert_line_is_safe(&WorkError {
        attempts: 2,
        error: owned().into(),
    });
    assert_error_is_safe(&StepError::Work(WorkError {
        attempts: 1,
        error: text.into(),
    }));
    assert_error_is_safe(&StepError::journal(text));
}

/// Every problem of a graph.
fn show_problems(text: &str) {
    let node = || from_fn(|(): &mut ()| ()).with_actions([text.to_owned()]);
    let one = || flow(text, node());
    let mut deep = one();
    for _ in 0..30 {
        let outer = Flow::builder(text).start(text);
        let outer = outer.subflow(text, deep, |state| state);
        deep = outer.end(text, text.to_owned()).build().unwrap();
    }

    let twice = Branches::new()
        .branch(text, one(), |()| (), |(), ()| ())
        .branch(text, one(), |()| (), |(), ()| ());
    let other = format!("{text}2");
    let builder = || Flow::<()>::builder(text);
    let many = builder()
        .start(text)
        .start(text)
        .node(text, node())
        .node(text, node())
        .node(&*other, node().with_actions([text; 0].map(str::to_owned)))
        .branches(format!("{text}3"), twice)
        .subflow(format!("{text}4"), deep, |state| state)
        .edge(text, text.to_owned(), "?")
        .edge(text, text.to_owned(), "?")
        .edge(text, other.clone(), "?")
        .edge("?", text.to_owned(), "?");
    let unreached = builder()
        .start(text)
        .node(text, node())
        .end(text, text.to_owned())
        .node(&*other, node());

    let builders = [
        builder(),
        builder().node(text, node()),
        builder().start(&*other).node(text, node()),
        many,
        unreached,
    ];
    for builder in builders {
        let error = builder.build().unwrap_err();
        assert_error_is_safe(&error);
        error.problems().iter().for_each(assert_line_is_safe);
    }
}

/// A flow of one node, with the text for every name.
fn flow(text: &str, node: impl Node<()> + 'static) -> Flow<()> {
    let actions = node.actions();
    let builder = Flow::builder(text).start(text).node(text, node);

    actions
        .into_iter()
        .fold(builder, |builder, action| builder.end(text, action))
        .build()
        .unwrap()
}

fn waiting(text: &str) -> Flow<()> {
    let why = text.to_owned();
    let wait =
        Wait::for_event(text, |(): &mut (), _: Answer| ()).with_reason(move |()| why.clone());

    Flow::builder(text)
        .wait(text, wait)
        .chain([text])
        .build()
        .unwrap()
}

/// What serde calls by its name when it does not know it.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
enum Answer {
    Yes,
}

/// Each way in which a run stops, and every event.
async fn show_runs(text: &str) {
    let owned = text.to_owned();
    let fails = flow(
        text,
        from_fn(move |(): &mut ()| Err::<(), _>(io::Error::other(owned.clone()).into())),
    );
    let owned = text.to_owned();
    let panics = flow(text, from_fn(move |(): &mut ()| panics_with(&owned)));
    let owned = text.to_owned();
    let astray = from_fn(move |(): &mut ()| Action::new(owned.clone()));
    let strays = flow(text, astray.with_actions([format!("{text}2")]));
    let waits = waiting(text);
    let cancelled = CancellationToken::new();

    cancelled.cancel();

    let errors = [
        error_of(fails.begin()).await,
        error_of(fails.begin().with_max_steps(0)).await,
        error_of(fails.begin().with_deadline(Instant::now())).await,
        error_of(fails.begin().with_cancellation(cancelled)).await,
        error_of(panics.begin()).await,
        error_of(strays.begin()).await,
        error_of(waits.begin()).await,
        error_of(fails.begin().with_journal(Broken(text.to_owned()))).await,
        waits
            .begin()
            .deliver(&format!("{text}2"), &1)
            .await
            .unwrap_err(),
    ];

    errors.iter().for_each(|error| assert_error_is_safe(error));

    show_pause(&waits).await;
    show_events(text).await;
    show_drawings(text).await;
}

#[expect(clippy::panic, reason = "its text is to be shown")]
fn panics_with(text: &str) {
    std::panic::panic_any(text.to_owned())
}

async fn error_of(mut run: Run<'_, ()>) -> RunError {
    run.finish(&mut ()).await.unwrap_err()
}

async fn show_pause(waits: &Flow<()>) {
    let mut run = waits.begin();
    let paused = run
        .finish(&mut ())
        .await
        .unwrap_err()
        .into_paused()
        .unwrap();

    assert_line_is_safe(&paused);
    assert_line_is_safe(&paused.step);
    assert_safe_line(&paused.step.place());

    let event = paused.event.clone();
    let refused = run.deliver(&event, &paused.why).await.unwrap_err();
    assert_error_is_safe(&refused);
}

async fn show_events(text: &str) {
    let (sink, mut told) = events(100);
    let waits = waiting(text);
    waits
        .begin()
        .with_id(text)
        .with_events(sink)
        .finish(&mut ())
        .await
        .unwrap_err();

    let mut event = None;
    while let Some(next) = told.next().await {
        assert_line_is_safe(&next);
        event = Some(next);
    }

    assert_line_is_safe(&ReportedValue::new("source", text.to_owned()));

    let mut event = event.unwrap();
    for kind in event_kinds(text, &event) {
        event.kind = kind;
        assert_line_is_safe(&event);
    }
}

/// Every kind of event.
fn event_kinds(text: &str, paused: &Event) -> Vec<EventKind> {
    let owned = || text.to_owned();
    let action = || Action::new(text.to_owned());

    vec![
        EventKind::RunStarted,
        EventKind::StepEntered,
        EventKind::PhaseFinished {
            phase: Phase::Exec,
            took: Duration::ZERO,
        },
        EventKind::Outcome {
            outcome: Json::of(&text).unwrap(),
        },
        EventKind::Item { text: owned() },
        EventKind::Retrying {
            attempts: 1,
            delay: Duration::ZERO,
            error: owned(),
        },
        EventKind::Noted {
            text: owned(),
            is_growth: false,
        },
        EventKind::Reported {
            report: ReportedValue::new("source", owned()),
        },
        EventKind::Moved {
            action: action(),
            to: owned(),
        },
        EventKind::Ended {
            action: action(),
            steps: 1,
        },
        EventKind::Replayed,
        paused.kind.clone(),
        EventKind::Failed { error: owned() },
        EventKind::Lost { count: 1 },
    ]
}

async fn show_drawings(text: &str) {
    let waits = waiting(text);
    let inner = flow(
        text,
        from_fn(|(): &mut ()| ()).with_actions([text.to_owned()]),
    );
    let outer = Flow::builder(text)
        .start(text)
        .subflow(text, inner, |(): &mut ()| Box::leak(Box::new(())))
        .end(text, text.to_owned())
        .build()
        .unwrap();

    for flow in [&waits, &outer] {
        assert_lines_are_safe(&flow.mermaid());
    }

    assert_safe_line(&waits.graph().difference(&outer.graph()).unwrap());
}

/// Shows the name of a call, and how it fails.
async fn show_calls(text: &str) {
    assert_line_is_safe(&CallError::Failed(text.to_owned()));
    assert_line_is_safe(&CallError::<String>::Recorded(text.to_owned()));

    let asks = flow(text, Asks(text.to_owned()));
    let journal = MemoryJournal::new(text);
    let paused = error_of(asks.begin().with_journal(journal)).await;
    let paused = paused.into_paused().unwrap();

    assert_line_is_safe(paused.step.call.as_deref().unwrap());
    assert_safe_line(&paused.to_string());
}

/// Waits inside `exec` for an event with this name.
struct Asks(String);

impl Node<()> for Asks {
    type Prep = ();
    type Exec = ();
    type Error = CannotWait;

    fn is_composite(&self) -> bool {
        true
    }

    fn prep(&self, (): &mut ()) -> Result<(), CannotWait> {
        Ok(())
    }

    async fn exec(&self, (): &()) -> Result<(), CannotWait> {
        wait_for::<()>(&self.0, &self.0, None, None)
            .await
            .map(|_| ())
    }

    fn post(&self, (): &mut (), (): (), (): ()) -> Result<Action, CannotWait> {
        Ok(Action::DEFAULT)
    }
}

/// Fails with a text.
struct Broken(String);

#[async_trait]
impl Journal for Broken {
    fn run_id(&self) -> &str {
        &self.0
    }

    async fn call(&self, _: &StepName, _: Work<'_>) -> Result<Json, StepError> {
        Err(StepError::journal(self.0.as_str()))
    }

    async fn sleep(&self, _: &StepName, _: Duration) -> Result<(), BoxError> {
        Err(self.0.as_str().into())
    }

    async fn wait(&self, _: &StepName, _: Awaited<'_>) -> Result<Waited, BoxError> {
        Err(self.0.as_str().into())
    }

    async fn deliver(&self, _: &str, _: Json) -> Result<(), BoxError> {
        Err(self.0.as_str().into())
    }
}

/// What is on record may come from a file that nobody vouches for.
async fn show_records(text: &str) {
    let json = Json::of(&text).unwrap();
    assert_safe(&format!("{json:?}"));

    let unreadable = json.read::<Answer>().unwrap_err();
    assert_error_is_safe::<OutcomeProblem>(&unreadable);

    let step = text.to_owned();
    let event = text.to_owned();
    let outcome = || Entry::Outcome {
        step: text.to_owned(),
        outcome: json.clone(),
    };

    for entries in [
        vec![Entry::TimedOut { step }],
        vec![Entry::Refused {
            event,
            error: String::new(),
        }],
    ] {
        assert_error_is_safe(&Recorded::over(text, entries, ()).unwrap_err());
    }

    assert_error_is_safe(&Recorded::over(text, [outcome(), outcome()], ()).unwrap_err());
}
