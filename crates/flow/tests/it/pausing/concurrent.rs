//! Waits in items and in branches.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use cogwork_flow::engine::MemoryJournal;
use cogwork_flow::{Action, Branches, Each, Flow, Wait};
use insta::assert_snapshot;
use lines::Lines;

use super::{Notes, ask, asking, note, pauses};
use crate::lines;

/// Each item asks for a word of its own kind, between two pieces of work.
fn pages(calls: &Arc<AtomicUsize>) -> Flow<Vec<Notes>> {
    let each = Each::at_most(
        9,
        asking(ask("word"), calls),
        |all: &Vec<Notes>| all.clone(),
        |all, done| *all = done,
    );
    Flow::builder("pages")
        .each("page", each)
        .chain(["page"])
        .build()
        .unwrap()
}

#[tokio::test]
async fn items_wait_at_once_and_the_others_go_to_their_ends() {
    let calls = Arc::default();
    let lines = Lines::default();
    let flow = pages(&calls);
    let all = || vec![Notes::new(); 3];
    let mut run = flow.begin().with_journal(lines.journal());
    let first = pauses(&mut run, &mut all()).await;

    assert_eq!(first.step.to_string(), "pages/page#1[0]/review#2");
    assert_eq!(
        calls.load(Ordering::SeqCst),
        3,
        "each has done what it could"
    );

    assert_eq!(run.steps(), 0, "what is not whole does not count");

    run.deliver("word", &"one").await.unwrap();
    let second = pauses(&mut run, &mut all()).await;
    assert_eq!(second.step.to_string(), "pages/page#1[1]/review#2");
    assert_eq!(calls.load(Ordering::SeqCst), 4);
    run.deliver("word", &"two").await.unwrap();
    run.deliver("word", &"three").await.unwrap();

    let mut done = all();
    assert_eq!(
        run.with_max_steps(10)
            .finish(&mut done)
            .await
            .unwrap()
            .steps,
        10,
        "pauses use up no steps"
    );

    assert_eq!(calls.load(Ordering::SeqCst), 6);
    assert_eq!(
        done.iter()
            .map(|notes| notes[1].as_str())
            .collect::<Vec<_>>(),
        ["one", "two", "three"]
    );

    let mut replayed = all();
    lines.run(&flow, &mut replayed).await.unwrap();

    assert_eq!((replayed, calls.load(Ordering::SeqCst)), (done, 6));
}

/// A question in each branch, the second one with a time limit, and a third branch that asks
/// nothing.
fn committee(calls: &Arc<AtomicUsize>) -> Flow<Notes> {
    let question = |name: &str, wait: Wait<Notes>, limited: bool| {
        let flow = Flow::builder(name)
            .start("work")
            .node("work", note("worked", calls))
            .wait("ask", wait)
            .edge("work", "default", "ask")
            .end("ask", "default");
        if limited {
            flow.end("ask", Action::TIMED_OUT)
        } else {
            flow
        }
        .build()
        .unwrap()
    };

    let ada = question("ada", ask("ada"), false);
    let bob = question(
        "bob",
        ask("bob").with_timeout(Duration::from_secs(60)),
        true,
    );
    let work = Flow::builder("w")
        .node("work", note("idle", calls))
        .chain(["work"]);
    let join = |notes: &mut Notes, part: Notes| notes.extend(part);
    let branches = Branches::new()
        .branch("ada", ada, |_: &Notes| vec![], join)
        .branch("bob", bob, |_: &Notes| vec![], join)
        .branch("idle", work.build().unwrap(), |_: &Notes| vec![], join);

    Flow::builder("committee")
        .branches("ask", branches)
        .chain(["ask"])
        .build()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn branches_are_answered_in_any_order() {
    let calls = Arc::default();
    let lines = Lines::default();
    let flow = committee(&calls);
    let mut run = flow.begin().with_journal(lines.journal());
    let first = pauses(&mut run, &mut vec![]).await;

    assert_eq!(
        (first.step.to_string().as_str(), first.event.as_str()),
        ("committee/ask#1[ada]/ask#2", "ada")
    );
    assert_snapshot!(first, @"paused at committee/ask#1[ada]/ask#2 for the event `ada`, and for one more");
    let [bob] = first.also.as_slice() else {
        panic!("{first:?}")
    };

    assert_eq!(bob.event, "bob");
    assert!(
        first.until.is_none() && bob.until.is_some(),
        "each has its own"
    );
    run.deliver("bob", &"no").await.unwrap();
    let again = pauses(&mut run, &mut vec![]).await;

    assert_eq!((again.event.as_str(), again.until), ("ada", None));
    run.deliver("ada", &"yes").await.unwrap();
    let mut notes = vec![];
    run.finish(&mut notes).await.unwrap();
    assert_eq!(notes, ["worked", "yes", "worked", "no", "idle"]);
    assert_eq!(calls.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn without_a_journal_items_and_branches_cannot_wait_or_sleep() {
    let calls = Arc::default();
    let error = pages(&calls).run(&mut vec![vec![]]).await.unwrap_err();
    assert_snapshot!(error, @"flow `pages/page[0]`, node `review`: a wait inside items or branches needs a journal; give the run one with `Run::with_journal`");
    assert!(!error.is_journal());

    let nap = Flow::builder("nap")
        .sleep("nap", |_: &Notes| Duration::ZERO)
        .chain(["nap"]);
    let branches = Branches::new().branch("nap", nap.build().unwrap(), Notes::clone, |_, _| ());
    let flow = Flow::builder("f")
        .branches("fork", branches)
        .chain(["fork"])
        .build()
        .unwrap();

    let error = flow.run(&mut vec![]).await.unwrap_err();
    assert_snapshot!(error, @"flow `f/fork/nap`, node `nap`: a sleep inside items or branches needs a journal; give the run one with `Run::with_journal`");
    flow.begin()
        .with_journal(MemoryJournal::new("r"))
        .finish(&mut vec![])
        .await
        .unwrap();
}
