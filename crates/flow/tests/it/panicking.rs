//! A node that panics fails its own run, and no other.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::panic::panic_any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cogwork_flow::engine::MemoryJournal;
use cogwork_flow::nodes::Phase;
use cogwork_flow::{Action, Batch, BoxError, Branches, Each, Flow, Node, RunError, Wait, from_fn};
use insta::assert_snapshot;

type State = Vec<u32>;

/// Panics in one phase.
struct Ill(Phase);

impl Node<u32> for Ill {
    type Prep = ();
    type Exec = ();
    type Error = BoxError;

    fn prep(&self, _: &mut u32) -> Result<(), BoxError> {
        assert_ne!(self.0, Phase::Prep, "ill in prep");
        Ok(())
    }

    async fn exec(&self, (): &()) -> Result<(), BoxError> {
        tokio::task::yield_now().await;
        assert!(self.0 != Phase::Exec, "ill in {}", self.0);
        Ok(())
    }

    fn post(&self, n: &mut u32, (): (), (): ()) -> Result<Action, BoxError> {
        *n += 1;
        assert!(self.0 != Phase::Post, "ill in post");
        Ok(Action::DEFAULT)
    }
}

fn ill(phase: Phase) -> Flow<u32> {
    Flow::builder("ill")
        .node("node", Ill(phase))
        .chain(["node"])
        .build()
        .unwrap()
}

fn well() -> Flow<u32> {
    let add = from_fn(|n: &mut u32| *n += 1);
    Flow::builder("well")
        .node("add", add)
        .chain(["add"])
        .build()
        .unwrap()
}

/// What the run says, which is the same with a journal.
async fn panics<S: Clone + serde::Serialize>(flow: Flow<S>, state: S) -> RunError {
    let mut run = flow.begin();
    let error = run.finish(&mut state.clone()).await.unwrap_err();
    assert_eq!(run.steps(), 0);
    let journaled = flow
        .begin()
        .with_journal(MemoryJournal::new("r"))
        .finish(&mut state.clone())
        .await
        .unwrap_err();

    assert_eq!(error.to_string(), journaled.to_string());
    assert!(error.is_panic() && journaled.is_panic());
    assert!(!error.is_journal() && error.phase().is_none() && error.paused().is_none());

    error
}

#[tokio::test]
async fn a_node_that_panics_is_named_with_its_text() {
    assert_snapshot!(panics(ill(Phase::Prep), 0).await, @"flow `ill`, node `node`: it panicked: assertion `left != right` failed: ill in prep left: Prep right: Prep");
    assert_snapshot!(panics(ill(Phase::Exec), 0).await, @"flow `ill`, node `node`: it panicked: ill in exec");
    assert_snapshot!(panics(ill(Phase::Post), 0).await, @"flow `ill`, node `node`: it panicked: ill in post");
}

#[tokio::test]
async fn a_panic_need_not_be_text() {
    let odd = from_fn(|_: &mut u32| -> () { panic_any(7) });
    let flow = Flow::builder("f")
        .node("n", odd)
        .chain(["n"])
        .build()
        .unwrap();

    assert_snapshot!(panics(flow, 0).await, @"flow `f`, node `n`: it panicked: with a value that isn't text");
}

fn one<S: Clone + Send + 'static>(
    add: impl FnOnce(cogwork_flow::FlowBuilder<S>) -> cogwork_flow::FlowBuilder<S>,
) -> Flow<S> {
    add(Flow::builder("outer").start("place"))
        .end("place", "default")
        .build()
        .unwrap()
}

#[tokio::test]
async fn the_innermost_node_is_named() {
    let subflow =
        one(|flow| flow.subflow("place", ill(Phase::Exec), |state: &mut State| &mut state[0]));
    assert_snapshot!(panics(subflow, vec![1]).await, @"flow `outer/place`, node `node`: it panicked: ill in exec");

    let each = Each::at_most(2, ill(Phase::Post), State::clone, |state, done| {
        *state = done
    });
    assert_snapshot!(panics(one(|flow| flow.each("place", each)), vec![1]).await, @"flow `outer/place[0]`, node `node`: it panicked: ill in post");

    let branches = Branches::new()
        .branch(
            "well",
            well(),
            |state: &State| state[0],
            |state, done| state[0] = done,
        )
        .branch(
            "ill",
            ill(Phase::Prep),
            |state: &State| state[0],
            |state, done| state[0] = done,
        );

    let error = panics(one(|flow| flow.branches("place", branches)), vec![1]).await;
    assert_eq!(
        (error.flow_path().join("/").as_str(), error.node()),
        ("outer/place/ill", "node")
    );

    let batch = Batch::at_most(2, Ill(Phase::Exec), State::clone, |_, _| ());
    assert_snapshot!(panics(one(|flow| flow.batch("place", batch)), vec![1]).await, @"flow `outer`, node `place`: it panicked: ill in exec");
}

#[tokio::test]
async fn closures_around_a_flow_may_panic_too() {
    let subflow = one(|flow| flow.subflow("place", well(), |_: &mut State| panic!("no part")));
    assert_snapshot!(panics(subflow, vec![]).await, @"flow `outer/place`, node `add`: it panicked: no part");

    let split = Each::at_most(
        1,
        well(),
        |_: &State| -> State { panic!("no split") },
        |_, _| (),
    );
    assert_snapshot!(panics(one(|flow| flow.each("place", split)), vec![1]).await, @"flow `outer`, node `place`: it panicked: no split");
    let join = Branches::new().branch(
        "b",
        well(),
        |_: &State| 1,
        |_: &mut State, _| -> () { panic!("no join") },
    );
    assert_snapshot!(panics(one(|flow| flow.branches("place", join)), vec![1]).await, @"flow `outer`, node `place`: it panicked: no join");

    let why =
        Wait::for_event("word", |_: &mut State, (): ()| ()).with_reason(|_| panic!("no reason"));
    assert_snapshot!(panics(one(|flow| flow.wait("place", why)), vec![1]).await, @"flow `outer`, node `place`: it panicked: no reason");
    let sleep = one(|flow| flow.sleep("place", |_: &State| panic!("no rest")));
    assert_snapshot!(panics(sleep, vec![1]).await, @"flow `outer`, node `place`: it panicked: no rest");
}

#[tokio::test]
async fn a_run_can_go_on_after_a_panic() {
    let sick = Arc::new(AtomicBool::new(true));
    let recovers = Arc::clone(&sick);
    let add = from_fn(move |n: &mut u32| {
        assert!(*n != 13 || !sick.load(Ordering::SeqCst), "unlucky");
        *n += 1;
        if *n < 20 { "more" } else { "done" }
    });
    let flow = Flow::builder("f")
        .start("n")
        .node("n", add.with_actions(["more", "done"]))
        .edge("n", "more", "n")
        .end("n", "done")
        .build()
        .unwrap();

    let mut run = flow.begin();
    let mut n = 11;
    assert!(run.finish(&mut n).await.unwrap_err().is_panic());
    assert_eq!((n, run.steps(), run.node()), (13, 2, Some("n")));
    recovers.store(false, Ordering::SeqCst);
    assert_eq!(run.finish(&mut n).await.unwrap().steps, 9);
}
