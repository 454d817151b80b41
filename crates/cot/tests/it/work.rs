//! The time that reading a reply takes: it grows with the length of the reply, whatever it says.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

#[path = "../../../text/tests/support/growth.rs"]
mod growth;

use cogwork_cot::{Prompts, Reasoning, ReplyReader};
use growth::assert_grows_linearly;

/// Texts of about `n` pieces that once took the square of their length.
fn slow_texts(n: usize) -> Vec<(&'static str, String)> {
    let steps = "- description: x\n".repeat(n);
    vec![
        (
            "blank lines before a bracket",
            format!("```yaml\n{}{{", "\n".repeat(n)),
        ),
        (
            "lines of blanks before a bracket",
            format!("```yaml\n{}[", "   \n".repeat(n)),
        ),
        (
            "brackets before keys, and blanks at the end",
            "{c:".repeat(n) + &" ".repeat(n),
        ),
        (
            "commas before keys, and blanks at the end",
            format!(
                "current_thinking: x\nplanning: [{{description: a{}{}",
                ",x:".repeat(n),
                " ".repeat(n)
            ),
        ),
        (
            "lines that begin like keys in an open quote, and blanks at the end",
            format!(
                "{{\"current_thinking\": \"x{}{}",
                "\n\"x\":".repeat(n),
                " ".repeat(n)
            ),
        ),
        (
            "a long word before many lines",
            format!(
                "current_thinking: {}\n{}planning:\n",
                "a".repeat(n),
                "x\n".repeat(n)
            ),
        ),
        (
            "a long word before many lines of a step",
            format!(
                "current_thinking: x\nplanning:\n- {}\n{}",
                "a".repeat(n),
                "  x\n".repeat(n)
            ),
        ),
        (
            "the header of a block scalar that never ends, before many lines",
            format!("current_thinking: |{}\n{}", "-".repeat(n), "x\n".repeat(n)),
        ),
        (
            "a long status given again and again",
            format!(
                "current_thinking: x\nplanning:\n- description: a\n  status: {}\n{}",
                "a".repeat(n),
                "  status:\n".repeat(n)
            ),
        ),
        (
            "a list in brackets that is indented far",
            format!(
                "current_thinking: x\nplanning:\n- description: a\n{}sub_steps: [{}",
                " ".repeat(n),
                "{},".repeat(n)
            ),
        ),
        (
            "a list in brackets that is indented far in a text",
            format!(
                "current_thinking: x\nplanning:\n- description: |\n    x\n{}sub_steps: [{}",
                " ".repeat(n),
                "a,".repeat(n)
            ),
        ),
        (
            "quotes that nothing closes",
            format!(
                "{{\"current_thinking\": \"x\", \"planning\": [{}",
                "\"a\" ".repeat(n)
            ),
        ),
        ("thinking that never ends", "</think>\n".repeat(n)),
        ("fences that close nothing", "```\nplanning: x\n".repeat(n)),
        (
            "blocks that cannot be read",
            "```yaml\ncurrent_thinking: [\n```\n".repeat(n),
        ),
        (
            "documents",
            format!("```yaml\n{}", "---\ncurrent_thinking: x\n".repeat(n)),
        ),
        (
            "equal steps",
            format!("current_thinking: x\nplanning:\n{steps}next_thought_needed: no\n"),
        ),
        (
            "keys that a reply has not",
            format!("current_thinking: x\nplanning:\n{}", "a:\n".repeat(n)),
        ),
    ]
}

#[test]
fn reading_ten_times_the_text_takes_about_ten_times_as_long() {
    let reader = ReplyReader::default().with_max_bytes(usize::MAX);

    for ((what, short), (_, long)) in slow_texts(200).into_iter().zip(slow_texts(2000)) {
        assert_grows_linearly(what, &short, &long, |text| drop(reader.read(text)));
    }
}

