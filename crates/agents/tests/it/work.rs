//! The time that reading a file takes: it grows with the length of the file, whatever it says.

#![allow(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

#[path = "../../../text/tests/support/growth.rs"]
mod growth;

use cogwork_agents::{Loader, Template};
use growth::assert_grows_linearly;

fn each(n: usize, piece: impl Fn(usize) -> String) -> String {
    (0..n).map(piece).collect()
}

/// A node that can be made.
fn node(id: &str, prompt: &str) -> String {
    format!(
        "- {{id: {id}, type: agent, config: {{provider: scripted, replies: [x], prompt: '{prompt}'}}}}\n"
    )
}

/// Files of about `n` pieces that would take the square of their length if each piece were compared with all.
fn slow_files(n: usize) -> Vec<(&'static str, String)> {
    let nodes = |prompt: &str| format!("nodes:\n{}", each(n, |n| node(&format!("a{n}"), prompt)));
    let edges = |edge: &dyn Fn(usize) -> String| format!("edges:\n{}", each(n, edge));
    let chain = edges(&|n| format!("- {{from: a{n}, to: a{}}}\n", n + 1));
    let long = "k".repeat(10 * n);

    vec![
        (
            "nodes and edges that are whole",
            format!("{}{}- {{from: a{n}, to: end}}\n", nodes("{last}"), chain),
        ),
        (
            "nodes with one id",
            format!("nodes:\n{}", each(n, |_| node("a", "x"))),
        ),
        (
            "ids that are long and nearly the same",
            format!(
                "nodes:\n{}{}",
                each(n, |n| node(&format!("{}{n}", "a".repeat(50)), "x")),
                edges(&|n| format!("- {{from: {}b{n}, to: end}}\n", "a".repeat(50)))
            ),
        ),
        (
            "edges between no nodes",
            format!(
                "{}{}",
                nodes("x"),
                edges(&|n| format!("- {{from: x{n}, to: y{n}}}\n"))
            ),
        ),
        (
            "an edge again and again",
            format!(
                "{}{}",
                nodes("x"),
                edges(&|_| "- {from: a0, to: end}\n".to_owned())
            ),
        ),
        (
            "edges on actions that are not there",
            format!(
                "{}{}",
                nodes("x"),
                edges(&|n| format!("- {{from: a{n}, action: b{n}, to: end}}\n"))
            ),
        ),
        ("nodes that nothing leads to", nodes("x")),
        (
            "slots",
            format!(
                "nodes:\n{}{}",
                each(n, |n| node(&format!("a{n}"), "x")),
                node("b", &"{a1}".repeat(n))
            ),
        ),
        (
            "slots that no node fills",
            format!(
                "nodes:\n{}",
                each(n, |n| node(&format!("a{n}"), &format!("{{b{n}}}")))
            ),
        ),
        (
            "keys that are not known",
            format!(
                "nodes:\n- id: a\n  type: agent\n  config:\n{}",
                each(n, |n| format!("    rol{n}: x\n"))
            ),
        ),
        (
            "a key again and again under a long one",
            format!("? {long}\n:\n{}", "  a: 1\n".repeat(n)),
        ),
        (
            "variables that are not set under a long key",
            format!("? {long}\n: [{}]", "'${NOT_SET}', ".repeat(n)),
        ),
        ("dollars", format!("name: '{}'", "${a".repeat(n))),
        (
            "anchors within one another",
            format!("{}x{}", each(30, |n| format!("&a{n} [")), ", x".repeat(n)),
        ),
        (
            "aliases",
            format!("a: &a [x, y]\nb: [{}*a]", "*a, ".repeat(n)),
        ),
        ("brackets", "[".repeat(n)),
        ("line feeds", format!("{}{{", "\n".repeat(n))),
        ("lines of blanks", format!("a: |\n{}", "   \n".repeat(n))),
    ]
}

#[test]
fn reading_ten_times_the_file_takes_about_ten_times_as_long() {
    let loader = Loader::new();

    // The schema is made when it is first asked for.
    let _ = loader.load_text("flow.yaml", "nodes: []");
    let read = |text: &str| drop(loader.load_text("flow.yaml", text));

    for ((what, short), (_, long)) in slow_files(50).into_iter().zip(slow_files(500)) {
        assert_grows_linearly(what, &short, &long, read);
    }
}

#[test]
fn reading_ten_times_the_template_takes_about_ten_times_as_long() {
    for piece in ["{a}", "{", "{{", "}}", "a{b}", "{a"] {
        let [short, long] = [1_000, 10_000].map(|n| piece.repeat(n));
        assert_grows_linearly(piece, &short, &long, |text| drop(Template::new(text)));
    }
}

#[test]
fn the_variables_of_all_files_of_a_flow_are_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let part = |first: usize, count: usize| {
        let variables = each(count, |n| format!("${{X{}}}", first + n));
        format!(
            "nodes: [{{id: a, type: agent, config: {{provider: rules, rules: [], else: \"{variables}\"}}}}]"
        )
    };
    let load = |parts: [String; 2]| {
        for (number, part) in parts.iter().enumerate() {
            std::fs::write(folder.path().join(format!("{number}.yaml")), part).unwrap();
        }

        let nodes = each(2, |n| {
            format!("- {{id: s{n}, type: subflow, config: {{file: {n}.yaml}}}}\n")
        });
        let flow = format!("nodes:\n{nodes}edges: [{{from: s0, to: s1}}]\n");
        let path = folder.path().join("flow.yaml");
        std::fs::write(&path, flow).unwrap();

        Loader::new().without_clients().load(path)
    };

    load([part(0, 200), part(144, 112)]).expect("256 variables, some of them twice");
    let error = load([part(0, 200), part(144, 113)])
        .unwrap_err()
        .to_string();

    assert!(
        error.contains("1.yaml:1:73: nodes[0].config.else: the flow, with all its files, has more than 256 different variables; expected fewer"),
        "{error}"
    );
}
