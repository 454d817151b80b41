//! Whether a flow is still the one that a record was made with, and what has changed if not.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use cogwork_flow::{
    Action, Batch, Branches, Each, Flow, FlowBuilder, FlowGraph, Node, Wait, from_fn,
};
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

/// The error of the new flow for the record of the looping one, at every step.
fn differs(new: FlowBuilder<u32>) -> String {
    new.build()
        .unwrap()
        .graph()
        .difference(&looping().graph())
        .unwrap()
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
fn the_order_in_which_it_was_built_does_not_matter_nor_its_name() {
    let other = Flow::builder("of another name")
        .end("look", "enough")
        .node("look", decides().focus(|n: &mut u32| n))
        .edge("look", "again", "more")
        .node("more", more())
        .edge("more", "default", "look")
        .start("more")
        .build()
        .unwrap();
    assert_eq!(other.graph().difference(&looping().graph()), None);
}

#[test]
fn a_node_more_or_less() {
    let flow = loops(Flow::builder("loop"))
        .node("rest", more())
        .edge("more", "default", "rest")
        .edge("rest", "default", "look")
        .edge("look", "again", "more")
        .end("look", "enough");

    assert_snapshot!(differs(flow), @"gone: the edge from `more` on `default` to `look`; new: the edge from `more` on `default` to `rest`, the node `rest`, the edge from `rest` on `default` to `look`");
    let flow = Flow::builder("loop")
        .start("more")
        .node("more", more())
        .end("more", "default");
    assert_snapshot!(differs(flow), @"gone: the node `look`, the edge from `look` on `again` to `more`, the edge from `look` on `enough` to the end, the edge from `more` on `default` to `look`; new: the edge from `more` on `default` to the end");
}

#[test]
fn an_edge_or_the_start() {
    let flow = loops(Flow::builder("loop"))
        .edge("more", "default", "look")
        .edge("look", "again", "look")
        .end("look", "enough");
    assert_snapshot!(differs(flow), @"gone: the edge from `look` on `again` to `more`; new: the edge from `look` on `again` to `look`");
    let flow = Flow::builder("loop")
        .start("look")
        .node("more", more())
        .node("look", decides());
    let flow = flow
        .edge("more", "default", "look")
        .edge("look", "again", "more")
        .end("look", "enough");

    assert_snapshot!(differs(flow), @"gone: the start `more`; new: the start `look`");
}

#[test]
fn the_kind_of_a_place() {
    let ends = |flow: FlowBuilder<u32>| {
        flow.start("more")
            .node("look", decides())
            .edge("more", "default", "look")
            .edge("look", "again", "more")
            .end("look", "enough")
    };

    let split = |n: &u32| vec![*n];
    let join = |n: &mut u32, all: Vec<u32>| *n = all.len() as u32;
    let one = || {
        Flow::builder("one")
            .start("n")
            .node("n", more())
            .end("n", "default")
            .build()
            .unwrap()
    };

    assert_snapshot!(differs(ends(Flow::builder("loop").batch("more", Batch::in_turn(more(), split, |_, _| ())))), @"gone: the node `more`; new: the batch `more`");
    assert_snapshot!(differs(ends(Flow::builder("loop").wait("more", Wait::for_event("e", |_: &mut u32, (): ()| ())))), @"gone: the node `more`; new: the wait `more` for the event `e`");
    assert_snapshot!(differs(ends(Flow::builder("loop").sleep("more", |_: &u32| std::time::Duration::ZERO))), @"gone: the node `more`; new: the sleep `more`");
    assert_snapshot!(differs(ends(Flow::builder("loop").subflow("more", one(), |n: &mut u32| n))), @"gone: the node `more`; new: the subflow `more`, the start `n` in the flow 1 down, `one`, the node `n` in the flow 1 down, `one`, the edge from `n` on `default` to the end in the flow 1 down, `one`");
    assert_snapshot!(differs(ends(Flow::builder("loop").each("more", Each::in_turn(one(), split, join)))), @"gone: the node `more`; new: the flow over items `more`, the start `n` in the flow 1 down, `one`, the node `n` in the flow 1 down, `one`, the edge from `n` on `default` to the end in the flow 1 down, `one`");
}

fn holds(inner: Flow<u32>, at_most: usize) -> FlowGraph {
    let each = Each::at_most(at_most, inner, |n: &u32| vec![*n], |_: &mut u32, _| ());
    Flow::builder("outer")
        .start("each")
        .each("each", each)
        .end("each", "default")
        .build()
        .unwrap()
        .graph()
}

#[test]
fn a_flow_inside_it() {
    assert_eq!(
        holds(looping(), 1).difference(&holds(looping(), 9)),
        None,
        "how many at a time does not matter"
    );

    let inner = loops(Flow::builder("loop"))
        .edge("more", "default", "look")
        .edge("look", "enough", "more")
        .end("look", "again")
        .build()
        .unwrap();

    assert_snapshot!(holds(inner, 1).difference(&holds(looping(), 1)).unwrap(), @"gone: the edge from `look` on `again` to `more` in the flow 1 down, `loop`, the edge from `look` on `enough` to the end in the flow 1 down, `loop`; new: the edge from `look` on `again` to the end in the flow 1 down, `loop`, the edge from `look` on `enough` to `more` in the flow 1 down, `loop`");
}

fn forks(names: &[&str]) -> FlowGraph {
    let one = |name: &str| {
        Flow::builder(name)
            .start("n")
            .node("n", more())
            .end("n", "default")
            .build()
            .unwrap()
    };

    let branches = names.iter().fold(Branches::new(), |all, name| {
        all.branch(*name, one("one"), |n: &u32| *n, |n: &mut u32, _| *n += 1)
    });
    Flow::builder("outer")
        .start("fork")
        .branches("fork", branches)
        .end("fork", "default")
        .build()
        .unwrap()
        .graph()
}

#[test]
fn a_branch_of_another_name() {
    assert_snapshot!(forks(&["left", "wrong"]).difference(&forks(&["left", "right"])).unwrap(), @"gone: the branch `right` of `fork`, the start `n` in the flow 1 down, `right`, the node `n` in the flow 1 down, `right`, the edge from `n` on `default` to the end in the flow 1 down, `right`; new: the branch `wrong` of `fork`, the start `n` in the flow 1 down, `wrong`, the node `n` in the flow 1 down, `wrong`, the edge from `n` on `default` to the end in the flow 1 down, `wrong`");
    assert_snapshot!(forks(&["left"]).difference(&forks(&["left", "right"])).unwrap(), @"gone: the branch `right` of `fork`, the start `n` in the flow 1 down, `right`, the node `n` in the flow 1 down, `right`, the edge from `n` on `default` to the end in the flow 1 down, `right`");
}

/// The same places, but not each inside the same.
#[test]
fn flows_that_have_changed_places() {
    let two = |left: fn() -> Flow<u32>, right: fn() -> Flow<u32>| {
        let flow = Flow::builder("outer")
            .start("a")
            .subflow("a", left(), |n: &mut u32| n)
            .subflow("b", right(), |n: &mut u32| n)
            .edge("a", "enough", "b")
            .end("b", "enough");
        flow.build().unwrap().graph()
    };

    let short = || {
        let flow = Flow::builder("loop").start("look").node("look", decides());
        flow.edge("look", "again", "look")
            .end("look", "enough")
            .build()
            .unwrap()
    };

    assert_eq!(two(looping, short).difference(&two(looping, short)), None);
    assert_snapshot!(two(short, looping).difference(&two(looping, short)).unwrap(), @"flows inside it have changed places");
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

    assert_snapshot!(differs(many), @"gone: the start `more`, the node `look`, the edge from `look` on `again` to `more`, the edge from `look` on `enough` to the end, the node `more` and 1 more; new: the start `0`, the node `0`, the edge from `0` on `default` to `1`, the node `1`, the edge from `1` on `default` to `2` and 196 more");
    let long = "x\n".repeat(5_000);
    let flow = Flow::builder("f")
        .start(long.clone())
        .node(long.clone(), more())
        .end(long, "default");
    let line = differs(flow);

    assert!(
        line.len() < 3_000 && !line.contains('\n'),
        "{} bytes",
        line.len()
    );
}

/// On a thread of 2 MiB, as tokio's own are.
#[test]
fn deep_flows_have_a_shape() {
    let deep = || {
        let batch = Batch::in_turn(more(), |n: &u32| vec![*n], |_, _| ());
        let mut flow = Flow::builder("0")
            .start("s")
            .batch("s", batch)
            .end("s", "default")
            .build()
            .unwrap();

        for level in 1..=30 {
            let inner =
                Flow::builder(level.to_string())
                    .start("s")
                    .subflow("s", flow, |n: &mut u32| n);
            flow = inner.end("s", "default").build().unwrap();
        }

        assert_eq!(flow.graph().difference(&flow.graph()), None);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let error = runtime.block_on(flow.begin().deliver("e", &1)).unwrap_err();
        assert!(error.to_string().ends_with("the flow waits for none"));
    };
    std::thread::Builder::new()
        .stack_size(2 << 20)
        .spawn(deep)
        .unwrap()
        .join()
        .unwrap();
}
