//! Flows as Mermaid flowcharts. Each drawing here was also read and laid out by Mermaid 11.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::time::Duration;

use cogwork_flow::{
    Action, Batch, Branches, Each, Flow, FlowGraph, GraphNode, GraphNodeKind, Node, Wait, from_fn,
};
use insta::assert_snapshot;
use proptest::prelude::*;

fn does(actions: &[&'static str]) -> impl Node<()> + use<> {
    from_fn(|(): &mut ()| ()).with_actions(actions.iter().copied())
}

fn one(name: &str) -> Flow<()> {
    Flow::builder(name)
        .start("work")
        .node("work", does(&["x"]))
        .end("work", "x")
        .build()
        .unwrap()
}

/// Every kind of place, a box that leads to itself, and boxes in boxes.
fn everything() -> Flow<()> {
    let twice = Flow::builder("twice")
        .start("first")
        .subflow("first", one("inner"), |state| state)
        .node("second", does(&["again", "x"]))
        .edge("first", "x", "second")
        .edge("second", "again", "first")
        .end("second", "x")
        .build()
        .unwrap();

    let each = Each::at_most(3, twice, |(): &()| vec![(); 2], |(): &mut (), _| ());
    let batch = Batch::in_turn(does(&["x"]), |(): &()| vec![(); 2], |(): &mut (), _| ());
    let branches = Branches::new()
        .branch("left", one("any"), |()| (), |(), ()| ())
        .branch("right", one("any"), |()| (), |(), ()| ());
    let wait = Wait::for_event("approval", |(): &mut (), yes: bool| {
        Action::from_static(if yes { "yes" } else { "no" })
    });

    Flow::builder("everything")
        .start("sub")
        .subflow("sub", choice(), |state| state)
        .edge("sub", "again", "sub")
        .edge("sub", "on", "batch")
        .batch("batch", batch)
        .edge("batch", "default", "each")
        .each("each", each)
        .edge("each", "default", "fork")
        .branches("fork", branches)
        .edge("fork", "default", "nap")
        .sleep("nap", |()| Duration::from_secs(1))
        .edge("nap", "default", "ask")
        .wait("ask", wait.with_actions(["yes", "no"]))
        .edge("ask", "no", "fork")
        .end("ask", "yes")
        .build()
        .unwrap()
}

fn choice() -> Flow<()> {
    Flow::builder("choice")
        .start("choose")
        .node("choose", does(&["again", "on"]))
        .end("choose", "again")
        .end("choose", "on")
        .build()
        .unwrap()
}

#[test]
fn a_self_loop_and_two_ends() {
    let flow = Flow::builder("think")
        .start("think")
        .node("think", does(&["continue", "end", "give up"]))
        .edge("think", "continue", "think")
        .end("think", "end")
        .edge("think", "give up", "apologise")
        .node("apologise", does(&["default"]))
        .end("apologise", "default")
        .build()
        .unwrap();
    assert_snapshot!(flow.mermaid(), @r#"
    flowchart TD
        start0(( )) --> n0
        n0["think"]
        n1["apologise"]
        n0 -->|"continue"| n0
        n0 -->|"end"| end0(((end)))
        n0 -->|"give up"| n1
        n1 -->|"default"| end0(((end)))
    "#);
}

#[test]
fn a_subflow_is_a_box_around_its_nodes() {
    let innermost = Flow::builder("innermost")
        .start("x")
        .node("x", does(&["x"]))
        .end("x", "x");
    let inner = Flow::builder("inner")
        .node("a", does(&["x"]))
        .start("b")
        .subflow("b", innermost.build().unwrap(), |state| state)
        .edge("b", "x", "a")
        .end("a", "x")
        .build()
        .unwrap();

    let flow = Flow::builder("outer")
        .start("first")
        .node("first", does(&["x"]))
        .edge("first", "x", "inner")
        .subflow("inner", inner, |state| state)
        .edge("inner", "x", "last")
        .node("last", does(&["again", "done"]))
        .edge("last", "again", "inner")
        .end("last", "done")
        .build()
        .unwrap();

    assert_snapshot!(flow.mermaid(), @r#"
    flowchart TD
        start0(( )) --> n0
        n0["first"]
        subgraph n1["inner"]
            start_n1(( )) --> n4
            n3["a"]
            subgraph n4["b"]
                start_n4(( )) --> n5
                n5["x"]
                n5 -->|"x"| end_n4(((end)))
            end
            n3 -->|"x"| end_n1(((end)))
            n4 -->|"x"| n3
        end
        n2["last"]
        n0 -->|"x"| n1
        n1 -->|"x"| n2
        n2 -->|"again"| n1
        n2 -->|"done"| end0(((end)))
    "#);
}

#[test]
fn every_kind_of_place_has_a_shape_of_its_own() {
    assert_snapshot!("everything_as_mermaid", everything().mermaid());
}

#[test]
fn side_by_side_without_branches_is_an_empty_box() {
    let none = Branches::<()>::new();
    let flow = Flow::builder("f")
        .start("none")
        .branches("none", none)
        .end("none", "default");
    let flow = flow.build().unwrap();
    assert_snapshot!(flow.mermaid(), @r#"
    flowchart TD
        start0(( )) --> n0
        subgraph n0["none: side by side"]
        end
        n0 -->|"default"| end0(((end)))
    "#);
}

/// Any name or label is shown as text: it neither ends the drawing nor instructs who
/// reads it.
#[test]
fn names_and_labels_are_escaped() {
    let flow = awkward();
    assert_snapshot!("escaped_as_mermaid", flow.mermaid());
}

fn awkward() -> Flow<()> {
    let names = [
        "a \"quoted\" <b>name</b>; #1 & `x` \\",
        "two\nlines\tand a\u{7} bell",
        "%%{init: {\"theme\": \"dark\"}}%%",
        "",
        "end",
        "思考 → é 👩‍🚀 | [x] (y) {z}",
        "\\N \\G \\l \\\" &amp; &#65; \r\n\0",
        "<table><tr><td>html</td></tr></table>",
        "1. a list\n- that is none",
        "**not bold** _nor this_ $$x^2$$ fa:fa-car",
        "\u{2028}\u{2029}\u{feff}\u{202e}",
        "]; drop -> it //",
    ];

    let mut builder = Flow::builder("escaped").start(names[0]);
    for (index, name) in names.into_iter().enumerate() {
        builder = builder.node(name, does(&[name]));
        builder = match names.get(index + 1) {
            Some(next) => builder.edge(name, name, *next),
            None => builder.end(name, name),
        };
    }

    builder.build().unwrap()
}

#[test]
fn a_long_name_is_drawn_whole() {
    let long: &'static str = "é\"\\ ".repeat(2_000).leak();
    let flow = Flow::builder("f")
        .start(long)
        .node(long, does(&[long]))
        .end(long, long)
        .build()
        .unwrap();

    assert_eq!(flow.mermaid().matches("é#34;#92; ").count(), 4_000);
}

/// The drawing of a flow whose names and labels are all the same, without its labels.
fn structure(name: &str) -> String {
    let inner = Flow::builder(name)
        .start(name)
        .node(name, does(&["x"]))
        .end(name, "x")
        .build()
        .unwrap();

    let label = Action::new(name);
    let leaves = from_fn(|(): &mut ()| ()).with_actions([label.clone()]);
    let flow = Flow::builder(name)
        .start("box")
        .branches(
            "box",
            Branches::new().branch(name, inner, |()| (), |(), ()| ()),
        )
        .edge("box", "default", name)
        .node(name, leaves)
        .end(name, label)
        .build()
        .unwrap();

    let outside = |drawing: String| {
        let mut quoted = false;
        let mut escaped = false;
        let mut kept = String::new();
        for character in drawing.chars() {
            match character {
                _ if escaped => escaped = false,
                '\\' if quoted => escaped = true,
                '"' => quoted = !quoted,
                _ if quoted => assert!(!character.is_control(), "{drawing}"),
                _ => kept.push(character),
            }
        }

        kept
    };

    outside(flow.mermaid())
}

proptest! {
    #[test]
    fn no_name_changes_what_stands_outside_of_labels(name in ".{0,20}|[\"\\\\#%&;:<>$`\n\r\u{0}]{0,8}") {
        prop_assume!(name != "box");
        prop_assert_eq!(structure(&name), structure("name"));
    }
}

#[test]
fn the_graph_is_data_with_every_kind_of_place() {
    let graph = everything().graph();
    let json = serde_json::to_string_pretty(&graph).unwrap();
    assert_eq!(serde_json::from_str::<FlowGraph>(&json).unwrap(), graph);

    insta::assert_json_snapshot!("graph_of_everything", graph);
}

#[test]
fn the_graph_of_the_deepest_flow_can_be_read() {
    let mut flow = one("0");
    for depth in 1..=30 {
        let name = depth.to_string();
        flow = Flow::builder(name)
            .start("in")
            .subflow("in", flow, |state| state)
            .end("in", "x")
            .build()
            .unwrap();
    }

    let graph = flow.graph();
    let json = serde_json::to_string(&graph).unwrap();
    assert_eq!(serde_json::from_str::<FlowGraph>(&json).unwrap(), graph);
}

#[test]
fn a_kind_of_node_of_a_later_version_is_read_as_a_node() {
    let node: GraphNode = serde_json::from_str(r#"{"name": "a", "kind": "portal"}"#).unwrap();
    assert_eq!(node.kind, GraphNodeKind::Node);
}
