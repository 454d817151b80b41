//! The text of a key while the reply arrives.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use crate::time::growth::assert_grows_linearly;
use cogwork_typed::ask::GrowingText;
use proptest::prelude::*;

/// Returns the text after each piece.
fn grow(pieces: &[&str]) -> Vec<String> {
    let mut growing = GrowingText::new("current_thinking");

    pieces
        .iter()
        .map(|piece| {
            growing.push(piece);
            growing.text().to_owned()
        })
        .collect()
}

fn whole(reply: &str) -> String {
    grow(&[reply]).pop().unwrap()
}

#[test]
fn every_form_of_a_text_is_decoded() {
    let cases = [
        ("current_thinking: plain: text\nplanning: []", "plain: text"),
        (
            "current_thinking: folded\n  text\n\n  more\nplanning:",
            "folded text\nmore",
        ),
        ("current_thinking: text # comment\nplanning:", "text"),
        (
            "current_thinking: '''quoted'' text\n  folded'\n",
            "'quoted' text folded",
        ),
        (
            "current_thinking: \"a\\tb\\x41 \\u00e9\\U0001F600 c\\\n  d\n\n  e \" # comment",
            "a\tbA é😀 cd\ne ",
        ),
        (
            "current_thinking: |\n  one\n   two\n\n  three\nplanning:",
            "one\n two\n\nthree",
        ),
        (
            "current_thinking: |2-\n   one\n  two\nplanning:",
            " one\ntwo",
        ),
        (
            "current_thinking: >\n  one\n  two\n\n  three\n   four\n  five\nx:",
            "one two\nthree\n four\nfive",
        ),
        ("current_thinking: # comment\n  text\nplanning:", "text"),
        ("current_thinking:\n  \"text\"\nplanning:", "text"),
        ("current_thinking: -1 is negative\n", "-1 is negative"),
        (
            "{\"current_thinking\": \"a \\\"b\\\" \\ud83d\\ude00\\n\", \"planning\": []}",
            "a \"b\" 😀\n",
        ),
        (
            "{\"next_thought_needed\":true,\"current_thinking\":\"a, {b}\"}",
            "a, {b}",
        ),
        ("{current_thinking: plain, planning: []}", "plain"),
        (
            "Text first.\r\n```yaml\r\ncurrent_thinking: |\r\n  one\r\n  two\r\n```",
            "one\ntwo",
        ),
        ("**Current Thinking:** bold\n", "bold"),
        (
            "<think>\ncurrent_thinking: no\n</think>\ncurrent_thinking: yes",
            "yes",
        ),
        ("no tag</think>\ncurrent_thinking: yes", "yes"),
        ("<thin\ncurrent_thinking: yes", "yes"),
        ("```python\ncurrent_thinking: no\n```\n", ""),
        ("```current_thinking: glued\n```", "glued"),
        (
            "```yaml\ncurrent_thinking: one\n```\nNo:\n```yaml\ncurrent_thinking: two\n```",
            "two",
        ),
        ("current_thinking: one\n---\ncurrent_thinking: two\n", "two"),
        (
            "current_thinking: |\n  ```yaml\n  current_thinking: code\n  ```\nx:",
            "```yaml\ncurrent_thinking: code\n```",
        ),
    ];

    for (reply, expected) in cases {
        assert_eq!(whole(reply), expected, "{reply:?}");
    }
}

#[test]
fn a_text_in_lines_goes_on_until_another_key() {
    let cases = [
        (
            "thought: one\ntwo\n\n  three  \nfour\naction: x\nthought: y",
            "one\ntwo\n\n  three  \nfour",
        ),
        ("**Thought:** one: two\n**Action:** x", "one: two"),
        ("```\nthought: one  \ntwo\n```", "one\ntwo"),
        (
            "thought: one\nNote: two\n- three\n`four`\nfinal answer: x",
            "one\nNote: two\n- three\n`four`",
        ),
        ("<think>thought: no</think>thought:\n  one", "one"),
        (
            "{\"thought\": \"one\\ntwo\", \"action\": \"x\"}",
            "one\ntwo",
        ),
        ("action: x", ""),
    ];

    for (reply, expected) in cases {
        let mut growing = GrowingText::in_lines("thought", ["action", "final_answer"]);
        for character in reply.chars() {
            growing.push(character.encode_utf8(&mut [0; 4]));
        }
        assert_eq!(growing.text(), expected, "{reply:?}");
    }
}

#[test]
fn a_reply_without_keys_is_the_text() {
    let mut growing = GrowingText::of_reply();
    growing.push("<think>a: b</think>\n\n one: \n two\n");
    assert_eq!(growing.text(), "one: \n two");

    growing.reset();
    growing.push("three");
    assert_eq!(growing.text(), "three");
}

