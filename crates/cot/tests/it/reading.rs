//! Reading the raw text of replies, and the errors for unreadable ones.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "the helpers of tests may, as the tests do"
)]

use cogwork_cot::{Reading, Reply, ReplyProblem, ReplyReader};

const MAX: usize = 256 * 1024;

const BODY: &str = "\
current_thinking: Right so far.
planning:
  - description: Add
    status: Done
    result: 65.50
  - description: Conclude
    status: Pending
next_thought_needed: true
";

fn read(text: &str) -> Result<Reply, ReplyProblem> {
    let reader = ReplyReader::default().with_reading(Reading::Strict);
    reader.read(text).map(|read| read.reply)
}

fn fenced(body: &str) -> String {
    format!("```yaml\n{body}```")
}

/// Every complaint, whole, with its excerpt.
#[test]
fn every_complaint_says_what_is_wrong_where_and_what_is_accepted() {
    let step = |rest: &str| {
        fenced(&format!(
            "current_thinking: x\nplanning:\n  - description: a\n    status: Done\n{rest}next_thought_needed: true\n"
        ))
    };

    let without = |key: &str| {
        let kept: String = fenced(
            "current_thinking: x\nplanning: [{description: a, status: Done}]\nnext_thought_needed: true\n",
        )
        .split_inclusive('\n')
        .filter(|line| !line.starts_with(key))
        .collect();
        kept
    };

    let with = |from: &str, to: &str| fenced(&BODY.replace(from, to));
    let long = "x".repeat(500);
    let cases = [
        ("nothing", String::new()),
        (
            "a reply that a second block takes back",
            fenced(BODY)
                + "\n"
                + &with("Right so far.\nplanning:", "No, wait.\nplanning: none\nx:"),
        ),
        (
            "a reply before one that was cut off",
            fenced(BODY) + "\n```yaml\ncurrent_thinking: No, wait.",
        ),
        ("too long", "x".repeat(MAX + 1)),
        (
            "prose",
            "I am sorry, but I cannot help: it is too hard.\nThe planning: none.".to_owned(),
        ),
        ("no current_thinking", without("current_thinking")),
        (
            "a part twice",
            with("planning:", "current_thinking: y\nplanning:"),
        ),
        ("no thinking", with("Right so far.", "''")),
        (
            "needed in quotes",
            with("needed: true", "needed: \"false\""),
        ),
        (
            "a plan as text",
            fenced(
                "current_thinking: x\nplanning: add, then conclude\nnext_thought_needed: true\n",
            ),
        ),
        (
            "an empty plan",
            fenced("current_thinking: x\nplanning: []\nnext_thought_needed: true\n"),
        ),
        ("an unknown status", with("Pending", "In Progress")),
        ("no status", with("    status: Pending\n", "")),
        ("a result as a mapping", step("    result: {a: b}\n")),
        (
            "a colon in a text",
            with("Right so far.", "Evaluation: right"),
        ),
        ("brackets left open", with("Right so far.", "[Right")),
        ("a tag", with("Right so far.", "!Right")),
        ("two documents", with("planning:", "---\nplanning:")),
        (
            "a comment after a text",
            with(
                "Right so far.",
                "Evaluation of thought #1: wrong, 3 was meant",
            ),
        ),
        ("deep nesting", with("Right so far.", &"[".repeat(100))),
        (
            "a long line",
            with("result: 65.50", &format!("result: \"{long}\", 思{long}")),
        ),
    ];

    let mut all = String::new();
    for (name, text) in cases {
        let Err(problem) = read(&text) else {
            all.push_str(&format!("## {name}: read\n\n"));
            continue;
        };
        let line = problem.to_string();
        assert!(
            !line.contains('\n') && line.chars().count() < 400,
            "{name}: {line}"
        );
        assert!(
            !format!("{problem:#}")
                .chars()
                .any(|c| c.is_control() && c != '\n'),
            "{name}"
        );

        all.push_str(&format!(
            "## {name} ({:?})\n{problem:#}\n\n",
            problem.kind()
        ));
    }

    insta::assert_snapshot!("complaints", all);
}
