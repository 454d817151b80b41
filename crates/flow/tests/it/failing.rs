//! The errors of failing runs, and where the runs are afterwards.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::error::Error;
use std::fmt;

use cogwork_flow::nodes::Phase;
use cogwork_flow::{Action, Flow, Node, RunError, from_fn};
use insta::assert_snapshot;

type Log = Vec<&'static str>;

/// Fails where it is told to.
struct Fails(Option<Phase>);

#[derive(Debug, PartialEq)]
struct Broken;

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if f.alternate() {
            "broken\n  at: the hinge"
        } else {
            "broken"
        })
    }
}

impl Error for Broken {}

impl Node<Log> for Fails {
    type Prep = ();
    type Exec = ();
    type Error = Broken;

    fn prep(&self, log: &mut Log) -> Result<(), Broken> {
        log.push("prep");
        if self.0 == Some(Phase::Prep) {
            Err(Broken)
        } else {
            Ok(())
        }
    }

    async fn exec(&self, (): &()) -> Result<(), Broken> {
        if self.0 == Some(Phase::Exec) {
            Err(Broken)
        } else {
            Ok(())
        }
    }

    fn post(&self, log: &mut Log, (): (), (): ()) -> Result<Action, Broken> {
        log.push("post");
        if self.0 == Some(Phase::Post) {
            Err(Broken)
        } else {
            Ok("undeclared".into())
        }
    }
}

async fn failure(at: Option<Phase>) -> (RunError, Log) {
    let inner = Flow::builder("inner")
        .node("door", Fails(at))
        .chain(["door"]);
    let outer = Flow::builder("outer")
        .start("first")
        .node("first", from_fn(|log: &mut Log| log.push("first")))
        .edge("first", "default", "house")
        .subflow("house", inner.build().unwrap(), |log| log)
        .end("house", "default")
        .build()
        .unwrap();

    let mut log = Log::new();
    let mut run = outer.begin();
    run.step(&mut log).await.unwrap();
    let error = run.step(&mut log).await.unwrap_err();

    assert_eq!(
        (run.node(), run.steps()),
        (Some("door"), 1),
        "the run stays at the node"
    );

    (error, log)
}

#[tokio::test]
async fn an_error_names_flow_path_node_and_phase() {
    let (error, log) = failure(Some(Phase::Prep)).await;
    assert_snapshot!(error, @"flow `outer/house`, node `door`: prep failed: broken");
    assert_eq!(
        (error.phase(), log),
        (Some(Phase::Prep), vec!["first", "prep"])
    );

    let (error, log) = failure(Some(Phase::Exec)).await;
    assert_snapshot!(error, @"flow `outer/house`, node `door`: exec failed: broken");
    assert_eq!(
        (error.phase(), log),
        (Some(Phase::Exec), vec!["first", "prep"])
    );

    let (error, log) = failure(Some(Phase::Post)).await;
    assert_snapshot!(error, @"flow `outer/house`, node `door`: post failed: broken");
    assert_eq!(
        (error.phase(), log),
        (Some(Phase::Post), vec!["first", "prep", "post"])
    );
    assert_eq!(
        (error.flow_path(), error.node()),
        (&["outer", "house"].map(String::from)[..], "door")
    );
    assert!(!error.is_step_limit());
    assert_eq!(error.attempts(), Some(1));
}

#[tokio::test]
async fn an_undeclared_answer_is_an_error_that_lists_the_declared_ones() {
    let (error, log) = failure(None).await;
    assert_snapshot!(error, @"flow `outer/house`, node `door`: post returned the action `undeclared`, which the node doesn't declare; it declares `default` (a node made of closures declares others by `with_actions`)");
    assert!(!error.is_step_limit());
    assert_eq!((error.phase(), error.attempts()), (None, None));
    assert!(error.source().is_none());
    assert_eq!(log, ["first", "prep", "post"]);
}

#[tokio::test]
async fn an_error_keeps_its_source_and_shows_it_in_either_form() {
    let (error, _) = failure(Some(Phase::Exec)).await;
    assert_snapshot!(format!("{error:#}"), @r"
    flow `outer/house`, node `door`: exec failed: broken
      at: the hinge
    ");
    assert_eq!(error.downcast_ref(), Some(&Broken));
    assert!(error.downcast_ref::<fmt::Error>().is_none());
    assert_eq!(error.source().unwrap().downcast_ref(), Some(&Broken));

    let source = error.into_source().unwrap();
    assert_eq!(*source.downcast::<Broken>().unwrap(), Broken);
}
