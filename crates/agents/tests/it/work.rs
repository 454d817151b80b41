//! The work that reading a file takes, counted: it grows with the length of the file, whatever it says.

#![allow(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use cogwork_agents::{Loader, Template};
use cogwork_read::measure;
use cogwork_read::testing::{assert_at_most_doubled, assert_linear};

fn each(n: usize, piece: impl Fn(usize) -> String) -> String {
    (0..n).map(piece).collect()
}

/// A node that can be made.
fn node(id: &str, prompt: &str) -> String {
    format!(
        "- {{id: {id}, type: agent, config: {{provider: scripted, replies: [x], prompt: '{prompt}'}}}}\n"
    )
}

/// Files of about `n` pieces that once took the square of their length, or would if a limit were missing.
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
fn reading_twice_the_file_takes_twice_the_work() {
    let loader = Loader::new();

    // The schema is made when it is first asked for.
    let _ = loader.load_text("flow.yaml", "nodes: []");
    let read = |text: &str| drop(loader.load_text("flow.yaml", text));

    for ((what, short), (_, long)) in slow_files(150).into_iter().zip(slow_files(300)) {
        assert_linear(what, &short, &long, read);
    }
}

#[test]
fn reading_twice_the_template_takes_twice_the_work() {
    for piece in ["{a}", "{", "{{", "}}", "a{b}", "{a"] {
        let work = |n: usize| measure(|| Template::new(&piece.repeat(n)).is_ok()).1;
        assert_at_most_doubled(piece, work(1000), work(2000));
    }
}

/// The work of loading a subflow with `n` different variables, and subflows with unknown keys. Each
/// of those is a message, in which every value is searched for.
fn work_of_hiding(n: usize) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let variables = each(n, |n| format!("${{X{n}}}"));
    let unknown = each(20, |n| format!("    rol{n}: x\n"));
    let files = ["variables", "unknown", "unknown", "unknown"];
    let nodes = files
        .iter()
        .enumerate()
        .map(|(n, file)| format!("- {{id: s{n}, type: subflow, config: {{file: {file}.yaml}}}}\n"));

    write(
        "flow.yaml",
        &format!("nodes:\n{}", nodes.collect::<String>()),
    );
    write(
        "variables.yaml",
        &format!("nodes:\n- id: a\n  type: agent\n  config: {{role: \"{variables}\"}}\n"),
    );
    write(
        "unknown.yaml",
        &format!("nodes:\n- id: a\n  type: agent\n  config:\n{unknown}"),
    );

    let loader = Loader::new().without_clients();
    let _ = loader.load_text("flow.yaml", "nodes: []");
    let (loaded, work) = measure(|| loader.load(folder.path().join("flow.yaml")));
    let problems = loaded.unwrap_err();

    assert!(problems.problems().len() > 20, "{problems}");
    work
}

#[test]
fn hiding_values_takes_no_more_work_for_more_variables_than_are_allowed() {
    assert_at_most_doubled("variables", work_of_hiding(256), work_of_hiding(10_000));
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
