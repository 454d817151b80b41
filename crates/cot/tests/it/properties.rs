//! Properties of all replies, however odd. `PROPTEST_CASES` sets the number of cases.

use cogwork_cot::Reply;
use cogwork_plan::{Plan, Status, Step};
use proptest::prelude::*;

/// Texts that YAML, JSON and the repairs could stumble over.
fn odd_text() -> impl Strategy<Value = String> {
    let signs = [
        "\n", " ", "\t", "\r\n", "\0", "\u{feff}", "```", "---", "- ", ": ", "#", " #", "// ",
        "&a", "*a", "|", "'", "\"", "“", "\\", "[", "{", ",", "~", "null", "true", "65.50",
        "<think>", "</think>", "思考", "😀", "word", "it's",
    ];
    let keys = [
        "```yaml\n",
        "planning:",
        "current_thinking: ",
        "next_thought_needed: no",
        "- description: ",
        "status: Done",
        "sub_steps: |",
    ];
    let pieces = [&signs[..], &keys].concat();

    let piece = prop_oneof![5 => prop::sample::select(pieces).prop_map(str::to_owned), 1 => any::<String>()];
    prop::collection::vec(piece, 0..8)
        .prop_map(|pieces| pieces.concat())
        .prop_filter("refused with its place", |text| is_read(text))
}

/// Replies are refused if a fence directly follows a literal, or if a text has separators that YAML folds.
fn is_read(text: &str) -> bool {
    let is_glued = ["null```", "true```"].iter().any(|end| text.contains(end));
    !is_glued && !text.contains(['\u{2028}', '\u{2029}'])
}

fn plan() -> impl Strategy<Value = Plan> {
    use Status::{Done, Pending, VerificationNeeded};
    let status = prop::sample::select(vec![Pending, Done, VerificationNeeded]);
    let text = || prop::option::of(odd_text());
    let parts = (odd_text(), status, text(), text());
    let leaf = parts.prop_map(|(description, status, result, mark)| Step {
        description,
        status,
        result,
        mark,
        sub_steps: Vec::new(),
    });
    let leaf = leaf.boxed();
    let step = leaf.clone().prop_recursive(4, 20, 3, move |inner| {
        (leaf.clone(), prop::collection::vec(inner, 0..3))
            .prop_map(|(step, sub_steps)| step.with_sub_steps(sub_steps))
    });
    prop::collection::vec(step, 1..4).prop_map(Plan::from)
}

fn reply() -> impl Strategy<Value = Reply> {
    let thinking = odd_text().prop_filter("blank", |text| !text.trim().is_empty());
    (thinking, plan(), any::<bool>()).prop_map(
        |(current_thinking, planning, next_thought_needed)| Reply {
            current_thinking,
            planning,
            next_thought_needed,
        },
    )
}

/// A value or an error of one line, with a place in the text; and what was read needs no repair any more.
fn check(text: &str) -> Result<(), TestCaseError> {
    match Reply::read(text) {
        Ok(read) => {
            let lines = text.split('\n').count();
            for repair in &read.repairs {
                let has_place = (1..=lines).contains(&repair.line);
                prop_assert!(has_place, "{repair} of {lines} in {text:?}");
                let is_unsafe = repair.to_string().chars().any(char::is_control);
                prop_assert!(!is_unsafe, "{repair:?}");
            }

            let written = read.reply.to_string();
            let again = Reply::read(&written);
            let again = again.map(|again| (again.reply, again.repairs));
            prop_assert_eq!(again, Ok((read.reply, Vec::new())), "{}", written);
        }
        Err(problem) => {
            prop_assert!(!problem.to_string().chars().any(char::is_control));
            let lines = text.split('\n').count();
            prop_assert!(problem.line() <= lines, "{} in {:?}", problem, text);
        }
    }

    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_reply_written_is_read_as_it_was_without_a_repair(reply in reply()) {
        let read = Reply::read(&reply.to_string());
        prop_assert_eq!(read.map(|read| (read.reply, read.repairs)), Ok((reply, Vec::new())));
    }

    #[test]
    fn any_text_is_a_value_or_an_error(text in odd_text(), before in odd_text(), after in odd_text()) {
        check(&format!("{before}\ncurrent_thinking: {text}\nplanning:\n{after}\nnext_thought_needed: no\n"))?;
        check(&format!("```yaml\n{text}\n{before}{after}"))?;
    }
}
