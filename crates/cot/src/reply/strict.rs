//! Reads a reply strictly. Every reply takes this path in the end, both as the model wrote it and
//! after repairs.

use super::bounds::{Bounds, told};
use super::parts::Reply;
use super::problem::ReplyProblemKind;
use crate::text_error::without_places;

/// Reads a block that must be valid YAML and a valid reply.
pub(super) fn read(block: &str, bounds: Bounds) -> Result<Reply, Fault> {
    bounds.guard().check(block).map_err(|refusal| Fault {
        kind: ReplyProblemKind::Refused,
        message: told(refusal.reason),
        offset: refusal.offset,
    })?;

    let invalid = |message: String, offset| Fault {
        kind: ReplyProblemKind::Invalid,
        message,
        offset,
    };

    let reply: Reply = serde_yaml::from_str(block).map_err(|error| {
        let offset = error.location().map_or(0, |place| place.index());
        let message = without_places(&error.to_string());
        let advice = advice(&message);

        invalid(message + advice, offset)
    })?;

    let (key, fault) = if reply.current_thinking.trim().is_empty() {
        (
            "current_thinking",
            "`current_thinking` is empty; expected the evaluation and the thinking",
        )
    } else if reply.planning.is_empty() {
        (
            "planning",
            "`planning` is empty; expected at least one step",
        )
    } else {
        return Ok(reply);
    };

    Err(invalid(fault.to_owned(), line_of(block, key)))
}

/// A problem of a block, and its offset in bytes.
pub(super) struct Fault {
    pub(super) kind: ReplyProblemKind,
    pub(super) message: String,
    pub(super) offset: usize,
}

/// Returns how to correct a common mistake. The messages of the YAML library use its own terms.
fn advice(message: &str) -> &'static str {
    let known = [
        (
            "mapping values are not allowed",
            "; put a text that contains `: ` in quotes",
        ),
        (
            "did not find expected key",
            "; check the indentation, and put a text that begins with quotes in quotes",
        ),
        (
            "found character that cannot start any token",
            "; put the text in quotes",
        ),
        (
            "could not find expected ':'",
            "; expected `key: value`, and the lines of a text indented",
        ),
        ("found unexpected end of stream", "; a quote is not closed"),
    ];
    known
        .into_iter()
        .find(|(mistake, _)| message.starts_with(mistake))
        .map_or("", |(_, advice)| advice)
}

/// Returns the start of the line with this top-level key.
fn line_of(block: &str, key: &str) -> usize {
    let mut offset = 0;
    for line in block.split_inclusive('\n') {
        if line.starts_with(key) {
            return offset;
        }
        offset += line.len();
    }

    0
}
