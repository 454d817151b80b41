//! From a text to strategies: read within bounds, checked whole, every problem reported at once.

mod graph;
mod locate;
mod problem;
mod read;
mod read_parameter;
mod tree;

pub use problem::{TableError, TableProblem, TableProblemKind};

use serde::Deserializer;
use serde::de::DeserializeSeed;

use crate::Strategy;
use locate::Locator;
use tree::{Budget, ReadTree, Tree};

/// The longest text with tables that is read, in bytes.
pub const MAX_TABLE_BYTES: usize = 256 * 1024;

/// Brackets in a text of YAML: its library takes the square of their depth.
const MAX_BRACKETS: usize = 10_000;

pub(crate) fn from_yaml(text: &str) -> Result<Vec<Strategy>, TableError> {
    check_length(text)?;
    if text.bytes().filter(|byte| matches!(byte, b'[' | b'{')).count() > MAX_BRACKETS {
        let message = format!("more than {MAX_BRACKETS} brackets; expected a smaller table");
        return Err(TableError::syntax(message, None));
    }
    // A directive is nothing a table needs, and their library compares each with all others.
    if let Some(line) = text.lines().position(|line| line.starts_with('%')) {
        let message = "a line begins with `%`, a directive of YAML; expected a table".to_owned();
        return Err(TableError::syntax(message, Some(line + 1)));
    }
    let mut budget = Budget::default();
    let tree = ReadTree::new(&mut budget).deserialize(serde_yaml::Deserializer::from_str(text));
    let tree = tree.map_err(|error| {
        let line = error.location().map(|place| place.line());
        TableError::syntax(without_place(&error.to_string()), line)
    })?;
    read::strategies(tree, Locator::new(text))
}

pub(crate) fn from_json(text: &str) -> Result<Vec<Strategy>, TableError> {
    check_length(text)?;
    let syntax = |error: serde_json::Error| {
        let line = Some(error.line()).filter(|line| *line > 0);
        TableError::syntax(without_place(&error.to_string()), line)
    };
    let mut reader = serde_json::Deserializer::from_str(text);
    let tree = ReadTree::new(&mut Budget::default()).deserialize(&mut reader).map_err(syntax)?;
    reader.end().map_err(syntax)?;
    read::strategies(tree, Locator::new(text))
}

/// The outer error is the reader's own, the inner one what is wrong with the tables.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Result<Vec<Strategy>, TableError>, D::Error> {
    let tree: Tree = ReadTree::new(&mut Budget::default()).deserialize(deserializer)?;
    Ok(read::strategies(tree, Locator::new("")))
}

/// A problem found outside of any text.
pub(crate) fn problem(strategy: &str, kind: TableProblemKind) -> TableProblem {
    TableProblem::new(&[strategy], kind)
}

fn check_length(text: &str) -> Result<(), TableError> {
    if text.len() <= MAX_TABLE_BYTES {
        return Ok(());
    }
    let message = format!("{} bytes; at most {MAX_TABLE_BYTES} are read", text.len());
    Err(TableError::syntax(message, None))
}

/// Without the place, which is told apart.
fn without_place(message: &str) -> String {
    let cut = message.find(" at line ").unwrap_or(message.len());
    message.get(..cut).unwrap_or(message).to_owned()
}