#[test]
fn reading_a_saved_state_takes_time_in_proportion_to_it() {
    let state = |n: usize| format!("problem: x\nthoughts:\n{}", "- {a: [b, c]}\n".repeat(n));

    assert_grows_linearly("thoughts", &state(300), &state(3000), |text| {
        assert!(Reasoning::from_yaml(text).is_err());
    });
}

/// The prompts of this crate with something in the place of the example.
fn prompts(example: &str) -> String {
    let english = include_str!("../../prompts/english.yaml");
    let (before, rest) = english.split_once("example:\n").unwrap();
    let (_, after) = rest.split_once("\nproblem:").unwrap();

    format!("{before}example: {example}\nproblem:{after}")
}

/// Prompts of about `n` pieces that the YAML library reads slowly, or that make much of little, each with the
/// reason why it is refused before the library sees it, if it is.
fn slow_prompts(n: usize) -> Vec<(&'static str, String, &'static str)> {
    let each = |piece: &dyn Fn(usize) -> String| (0..n).map(piece).collect::<String>();
    let word = "x".repeat(n);
    let too_deep = "the nesting is too deep";

    vec![
        ("brackets", prompts(&"[".repeat(n)), too_deep),
        ("braces", prompts(&"{a: ".repeat(n)), too_deep),
        ("dashes", "- ".repeat(n), too_deep),
        (
            "explicit keys",
            prompts(&"\n? ".repeat(n)),
            "keys after a `?`",
        ),
        (
            "anchors",
            prompts(&format!("[{}]", each(&|n| format!("&a{n} x, ")))),
            "anchors (`&name`)",
        ),
        (
            "aliases",
            prompts(&format!("[&a {word}, {}]", "*a, ".repeat(n))),
            "anchors (`&name`)",
        ),
        ("tags", "!a ".repeat(n), "tags (`!name`)"),
        (
            "directives",
            "%TAG !a! x\n".repeat(n),
            "directives (`%NAME`)",
        ),
        (
            "documents",
            "--- a\n".repeat(n),
            "more than one YAML document",
        ),
        ("a huge plain text", prompts(&word), ""),
        ("a huge text in quotes", prompts(&format!("'{word}'")), ""),
        ("an open quote", prompts(&"\"a\n".repeat(n)), ""),
        (
            "steps",
            prompts(&format!(
                "{{problem: a, replies: [{}]}}",
                "{a: b}, ".repeat(n)
            )),
            "",
        ),
        ("lines", prompts(&"  a\n".repeat(n)), ""),
        (
            "keys that are not known",
            each(&|n| format!("a{n}: b\n")),
            "",
        ),
        ("a key again and again", "system: a\n".repeat(n), ""),
        ("names", format!("system: '{}'\n", "{form}".repeat(n)), ""),
        ("open braces", format!("system: '{}'\n", "{a".repeat(n)), ""),
        ("comments", "# a\n".repeat(n), ""),
    ]
}

#[test]
fn reading_ten_times_the_prompts_takes_about_ten_times_as_long() {
    for ((what, short, reason), (_, long, _)) in
        slow_prompts(600).into_iter().zip(slow_prompts(6000))
    {
        assert_grows_linearly(what, &short, &long, |text| {
            let error = Prompts::from_yaml(text).unwrap_err().to_string();
            assert!(error.contains(reason), "{what}: {error}");
            assert_eq!(error.contains(": line "), !reason.is_empty(), "{error}");
        });
    }
}

#[test]
fn prompts_may_have_comments_and_are_not_longer_than_a_mebibyte() {
    let english = include_str!("../../prompts/english.yaml");
    let commented = english.replace("example:\n", "example: # of a thought\n  # or two\n");
    assert_ne!(commented, english);
    assert_eq!(Prompts::from_yaml(&commented).unwrap(), Prompts::english());

    let long = english.to_owned() + "#".repeat(1 << 20).as_str();
    insta::assert_snapshot!(
        Prompts::from_yaml(&long).unwrap_err().to_string().replace(&long.len().to_string(), "N"),
        @"prompts: the text has N bytes; expected at most 1048576"
    );
}
