//! The time that reading a file takes: it grows with the length of the file, whatever it says.

#[path = "../../../text/tests/support/growth.rs"]
mod growth;

use cogwork_agents::{Loader, Template};
use growth::assert_grows_linearly;

fn each(n: usize, piece: impl Fn(usize) -> String) -> String {
    (0..n).map(piece).collect()
}

/// Files of about `n` pieces that would take the square of their length if each piece were compared with all.
fn slow_files(n: usize) -> Vec<(&'static str, String)> {
    // With its number for each `#`.
    let each = |piece: &str| each(n, |number| piece.replace('#', &number.to_string()));
    let node = |id: &str, prompt: &str| {
        let config = format!("{{provider: scripted, replies: [x], prompt: '{prompt}'}}");
        format!("- {{id: {id}, type: agent, config: {config}}}\n")
    };
    let nodes = |id: &str, prompt: &str| format!("nodes:\n{}", each(&node(id, prompt)));
    let edges = |id: &str, edge: &str| {
        format!(
            "{}edges:\n{}",
            nodes(id, "{last}"),
            each(&format!("- {{{edge}}}\n"))
        )
    };

    let chain: String = (0..n)
        .map(|number| format!("- {{from: a{number}, to: a{}}}\n", number + 1))
        .collect();
    let whole = format!(
        "{}edges:\n{chain}- {{from: a{n}, to: end}}\n",
        nodes("a#", "{last}")
    );
    let long_id = "a".repeat(50);
    let long_key = format!("? {}\n:", "k".repeat(10 * n));
    vec![
        ("nodes and edges that are whole", whole),
        ("nodes with one id", nodes("a", "x")),
        (
            "ids that are long and nearly the same",
            edges(
                &format!("{long_id}#"),
                &format!("from: {long_id}b#, to: end"),
            ),
        ),
        ("edges between no nodes", edges("a#", "from: x#, to: y#")),
        ("an edge again and again", edges("a#", "from: a0, to: end")),
        (
            "edges on actions that are not there",
            edges("a#", "from: a#, action: b#, to: end"),
        ),
        ("nodes that nothing leads to", nodes("a#", "x")),
        ("slots", nodes("a#", "x") + &node("b", &"{a1}".repeat(n))),
        ("slots that no node fills", nodes("a#", "{b#}")),
        (
            "keys that are not known",
            format!(
                "nodes:\n- id: a\n  type: agent\n  config:\n{}",
                each("    rol#: x\n")
            ),
        ),
        (
            "a key again and again under a long one",
            format!("{long_key}\n{}", each("  a: 1\n")),
        ),
        (
            "variables that are not set under a long key",
            format!("{long_key} [{}]", each("'${NOT_SET}', ")),
        ),
        ("dollars", format!("name: '{}'", each("${a"))),
        (
            "anchors within one another",
            self::each(30, |n| format!("&a{n} [")) + "x" + &each(", x"),
        ),
        ("aliases", format!("a: &a [x, y]\nb: [{}*a]", each("*a, "))),
        ("brackets", each("[")),
        ("line feeds", each("\n") + "{"),
        ("lines of blanks", format!("a: |\n{}", each("   \n"))),
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
