//! Reads strategies from a text within limits, and reports all problems together.

mod graph;
mod problem;
mod read;
mod read_parameter;
mod reader;
mod tree;

pub(crate) use problem::Problems;
pub use problem::{TableError, TableProblem};
pub(crate) use read::name_taken;
pub use tree::MAX_TABLE_BYTES;

use cogwork_text::yaml::YamlGuard;
use serde::Deserializer;
use serde::de::DeserializeSeed;

use crate::Strategy;
use tree::{Budget, ReadTree, Tree};

/// The maximum depth of nested collections for the YAML parser: more than a table needs, and few
/// enough to be fast.
const MAX_NESTING: usize = 64;

pub(crate) fn from_yaml(text: &str) -> Result<Vec<Strategy>, TableError> {
    check_length(text)?;
    let guard = YamlGuard::new(MAX_NESTING)
        .allow_trailing_comments()
        .allow_anchors();
    guard.check(text).map_err(|refusal| {
        let line = refusal.line(text);
        TableError::syntax(&refusal.reason.to_string(), Some(line))
    })?;

    let mut budget = Budget::default();
    let tree = ReadTree::new(&mut budget).deserialize(serde_yaml::Deserializer::from_str(text));
    let tree = tree.map_err(|error| {
        let line = error.location().map(|place| place.line());
        TableError::syntax(without_place(&error.to_string()), line)
    })?;

    read::strategies(tree)
}

pub(crate) fn from_json(text: &str) -> Result<Vec<Strategy>, TableError> {
    check_length(text)?;
    let syntax = |error: serde_json::Error| {
        let line = Some(error.line()).filter(|line| *line > 0);
        TableError::syntax(without_place(&error.to_string()), line)
    };
    let mut reader = serde_json::Deserializer::from_str(text);
    let tree = ReadTree::new(&mut Budget::default())
        .deserialize(&mut reader)
        .map_err(syntax)?;

    reader.end().map_err(syntax)?;
    read::strategies(tree)
}

/// The outer error is that of the deserializer, the inner one describes the tables.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Result<Vec<Strategy>, TableError>, D::Error> {
    let tree: Tree = ReadTree::new(&mut Budget::default()).deserialize(deserializer)?;
    Ok(read::strategies(tree))
}
fn check_length(text: &str) -> Result<(), TableError> {
    if text.len() <= MAX_TABLE_BYTES {
        return Ok(());
    }

    let message = format!("{} bytes; at most {MAX_TABLE_BYTES} are read", text.len());
    Err(TableError::syntax(&message, None))
}

/// Returns the message without the position, which is reported separately.
fn without_place(message: &str) -> &str {
    message
        .split_once(" at line ")
        .map_or(message, |(message, _)| message)
}
