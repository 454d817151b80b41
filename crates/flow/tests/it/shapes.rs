//! Whether a flow is still the one that a record was made with, and what has changed if not.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use cogwork_flow::draw::FlowGraph;
use cogwork_flow::{Action, Batch, Branches, Each, Flow, FlowBuilder, Node, Wait, from_fn};
use insta::assert_snapshot;

fn more() -> impl Node<u32> {
    from_fn(|n: &mut u32| *n += 1)
}

fn decides() -> impl Node<u32> {
    from_fn(|n: &mut u32| Action::from_static(if *n < 9 { "again" } else { "enough" }))
        .with_actions(["again", "enough"])
}

fn loops(builder: FlowBuilder<u32>) -> FlowBuilder<u32> {
    builder
        .start("more")
        .node("more", more())
        .node("look", decides())
}

fn looping() -> Flow<u32> {
    loops(Flow::builder("loop"))
        .edge("more", "default", "look")
        .edge("look", "again", "more")
        .end("look", "enough")
        .build()
        .unwrap()
}

/// Whether the looping flow is the same as this one, and if not, what has changed.
fn difference(new: FlowBuilder<u32>) -> Option<String> {
    let new = new.build().unwrap().graph();
    new.difference(&looping().graph())
}

#[test]
fn the_same_flow_is_the_same() {
    assert_eq!(looping().graph().difference(&looping().graph()), None);
    let text = serde_json::to_string(&looping().graph()).unwrap();
    assert_snapshot!(text, @r#"{"name":"loop","start":"more","nodes":[{"name":"more","kind":"node"},{"name":"look","kind":"node"}],"edges":[{"from":"more","action":"default","to":"look"},{"from":"look","action":"again","to":"more"},{"from":"look","action":"enough","to":null}]}"#);
    assert_eq!(
        serde_json::from_str::<FlowGraph>(&text).unwrap(),
        looping().graph()
    );
}

#[test]
fn neither_the_order_nor_the_name_nor_how_many_at_a_time_matters() {
    let other = Flow::builder("of another name")
        .end("look", "enough")
        .node("look", decides().focus(|n: &mut u32| n))
        .edge("look", "again", "more")
        .node("more", more())
        .edge("more", "default", "look")
        .start("more");
    assert_eq!(difference(other), None);

    let over = |at_most| {
        let each = Each::at_most(at_most, looping(), |n: &u32| vec![*n], |_: &mut u32, _| ());
        let flow = Flow::builder("outer").each("each", each).chain(["each"]);
        flow.build().unwrap().graph()
    };
    assert_eq!(over(1).difference(&over(9)), None);
}

/// The looping flow with another place in place of `more`.
fn with(add: impl FnOnce(FlowBuilder<u32>) -> FlowBuilder<u32>) -> FlowBuilder<u32> {
    add(Flow::builder("loop"))
        .start("more")
        .node("look", decides())
        .edge("more", "default", "look")
        .edge("look", "again", "more")
        .end("look", "enough")
}

#[test]
fn what_is_new_and_what_is_gone_is_named() {
    let one = || Flow::from_node("n", more()).unwrap();
    let split = |n: &u32| vec![*n];
    let batch = Batch::at_most(1, more(), split, |_, _| ());
    let each = Each::at_most(1, one(), split, |n: &mut u32, all| *n = all.len() as u32);
    let branches = Branches::new().branch("left", one(), |n: &u32| *n, |_, _| ());
    let wait = Wait::for_event("e", |_: &mut u32, (): ()| ());

    let flows = [
        // Another node, edge and start.
        loops(Flow::builder("loop"))
            .node("rest", more())
            .edge("more", "default", "rest")
            .edge("rest", "default", "look")
            .edge("look", "again", "more")
            .end("look", "enough"),
        Flow::builder("loop").node("more", more()).chain(["more"]),
        loops(Flow::builder("loop"))
            .edge("more", "default", "look")
            .edge("look", "again", "look")
            .end("look", "enough"),
        Flow::builder("loop")
            .start("look")
            .node("more", more())
            .node("look", decides())
            .edge("more", "default", "look")
            .edge("look", "again", "more")
            .end("look", "enough"),
        // Another kind of place.
        with(|flow| flow.batch("more", batch)),
        with(|flow| flow.wait("more", wait)),
        with(|flow| flow.sleep("more", |_| std::time::Duration::ZERO)),
        with(|flow| flow.subflow("more", one(), |n: &mut u32| n)),
        with(|flow| flow.each("more", each)),
        with(|flow| flow.branches("more", branches)),
    ];

    let lines = flows.map(|flow| difference(flow).unwrap());
    assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_difference_stays_one_short_line() {
    let many = (0..100).fold(Flow::builder("f").start("0"), |flow, n| {
        let name = n.to_string();
        let next = format!("{}", n + 1);
        let flow = flow.node(name.clone(), more());
        if n < 99 {
            flow.edge(name, "default", next)
        } else {
            flow.end(name, "default")
        }
    });

    assert_snapshot!(difference(many).unwrap(), @"gone: the start `more`, the node `look`, the edge from `look` on `again` to `more`, the edge from `look` on `enough` to the end, the node `more` and 1 more; new: the start `0`, the node `0`, the edge from `0` on `default` to `1`, the node `1`, the edge from `1` on `default` to `2` and 196 more");
    let long = "x\n".repeat(5_000);
    let flow = Flow::builder("f")
        .start(long.clone())
        .node(long.clone(), more())
        .end(long, "default");
    let line = difference(flow).unwrap();

    assert!(
        line.len() < 3_000 && !line.contains('\n'),
        "{} bytes",
        line.len()
    );
}