#[test]
fn values_that_are_no_text_are_skipped() {
    for value in ["[a, b]", "{a: b}", "\nplanning: x", "\n- a\n- b", "- a"] {
        assert_eq!(
            whole(&format!("current_thinking: {value}")),
            "",
            "{value:?}"
        );
    }
}

#[test]
fn incomplete_escapes_are_replaced_once_they_end() {
    let cases = [
        (r#"current_thinking: "a\ud83d b""#, "a\u{fffd} b"),
        (r#"current_thinking: "a\ud83d\n""#, "a\u{fffd}\n"),
        (r#"current_thinking: "a\ud83d\u0041""#, "a\u{fffd}A"),
        (r#"current_thinking: "a\uzz""#, "a\u{fffd}zz"),
        (r#"current_thinking: "a\qz""#, "a\\qz"),
        (r#"current_thinking: "a\ude00""#, "a\u{fffd}"),
    ];

    for (reply, expected) in cases {
        assert_eq!(whole(reply), expected, "{reply:?}");
    }
}

#[test]
fn the_end_corrects_a_guess() {
    let mut growing = GrowingText::new("thought");
    growing.push("thought: |\n  one\n");
    assert_eq!(growing.finish("one\n").unwrap().added(), "\n");
    assert!(growing.finish("one\n").is_none());

    let growth = growing.finish("two").unwrap();
    assert!(growth.is_start());
    assert_eq!(growth.added(), "two");
}

#[test]
fn a_text_of_another_reply_starts_again() {
    let mut growing = GrowingText::new("thought");
    growing.push("thought: one");
    growing.reset();
    assert_eq!(growing.text(), "");

    assert!(growing.push("thought").is_none());
    let growth = growing.push(": two").unwrap();
    assert!(growth.is_start());
    assert_eq!((growth.text(), growth.added()), ("two", "two"));
}

#[test]
fn a_text_stops_growing_at_its_limit() {
    let mut growing = GrowingText::new("thought");
    growing.push("thought: ");
    for _ in 0..3 {
        growing.push(&"é".repeat(GrowingText::MAX_BYTES / 4));
    }

    assert_eq!(growing.text().len(), GrowingText::MAX_BYTES);
}

#[test]
fn the_time_is_linear() {
    let texts = [
        ("blank lines", "current_thinking: |\n  a\n", "\n"),
        ("blanks", "current_thinking: a", " "),
        ("fences", "", "```\n"),
        ("opening tags", "<think>", "</thin"),
        ("names", "", "current_thinking "),
        ("keys", "", "current_thinking:\n"),
        ("escapes", "current_thinking: \"", "\\ud83d"),
        ("brackets", "", "{\""),
    ];

    for (what, beginning, part) in texts {
        let text = |parts| format!("{beginning}{}", part.repeat(parts));
        assert_grows_linearly(what, &text(10_000), &text(100_000), |text| {
            GrowingText::in_lines("current_thinking", ["a"]).push(text);
        });
        assert_grows_linearly(what, &text(10_000), &text(100_000), |text| {
            whole(text);
        });
    }
}

/// Pieces of replies, which make most states of the reader reachable.
fn hostile() -> impl Strategy<Value = String> {
    let parts = prop::sample::select(vec![
        "current_thinking",
        ":",
        " ",
        "\n",
        "\r",
        "\"",
        "'",
        "\\",
        "\\u",
        "d83d",
        "|",
        ">",
        "-",
        "2",
        "```",
        "~~~",
        "yaml",
        "---",
        "{",
        "}",
        "[",
        ",",
        "#",
        "<think>",
        "</think>",
        "<thi",
        "a",
        "é",
        "思",
        "😀",
        "\t",
        "\u{feff}",
        "*",
        "：",
        "  ",
        "\n\n",
    ]);

    prop::collection::vec(parts, 0..60).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn a_text_does_not_depend_on_the_pieces(reply in hostile(), sizes in prop::collection::vec(1..4_usize, 1..20)) {
        let characters: Vec<char> = reply.chars().collect();
        let mut growing = GrowingText::new("current_thinking");
        let mut shown = String::new();
        let mut rest = characters.as_slice();

        for size in sizes.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, after) = rest.split_at((*size).min(rest.len()));
            rest = after;

            if let Some(growth) = growing.push(&piece.iter().collect::<String>()) {
                if growth.is_start() {
                    shown.clear();
                }
                shown.push_str(growth.added());
                prop_assert_eq!(&shown, growth.text());
            }
        }

        prop_assert_eq!(growing.text(), shown);
        prop_assert_eq!(growing.text(), whole(&reply));
    }
}
