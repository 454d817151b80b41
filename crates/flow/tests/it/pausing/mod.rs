//! A run that waits for a person costs nothing while it waits, and does nothing again because of
//! it.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

mod answers;
mod concurrent;
mod live;
mod pauses;
mod sleeps;
mod time_limits;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cogwork_flow::engine::Journal;
use cogwork_flow::{BoxError, Flow, Node, Paused, Run, Wait, from_phases};
use serde::Serialize;

type Notes = Vec<String>;

/// Counts its calls, and notes its name.
fn note(name: &'static str, calls: &Arc<AtomicUsize>) -> impl Node<Notes> + use<> {
    let calls = Arc::clone(calls);
    from_phases(
        |_: &mut Notes| (),
        move |()| {
            calls.fetch_add(1, Ordering::SeqCst);
            async move { Ok::<_, BoxError>(name.to_owned()) }
        },
        |notes, name| notes.push(name),
    )
}

fn ask(event: &str) -> Wait<Notes> {
    Wait::for_event(event, |notes: &mut Notes, answer: String| {
        notes.push(answer)
    })
}

/// Work, a question, work.
fn asking(wait: Wait<Notes>, calls: &Arc<AtomicUsize>) -> Flow<Notes> {
    Flow::builder("paper")
        .start("write")
        .node("write", note("written", calls))
        .wait("review", wait)
        .node("print", note("printed", calls))
        .edge("write", "default", "review")
        .edge("review", "default", "print")
        .end("print", "default")
        .build()
        .unwrap()
}

async fn pauses<S>(run: &mut Run<'_, S>, state: &mut S) -> Paused {
    run.finish(state).await.unwrap_err().into_paused().unwrap()
}

/// Begins a run, with a journal if there is one.
fn begun<S: Serialize>(flow: &Flow<S>, journal: Option<impl Journal>) -> Run<'_, S> {
    match journal {
        Some(journal) => flow.begin().with_journal(journal),
        None => flow.begin(),
    }
}
