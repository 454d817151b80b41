//! Reading the raw text of replies, and the errors for unreadable ones.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "the helpers of tests may, as the tests do"
)]

use cogwork_cot::{Reply, ReplyProblem, ReplyProblemKind, ReplyReader};

const MAX: usize = 64 * 1024;

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
    Reply::read(text, MAX)
}

fn problem(text: &str) -> ReplyProblem {
    read(text).expect_err(text)
}

fn fenced(body: &str) -> String {
    format!("```yaml\n{body}```")
}

#[test]
fn a_reply_is_not_used_after_a_second_block_has_taken_it_back() {
    let retracted = fenced(BODY);
    let broken = fenced("current_thinking: No, wait.\nplanning: none\nnext_thought_needed: true\n");
    assert_eq!(
        problem(&format!("{retracted}\n{broken}")).to_string(),
        r#"line 2: the reply isn't as it was asked for (used this value, since a later one can't be used: line 13, `/planning`: found the text "none"; expected a list of objects with description, status, result, mark, sub_steps)"#
    );
    let begun = "```yaml\ncurrent_thinking: No, wait.";

    assert_eq!(
        problem(&format!("{retracted}\n{begun}")).kind(),
        ReplyProblemKind::Invalid
    );
}

#[test]
fn texts_stay_as_they_are_written() {
    let plan = "\
current_thinking: '0123'
planning:
  - {description: 2024-01-31, status: Done, result: 65.50}
  - {description: 0x10, status: Verification Needed, mark: 1_000}
  - {description: \"yes\", status: Done, result: true, mark: ~}
  - {description: 1e3, status: Done, result: \"\"}
next_thought_needed: false
";

    let reply = read(plan).unwrap();
    let texts: Vec<_> = reply
        .planning
        .steps()
        .iter()
        .map(|step| {
            (
                step.description.as_str(),
                step.result.as_deref(),
                step.mark.as_deref(),
            )
        })
        .collect();

    assert_eq!(
        texts,
        [
            ("2024-01-31", Some("65.50"), None),
            ("0x10", None, Some("1_000")),
            ("yes", Some("true"), None),
            ("1e3", Some(""), None),
        ]
    );

    assert_eq!(reply.current_thinking, "0123");
}

#[test]
fn limits_are_settings() {
    let reply = |steps: usize| {
        let steps = "- description: a\n  status: done\n  result: b\n".repeat(steps);
        format!("current_thinking: x\nplanning:\n{steps}next_thought_needed: no\n")
    };

    let reader = ReplyReader::default().with_max_steps(5);
    assert!(reader.read(&reply(5)).is_ok());
    let problem = reader.read(&reply(6)).unwrap_err();
    assert_eq!(
        problem.to_string(),
        "the block has more steps than are read; expected a shorter plan"
    );

    let text = reply(1);
    let reader = ReplyReader::default();
    assert!(reader.with_max_bytes(text.len()).read(&text).is_ok());
    let problem = reader.with_max_bytes(text.len() - 1).read(&text);
    assert_eq!(problem.unwrap_err().kind(), ReplyProblemKind::TooLong);
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
