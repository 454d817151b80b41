//! The text of a thought while its reply arrives, compared with the text that is read in the end.

#![allow(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::fs;
use std::path::Path;

use cogwork_cot::{Plan, Read, Reading, Reply, ReplyReader, Step};
use cogwork_typed::{AnswerReader, GrowingText};
use proptest::prelude::*;

/// Every recorded reply of a real model, and every reply that was made by hand.
fn recorded() -> Vec<(String, String)> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");

    ["real", "replies"]
        .into_iter()
        .flat_map(|folder| fs::read_dir(fixtures.join(folder)).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .map(|path| {
            (
                path.display().to_string(),
                fs::read_to_string(&path).unwrap(),
            )
        })
        .collect()
}

fn growing() -> GrowingText<Reply> {
    let reader = AnswerReader::new();
    GrowingText::new(reader, "current_thinking")
}

/// The text after each piece, and how often it was replaced.
struct Grown {
    texts: Vec<String>,
    starts: usize,
}

impl Grown {
    fn of<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Self {
        let mut growing = growing();
        let mut text = String::new();
        let mut grown = Self {
            texts: Vec::new(),
            starts: 0,
        };

        for piece in pieces {
            if let Some(growth) = growing.push(piece) {
                if growth.is_start() {
                    grown.starts += 1;
                    text.clear();
                }
                text.push_str(growth.added());
            }
            grown.texts.push(text.clone());
        }

        grown
    }

    fn last(&self) -> &str {
        self.texts.last().map_or("", String::as_str)
    }
}

fn read(text: &str, reading: Reading) -> Option<Read> {
    ReplyReader::default().with_reading(reading).read(text).ok()
}

fn pieces(text: &str, length: usize) -> Vec<&str> {
    let mut rest = text;
    let mut pieces = Vec::new();

    while !rest.is_empty() {
        let end = rest
            .char_indices()
            .nth(length)
            .map_or(rest.len(), |(at, _)| at);
        let (piece, after) = rest.split_at(end);
        pieces.push(piece);
        rest = after;
    }

    pieces
}

#[test]
fn recorded_replies_that_need_no_repair_grow_into_what_is_read() {
    let mut clean = 0;

    for (name, text) in recorded() {
        let Some(read) = read(&text, Reading::Strict) else {
            continue;
        };
        clean += 1;
        let expected = read.reply.current_thinking;

        for length in [1, 7, usize::MAX] {
            let grown = Grown::of(pieces(&text, length));
            assert_eq!(grown.last(), expected.trim_end(), "{name}");

            if grown.starts == 1 {
                let is_prefix = grown
                    .texts
                    .iter()
                    .all(|text| expected.starts_with(text.as_str()));
                assert!(is_prefix, "{name}");
            }
        }
    }

    assert!(clean > 20, "{clean} replies are clean");
}

#[test]
fn most_recorded_replies_that_are_repaired_grow_into_what_is_read() {
    let mut repaired = Vec::new();
    let mut guessed = 0;

    for (name, text) in recorded() {
        let Some(read) = read(&text, Reading::Repairing) else {
            continue;
        };
        if read.repairs.is_empty() {
            continue;
        }

        let expected = read.reply.current_thinking;
        let mut growing = growing();
        growing.push(&text);
        if growing.text().trim() == expected.trim() {
            guessed += 1;
        }
        repaired.push((name, growing.text().to_owned(), expected.clone()));

        growing.finish(&expected);
        assert_eq!(growing.text(), expected);
    }

    let all = repaired.len();
    assert!(guessed * 10 >= all * 7, "{guessed} of {all}: {repaired:#?}");
}

/// Texts with everything that YAML and JSON quote, escape or fold.
fn thinking() -> impl Strategy<Value = String> {
    let parts = prop::sample::select(vec![
        "a",
        "b c",
        "\n",
        "\n\n",
        " ",
        "  ",
        "\t",
        ": ",
        " #",
        "#",
        "- ",
        "\"",
        "'",
        "\\",
        "|",
        ">",
        "{",
        "}",
        "[",
        "]",
        ",",
        "```",
        "---",
        "current_thinking:",
        "é",
        "思考",
        "👩\u{200d}🚀",
        "\u{1b}",
        "\u{7}",
        "&",
        "*",
        "!",
        "%",
        "@",
        "`",
        "?",
        "1",
        "true",
        "~",
    ]);

    prop::collection::vec(parts, 1..25)
        .prop_map(|parts| parts.concat())
        .prop_filter("a thought has a text", |text| !text.trim().is_empty())
}

/// The forms in which a model may write a reply.
fn forms(thinking: &str) -> Vec<String> {
    let reply = Reply {
        current_thinking: thinking.to_owned(),
        planning: Plan::from(vec![Step::pending("Conclusion")]),
        next_thought_needed: true,
    };

    vec![
        reply.to_string(),
        format!("<think>\ncurrent_thinking: x\n</think>\nHere it is.\n\n{reply}\n\nThat's it."),
        serde_json::to_string(&reply).unwrap(),
        format!(
            "```json\n{}\n```",
            serde_json::to_string_pretty(&reply).unwrap()
        ),
    ]
}

proptest! {
    #[test]
    fn a_text_grows_into_what_is_read_in_any_pieces(
        thinking in thinking(),
        lengths in prop::collection::vec(1..12_usize, 1..8),
    ) {
        for text in forms(&thinking) {
            let Some(read) = read(&text, Reading::Strict) else {
                continue;
            };
            let expected = read.reply.current_thinking;

            let mut rest = text.as_str();
            let mut pieces = Vec::new();
            for length in lengths.iter().cycle() {
                let end = rest.char_indices().nth(*length).map_or(rest.len(), |(at, _)| at);
                let (piece, after) = rest.split_at(end);
                pieces.push(piece);
                rest = after;
                if rest.is_empty() {
                    break;
                }
            }

            let grown = Grown::of(pieces);
            for so_far in &grown.texts {
                prop_assert!(expected.starts_with(so_far.as_str()), "{so_far:?} in {text}");
            }
            prop_assert_eq!(grown.last(), expected.trim_end(), "{}", text);
        }
    }
}
