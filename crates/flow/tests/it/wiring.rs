//! The errors of `build`.

#![expect(
    clippy::expect_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::time::Duration;

use cogwork_flow::{Action, BuildError, Flow, FlowBuilder, Node, Wait, WiringProblem, from_fn};
use insta::assert_snapshot;

fn flow() -> FlowBuilder<()> {
    Flow::builder("f")
}

fn does(actions: &[&'static str]) -> impl Node<()> + use<> {
    from_fn(|(): &mut ()| ()).with_actions(actions.iter().copied())
}

fn refused<S>(builder: FlowBuilder<S>) -> BuildError {
    builder.build().expect_err("this graph is not whole")
}

#[test]
fn an_empty_flow_lacks_a_node_and_a_start() {
    let error = refused(flow());
    assert_snapshot!(error, @"flow `f` has 2 problems: it has no node; add one with `node`; it has no start; set one with `start`");
    assert_snapshot!(format!("{error:#}"), @r"
    flow `f` has 2 problems:
    - it has no node; add one with `node`
    - it has no start; set one with `start`
    ");

    assert_eq!(error.flow(), "f");
    assert_eq!(
        error.problems(),
        [
            WiringProblem::NoNodes,
            WiringProblem::NoStart { nodes: [].into() }
        ]
    );
}

#[test]
fn a_flow_has_exactly_one_start_and_it_is_a_node() {
    let two = || {
        flow()
            .node("a", does(&["x"]))
            .edge("a", "x", "b")
            .node("b", does(&["x"]))
            .end("b", "x")
    };

    assert_snapshot!(refused(two()), @"flow `f` has 1 problem: it has no start; set one with `start`; the nodes are `a` and `b`");
    assert_snapshot!(refused(two().start("a").start("b")), @"flow `f` has 1 problem: it has more than one start: `a` and `b`");
    assert_snapshot!(refused(two().start("A")), @"flow `f` has 1 problem: the start `A` is not a node; the nodes are `a` and `b`");
    assert_snapshot!(refused(flow().start("a")), @"flow `f` has 2 problems: it has no node; add one with `node`; the start `a` is not a node");
}

#[test]
fn a_node_and_a_subflow_can_be_left() {
    let error = refused(flow().start("a").node("a", does(&[])));
    assert_snapshot!(error, @"flow `f` has 1 problem: node `a` declares no action, so a run could never leave it");

    let endless = flow()
        .start("a")
        .node("a", does(&["x"]))
        .edge("a", "x", "a")
        .build()
        .unwrap();

    let error = refused(
        flow()
            .start("s")
            .subflow("s", endless, |state| state)
            .end("s", "x"),
    );

    assert_snapshot!(format!("{error:#}"), @r"
    flow `f` has 2 problems:
    - node `s` declares no action, so a run could never leave it
    - the edge from `s` on `x` is never taken: `s` declares none
    ");
}

#[test]
fn edges_lead_from_nodes_to_nodes_on_declared_actions() {
    let whole = || {
        flow()
            .start("a")
            .node("a", does(&["x", "y"]))
            .end("a", "x")
            .end("a", "y")
    };

    assert!(whole().build().is_ok());
    assert_snapshot!(refused(whole().edge("b", "x", "a")), @"flow `f` has 1 problem: the edge on `x` leaves `b`, which is not a node; the nodes are `a`");
    assert_snapshot!(refused(whole().end("b", "x")), @"flow `f` has 1 problem: the edge on `x` leaves `b`, which is not a node; the nodes are `a`");
    assert_snapshot!(refused(whole().edge("a", "z", "a")), @"flow `f` has 1 problem: the edge from `a` on `z` is never taken: `a` declares `x` and `y`");
    assert_snapshot!(refused(whole().end("a", "x")), @"flow `f` has 1 problem: more than one edge leaves `a` on `x`");
    assert_snapshot!(
        refused(flow().start("a").node("a", does(&["x"])).edge("a", "x", "b")),
        @"flow `f` has 1 problem: the edge from `a` on `x` leads to `b`, which is not a node; the nodes are `a`"
    );
}

#[test]
fn every_declared_action_leads_somewhere_once() {
    let error = refused(
        flow()
            .start("a")
            .node("a", does(&["x", "y", "y"]))
            .end("a", "x"),
    );

    assert_snapshot!(error, @"flow `f` has 1 problem: node `a` declares the action `y`, which leads nowhere; add an edge or an end for it");
    assert!(
        flow()
            .start("a")
            .node("a", does(&["x", "x"]))
            .end("a", "x")
            .build()
            .is_ok()
    );
}

#[test]
fn every_node_can_be_reached() {
    let error = refused(
        flow()
            .start("a")
            .node("a", does(&["x"]))
            .end("a", "x")
            .node("b", does(&["x"]))
            .edge("b", "x", "c")
            .node("c", does(&["x"]))
            .edge("c", "x", "b"),
    );
    assert_snapshot!(error, @"flow `f` has 2 problems: node `b` cannot be reached from the start; node `c` cannot be reached from the start");
}

/// `a` can end the flow, `b` and `c` only lead to each other, and `d` leads to them.
#[test]
fn nodes_without_a_path_to_an_end_are_listed() {
    let flow = flow()
        .start("a")
        .node("a", does(&["x", "y"]))
        .node("b", does(&["x"]))
        .node("c", does(&["x"]))
        .node("d", does(&["x", "y"]))
        .edge("a", "x", "d")
        .edge("d", "x", "b")
        .edge("d", "y", "c")
        .edge("b", "x", "c")
        .edge("c", "x", "b");

    let endless = flow.end("a", "y").build().unwrap();
    assert_eq!(endless.nodes_without_end(), ["b", "c", "d"]);
}

#[test]
fn a_cycle_that_waits_needs_no_end() {
    let pauses = |flow: FlowBuilder<()>| {
        let flow = flow
            .start("pause")
            .node("work", does(&["x"]))
            .edge("pause", Action::DEFAULT, "work")
            .edge("work", "x", "pause");
        flow.build().unwrap().nodes_without_end().len()
    };

    let wait = || Wait::for_event("go", |_: &mut (), (): ()| ());
    let inner = Flow::builder("inner")
        .wait("wait", wait())
        .chain(["wait"])
        .build();

    assert_eq!(pauses(flow().wait("pause", wait())), 0);
    assert_eq!(pauses(flow().sleep("pause", |()| Duration::ZERO)), 0);
    assert_eq!(
        pauses(flow().subflow("pause", inner.unwrap(), |state| state)),
        0
    );

    let node = does(&["default"]);
    assert_eq!(pauses(flow().node("pause", node)), 2);
}

#[test]
fn a_flow_names_each_label_it_ends_on_once() {
    let flow = flow()
        .start("a")
        .node("a", does(&["on", "x", "y"]))
        .node("b", does(&["y", "x"]));
    let flow = flow
        .edge("a", "on", "b")
        .end("a", "x")
        .end("b", "x")
        .end("b", "y")
        .end("a", "y");

    assert_eq!(
        flow.build().unwrap().actions(),
        ["x", "y"].map(Action::from_static)
    );
}

#[test]
fn all_problems_are_reported_at_once() {
    let error = refused(
        flow()
            .start("raed")
            .start("read")
            .node("read", does(&["done", "empty"]))
            .node("read", does(&["done"]))
            .node("judge", does(&[]))
            .edge("read", "done", "jugde")
            .edge("read", "done", "judge")
            .edge("reed", "empty", "judge")
            .end("read", "emtpy"),
    );

    assert_snapshot!(format!("{error:#}"), @r"
    flow `f` has 8 problems:
    - more than one node is named `read`
    - node `judge` declares no action, so a run could never leave it
    - it has more than one start: `raed` and `read`
    - the edge from `read` on `done` leads to `jugde`, which is not a node; the nodes are `read` and `judge`
    - more than one edge leaves `read` on `done`
    - the edge on `empty` leaves `reed`, which is not a node; the nodes are `read` and `judge`
    - the edge from `read` on `emtpy` is never taken: `read` declares `done` and `empty`
    - node `read` declares the action `empty`, which leads nowhere; add an edge or an end for it
    ");

    assert_eq!(error.problems().len(), 8);
}

#[tokio::test]
async fn a_chain_is_a_start_edges_and_an_end() {
    let add = |name: &'static str| from_fn(move |names: &mut Vec<&str>| names.push(name));
    let flow = Flow::builder("f")
        .node("b", add("b"))
        .node("a", add("a"))
        .node("c", add("c"))
        .chain(["a", "b", "c"])
        .build()
        .unwrap();

    let mut names = Vec::new();
    let ended = flow.run(&mut names).await.unwrap();
    assert_eq!(names, ["a", "b", "c"]);
    assert_eq!((ended.action, ended.steps), (Action::DEFAULT, 3));

    let one = Flow::builder("f").node("a", add("a")).chain(["a"]);
    assert_eq!(one.build().unwrap().actions(), [Action::DEFAULT]);
}

#[tokio::test]
async fn a_flow_of_one_node_ends_on_each_of_its_actions() {
    let judge = from_fn(|n: &mut u32| if *n > 2 { "large" } else { "small" });
    let judge = judge.with_actions(["small", "large", "small"]);
    let flow = Flow::from_node("judge", judge).unwrap();

    assert_eq!(flow.name(), "judge");
    assert_eq!(flow.actions(), ["large".into(), "small".into()]);
    assert_eq!(flow.run(&mut 3).await.unwrap().action.as_str(), "large");
    assert_eq!(flow.run(&mut 2).await.unwrap().action.as_str(), "small");

    let error = Flow::from_node("nothing", does(&[])).unwrap_err();
    assert_snapshot!(error, @"flow `nothing` has 1 problem: node `nothing` declares no action, so a run could never leave it");
}
