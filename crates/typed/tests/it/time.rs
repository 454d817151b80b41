//! The time to read a reply is linear in its length, whatever it says.
//!
//! `COGWORK_LONG_TESTS=1` reads every pair of parts at the maximum length.

#[path = "../../../text/tests/support/growth.rs"]
pub(crate) mod growth;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use cogwork_typed::AnswerReader;
use growth::assert_grows_linearly;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only read")]
struct Plan {
    thought: String,
    steps: Vec<Step>,
    is_last: bool,
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only read")]
struct Step {
    description: String,
    result: Option<String>,
    sub_steps: Option<Vec<Step>>,
}

/// Alternatives inside alternatives.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "only read")]
enum Deep {
    A { a: Box<Deep>, x: u8 },
    B { a: Box<Deep>, y: u8 },
    List(Vec<Deep>),
    End(u8),
}

const BEGINNINGS: [&str; 4] = [
    "",
    "thought: a\nsteps:\n",
    "{\"thought\": \"",
    "```yaml\nthought: |\n",
];

const PARTS: [&str; 64] = [
    "{",
    "[",
    "}",
    "]",
    "[[",
    "{\"a\":",
    "\"",
    "'",
    "“",
    "\\",
    "\\u12",
    ",",
    ":",
    ": ",
    "\n",
    "\n\n",
    " ",
    "  ",
    "\t",
    "#",
    " # a",
    "// a\n",
    "/*",
    "-",
    "- ",
    "\n- ",
    "\n  - ",
    "\n    - ",
    "- - ",
    "1. ",
    "\n1. a",
    "* ",
    "? ",
    "%",
    "&a ",
    "*a",
    "!",
    "|",
    "|\n",
    ">\n",
    "\n- >\n  a\n  a",
    "\n- \"\\n\"",
    "a: |\n ",
    "\na: ",
    "\n a: [",
    "\n a: \"",
    "thought: ",
    "\nthought: a",
    "\nsteps:",
    "\n- description: a",
    "\n  description: 'b",
    "\n  - sub_steps: [{",
    "is_last: yes\n",
    "a",
    "a b ",
    "3",
    "1.5,",
    "null",
    "...",
    "```",
    "```json\n",
    "<think>",
    "</think>",
    "\n{\"a\": 1}",
];

/// Reads a text as one of the types.
fn read(of: usize, text: &str) {
    match of % 4 {
        0 => drop(AnswerReader::<Plan>::new().read(text)),
        1 => drop(AnswerReader::<Vec<Step>>::new().read(text)),
        2 => drop(AnswerReader::<BTreeMap<String, Value>>::new().read(text)),
        _ => drop(AnswerReader::<Deep>::new().read(text)),
    }
}

/// Returns a text of about this many bytes.
fn text(beginning: &str, parts: &[&str], bytes: usize) -> String {
    let part = parts.concat();
    let count = (bytes - beginning.len()) / part.len();
    format!("{beginning}{}", part.repeat(count))
}

#[test]
fn the_time_is_linear_in_the_length() {
    for (at, part) in PARTS.iter().enumerate() {
        // Each part is followed by itself and by another one, after one of the beginnings.
        let other = PARTS[(at * 7 + 3) % PARTS.len()];
        let beginning = BEGINNINGS[at % BEGINNINGS.len()];
        let text = |bytes| text(beginning, &[part, part, other], bytes);

        let what = format!("{beginning:?}, {part:?} and {other:?}");
        let read = |text: &str| read(at / 4, text);
        assert_grows_linearly(&what, &text(2_000), &text(20_000), read);
    }
}

/// Each quote of a line may be one inside a text.
#[test]
fn the_quotes_of_a_long_line_are_read_in_linear_time() {
    let text = |bytes| text("", &["{\"a\":", "\""], bytes);
    assert_grows_linearly("quotes", &text(4_000), &text(40_000), |text| read(1, text));
}

/// Alternatives inside alternatives don't take exponential time.
#[test]
fn the_alternatives_that_are_tried_are_bounded() {
    let nested = |depth: usize| format!("{}\"end\"{}", "{\"a\": ".repeat(depth), "}".repeat(depth));
    assert_grows_linearly("alternatives", &nested(16), &nested(60), |text| {
        read(3, text)
    });
}

#[test]
fn long_replies_are_read_in_time() {
    if std::env::var_os("COGWORK_LONG_TESTS").is_none() {
        return;
    }
    // A text may hold the value in YAML, and is then read for each alternative. A build without
    // optimizations takes some four times as long.
    let most = Duration::from_secs(if cfg!(debug_assertions) { 16 } else { 4 });
    let mut slowest = (Duration::ZERO, String::new());
    let cases = (0..4).flat_map(|of| BEGINNINGS.map(|beginning| (of, beginning)));
    let pairs = PARTS
        .iter()
        .flat_map(|part| PARTS.map(|other| (part, other)));

    for ((part, other), (of, beginning)) in
        pairs.flat_map(|pair| cases.clone().map(move |case| (pair, case)))
    {
        let time = |bytes| {
            let text = text(beginning, &[part, other], bytes);
            let start = Instant::now();
            read(of, &text);
            start.elapsed()
        };

        // What is slow is already slow at a part of the length.
        if time(10_000) * 100 < most {
            continue;
        }
        let mut took = time(250_000);
        for _ in 0..2 {
            // Another process may have had the processor.
            if took > slowest.0 {
                took = took.min(time(250_000));
            }
        }
        if took > slowest.0 {
            slowest = (took, format!("{of}: {beginning:?}, {part:?} and {other:?}"));
        }
    }

    println!("slowest: {slowest:?}");
    assert!(slowest.0 < most, "{slowest:?}");
}
