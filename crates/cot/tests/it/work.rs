//! The time that reading prompts takes: it grows with their length, whatever they say.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

#[path = "../../../text/tests/support/growth.rs"]
mod growth;

use cogwork_cot::Prompts;
use growth::assert_grows_linearly;

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
        (
            "anchors",
            prompts(&format!("[{}]", each(&|n| format!("&a{n} x, ")))),
            "",
        ),
        ("a huge plain text", prompts(&word), ""),
        (
            "steps",
            prompts(&format!(
                "{{problem: a, replies: [{}]}}",
                "{a: b}, ".repeat(n)
            )),
            "",
        ),
        (
            "keys that are not known",
            each(&|n| format!("a{n}: b\n")),
            "",
        ),
        ("names", format!("system: '{}'\n", "{form}".repeat(n)), ""),
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
            assert_eq!(error.starts_with("line "), !reason.is_empty(), "{error}");
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
        @"the text has N bytes; expected at most 1048576"
    );
}
