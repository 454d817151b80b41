//! Flows as Mermaid flowcharts. Each drawing here was also read and laid out by Mermaid 11.

use cogwork_flow::{Flow, FromFn, from_fn};
use insta::assert_snapshot;

fn does(actions: &[&'static str]) -> FromFn<(), impl Fn(&mut ()) + Send + Sync + use<>> {
    from_fn(|(): &mut ()| ()).with_actions(actions.iter().copied())
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
    let innermost = Flow::builder("innermost").start("x").node("x", does(&["x"])).end("x", "x");
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
            start3(( )) --> n4
            n3["a"]
            subgraph n4["b"]
                start5(( )) --> n5
                n5["x"]
                n5 -->|"x"| end5(((end)))
            end
            n3 -->|"x"| end3(((end)))
            n4 -->|"x"| n3
        end
        n2["last"]
        n0 -->|"x"| n1
        n1 -->|"x"| n2
        n2 -->|"again"| n1
        n2 -->|"done"| end0(((end)))
    "#);
}

/// Whatever stands in a name or a label is text: it neither ends the drawing nor instructs Mermaid.
#[test]
fn names_and_labels_are_escaped() {
    let names = [
        "a \"quoted\" <b>name</b>; #1 & `x` \\",
        "two\nlines\tand a\u{7} bell",
        "%%{init: {\"theme\": \"dark\"}}%%",
        "",
        "end",
        "思考 → é 👩‍🚀 | [x] (y) {z}",
    ];
    let mut builder = Flow::builder("escaped").start(names[0]);
    for (index, name) in names.into_iter().enumerate() {
        builder = builder.node(name, does(&[name]));
        builder = match names.get(index + 1) {
            Some(next) => builder.edge(name, name, *next),
            None => builder.end(name, name),
        };
    }
    assert_snapshot!(builder.build().unwrap().mermaid(), @r##"
    flowchart TD
        start0(( )) --> n0
        n0["a #34;quoted#34; #60;b#62;name#60;/b#62;#59; #35;1 #38; #96;x#96; #92;"]
        n1["two<br/>lines and a  bell"]
        n2["#37;#37;{init: {#34;theme#34;: #34;dark#34;}}#37;#37;"]
        n3[" "]
        n4["end"]
        n5["思考 → é 👩‍🚀 | [x] (y) {z}"]
        n0 -->|"a #34;quoted#34; #60;b#62;name#60;/b#62;#59; #35;1 #38; #96;x#96; #92;"| n1
        n1 -->|"two<br/>lines and a  bell"| n2
        n2 -->|"#37;#37;{init: {#34;theme#34;: #34;dark#34;}}#37;#37;"| n3
        n3 -->|" "| n4
        n4 -->|"end"| n5
        n5 -->|"思考 → é 👩‍🚀 | [x] (y) {z}"| end0(((end)))
    "##);
}
