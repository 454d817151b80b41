//! Flows as Mermaid flowcharts. Each drawing here was also read and laid out by Mermaid 11.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::time::Duration;

use cogwork_flow::draw::{FlowGraph, GraphNode, GraphNodeKind};
use cogwork_flow::{Action, Batch, Branches, Each, Flow, Node, Wait, from_fn};
use insta::assert_snapshot;

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
    let batch = Batch::at_most(1, does(&["x"]), |(): &()| vec![(); 2], |(): &mut (), _| ());
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
fn every_kind_of_place_has_a_shape_of_its_own() {
    assert_snapshot!("everything_as_mermaid", everything().mermaid());
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
fn the_graph_is_data_with_every_kind_of_place() {
    let graph = everything().graph();
    let json = serde_json::to_string_pretty(&graph).unwrap();
    assert_eq!(serde_json::from_str::<FlowGraph>(&json).unwrap(), graph);

    insta::assert_json_snapshot!("graph_of_everything", graph);
}

#[test]
fn a_kind_of_node_of_a_later_version_is_read_as_a_node() {
    let node: GraphNode = serde_json::from_str(r#"{"name": "a", "kind": "portal"}"#).unwrap();
    assert_eq!(node.kind, GraphNodeKind::Node);
}
