//! The text of a thought while its reply arrives, compared with the text that is read in the end.

#![allow(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::fs;
use std::path::Path;

use cogwork_cot::{Read, Reading, Reply, ReplyReader};
use cogwork_typed::{AnswerReader, GrowingText};

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
