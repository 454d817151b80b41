//! Reads one raw reply of a model on standard input and writes the thought as JSON, with what had to be
//! repaired. A reply that cannot be used is an error with its line on standard error, and the
//! exit code 1. With `--strict` nothing is repaired.
//!
//! `cargo run -q --example read_reply < examples/replies/faulty.txt` prints:
//!
//! ```text
//! {
//!   "current_thinking": "Evaluation of thought #1: right. Next I add the fare: 12 + 3.",
//!   "planning": [
//!     {
//!       "description": "Read the prices",
//!       "status": "Done",
//!       "result": "\"12\" euros"
//!     },
//!     {
//!       "description": "Add the fare",
//!       "status": "Done",
//!       "result": "15 euros # with the child"
//!     },
//!     {
//!       "description": "Conclude",
//!       "status": "Pending"
//!     }
//!   ],
//!   "next_thought_needed": true,
//!   "repairs": [
//!     {
//!       "kind": "quotes",
//!       "line": 7,
//!       "what": "put a text in quotes"
//!     },
//!     {
//!       "kind": "form",
//!       "line": 10,
//!       "what": "`/planning/0/status`: read the text \"done\" as \"Done\""
//!     },
//!     {
//!       "kind": "quotes",
//!       "line": 11,
//!       "what": "put a text in quotes"
//!     },
//!     {
//!       "kind": "key",
//!       "line": 12,
//!       "what": "`/planning/1`: read the key `Description` as `description`"
//!     },
//!     {
//!       "kind": "form",
//!       "line": 13,
//!       "what": "`/planning/1/status`: read the text \"DONE\" as \"Done\""
//!     },
//!     {
//!       "kind": "quotes",
//!       "line": 14,
//!       "what": "put a text in quotes"
//!     },
//!     {
//!       "kind": "indentation",
//!       "line": 15,
//!       "what": "read an item in a wrong column"
//!     },
//!     {
//!       "kind": "missing_status",
//!       "line": 15,
//!       "what": "`/planning/2`: `status` is missing; took \"Pending\""
//!     },
//!     {
//!       "kind": "form",
//!       "line": 15,
//!       "what": "`/planning/2`: read a text as `description`"
//!     },
//!     {
//!       "kind": "truth_value",
//!       "line": 16,
//!       "what": "`/next_thought_needed`: read a text as a truth value"
//!     }
//!   ],
//!   "truncated": false
//! }
//! ```

use std::io::{self, Read};
use std::process::ExitCode;

use cogwork::cot::{Reading, ReplyProblem, ReplyReader};

/// The maximum number of bytes that are read.
const MAX: usize = 256 * 1024;

fn main() -> ExitCode {
    let reader = ReplyReader::default();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let reader = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => reader,
        ["--strict"] => reader.with_reading(Reading::Strict),
        _ => {
            eprintln!("usage: read_reply [--strict] < REPLY");
            return ExitCode::from(2);
        }
    };

    match text().and_then(|text| json(reader, &text)) {
        Ok(json) => {
            println!("{json}");
            ExitCode::SUCCESS
        }
        Err(complaint) => {
            eprintln!("{complaint}");
            ExitCode::FAILURE
        }
    }
}

/// Reads standard input, which must be a text within the limit.
fn text() -> Result<String, String> {
    let mut bytes = Vec::new();

    // Reads one more byte, to detect a text that is too long.
    let read = io::stdin()
        .lock()
        .take(MAX as u64 + 1)
        .read_to_end(&mut bytes);
    read.map_err(|error| format!("line 1: standard input cannot be read: {error}"))?;
    if bytes.len() > MAX {
        return Err(format!(
            "line 1: the reply is longer than {MAX} bytes, which are the most that are read"
        ));
    }

    String::from_utf8(bytes).map_err(|error| {
        let valid = error
            .as_bytes()
            .get(..error.utf8_error().valid_up_to())
            .unwrap_or_default();
        let valid = String::from_utf8_lossy(valid);
        let line = valid.matches('\n').count() + 1;
        format!("line {line}: the reply is not UTF-8")
    })
}

fn json(reader: ReplyReader, text: &str) -> Result<String, String> {
    let read = reader.read(text).map_err(|problem| complaint(&problem))?;
    serde_json::to_string_pretty(&read).map_err(|error| error.to_string())
}

/// The problem, its place, and what could be read.
fn complaint(problem: &ReplyProblem) -> String {
    let mut text = format!("{problem:#}");
    if problem.line().is_none() {
        text.insert_str(0, "line 1: ");
    }

    if let Some(partial) = problem.partial() {
        let thinking = if partial.current_thinking.is_some() {
            "the thinking"
        } else {
            "no thinking"
        };
        text += &format!(
            "\ncould be read: {thinking}, {} steps",
            partial.planning.len()
        );
    }

    text
}
