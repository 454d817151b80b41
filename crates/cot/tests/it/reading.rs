//! Reading the raw text of replies, and the errors for unreadable ones.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "the helpers of tests may, as the tests do"
)]

use cogwork_cot::Reply;

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

fn fenced(body: &str) -> String {
    format!("```yaml\n{body}```")
}

#[test]
fn every_complaint_says_what_is_wrong_where_and_what_is_accepted() {
    let planned = |plan: &str| {
        let begin = "current_thinking: x\nplanning:";
        fenced(&format!("{begin} {plan}\nnext_thought_needed: true\n"))
    };
    let with = |from: &str, to: &str| fenced(&BODY.replace(from, to));
    let thinking = |text: &str| with("Right so far.", text);
    let taken_back = with("Right so far.\nplanning:", "No, wait.\nplanning: none\nx:");
    let unthought = planned("[{description: a, status: Done}]");

    let mut all = String::new();
    for (name, text) in [
        ("nothing", String::new()),
        (
            "a reply that a second block takes back",
            format!("{}\n{taken_back}", fenced(BODY)),
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
        (
            "no current_thinking",
            unthought.replace("current_thinking: x\n", ""),
        ),
        ("no thinking", thinking("''")),
        ("a plan as text", planned("add, then conclude")),
        ("an empty plan", planned("[]")),
        ("brackets left open", thinking("[Right")),
        ("a tag", thinking("!Right")),
        ("deep nesting", thinking(&"[".repeat(100))),
    ] {
        let problem = Reply::read(&text).expect_err(name);
        let line = problem.to_string();
        assert!(line.chars().count() < 400, "{name}: {line}");
        assert!(!line.contains(char::is_control), "{name}");
        all += &format!("## {name} ({:?})\n{line}\n\n", problem.kind());
    }

    insta::assert_snapshot!("complaints", all);
}
