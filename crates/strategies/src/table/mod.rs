//! Tables of strategies as text: reads them, and reports all problems together.

mod check;
mod error;

pub use error::{TableError, TableProblem};

pub use crate::parameter::Parameter;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use cogwork_text::{Name, expensive_yaml_line};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_yaml::Value;

use crate::Strategy;
use crate::solve::NEXT;
use crate::strategy::Table;

/// The maximum length of a text with tables, in bytes.
pub const MAX_TABLE_BYTES: usize = 256 * 1024;

/// The maximum depth of nested collections: more than a table needs, and few enough to be fast.
const MAX_NESTING: usize = 64;

/// The maximum length of a name, in bytes.
const MAX_NAME: usize = 64;

pub(crate) fn from_yaml(text: &str) -> Result<Vec<Strategy>, TableError> {
    let length = text.len();
    if length > MAX_TABLE_BYTES {
        let message = format!("{length} bytes; at most {MAX_TABLE_BYTES} are read");
        return Err(TableError::syntax(&message, None));
    }
    // Before the parser reads it, whose time and memory are not bounded for such texts.
    if let Some(line) = expensive_yaml_line(text, MAX_NESTING) {
        let message = format!("the nesting is too deep; expected at most {MAX_NESTING} levels");
        return Err(TableError::syntax(&message, Some(line)));
    }

    let tables = serde_yaml::from_str(text).map_err(|error| {
        let line = error.location().map(|place| place.line());
        TableError::syntax(&error.to_string(), line)
    })?;
    read(tables)
}

/// Reads the tables by name. Each is read by itself, so that the problems of all are reported.
fn read(tables: Value) -> Result<Vec<Strategy>, TableError> {
    let Value::Mapping(tables) = tables else {
        let message = "the text is not a mapping; expected strategies by their names";
        return Err(TableError::syntax(message, None));
    };

    let mut error = TableError::default();
    let mut strategies: Vec<Strategy> = Vec::new();
    let mut taken = HashSet::new();

    for (name, table) in tables {
        let name = match name {
            Value::String(name) => name,
            // YAML takes some names for numbers or truth values.
            other => serde_json::to_string(&other).unwrap_or_default(),
        };
        match serde_path_to_error::deserialize(table) {
            Ok(table) => {
                let strategy = named_table(name, table, &mut error);
                check::check(&strategy.0, &mut error);
                // After the table itself, so that problems come in the order of the text.
                check_names(&strategy, &mut taken, &mut error);
                strategies.push(strategy);
            }
            Err(mistake) => {
                let path = mistake.path().to_string();
                let place = format!("{name}.{path}");
                error.push(place.trim_end_matches('.'), mistake.inner());
            }
        }
    }

    error.or(strategies)
}

/// Adds a problem for each name of a strategy that another one has `taken`.
pub(crate) fn check_names(
    strategy: &Strategy,
    taken: &mut HashSet<String>,
    error: &mut TableError,
) {
    let name = strategy.name();
    if !taken.insert(name.to_owned()) {
        let message = "this is the name of a different strategy; choose another name";
        error.push(name, message);
    }
}

/// Returns the strategy of a table. It starts with the first stage, unless the table says otherwise.
fn named_table(name: String, mut table: Table, error: &mut TableError) -> Strategy {
    // It has none unless serde has written it.
    if !table.name.is_empty() && table.name != name {
        let other = Name(&table.name);
        error.push(&name, format!("its `name` is `{other}`; expected its key"));
    }
    if let (true, Some(first)) = (table.start.is_empty(), table.stages.first()) {
        table.start.clone_from(&first.name);
    }
    Strategy(Arc::new(Table { name, ..table }))
}

/// Reads parameters by name, and refuses names that a reply couldn't use, or uses for the next stage.
pub(crate) fn named<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, Parameter>, D::Error> {
    let parameters = BTreeMap::<String, Parameter>::deserialize(deserializer)?;
    match parameters.keys().find(|name| !is_name(name)) {
        Some(name) => Err(D::Error::custom(not_a_name(name))),
        None if parameters.contains_key(NEXT) => Err(D::Error::custom(format!(
            "`{NEXT}` is where a reply names the next stage; choose another name"
        ))),
        None => Ok(parameters),
    }
}

fn is_name(name: &str) -> bool {
    let fits = |character: char| character.is_alphanumeric() || matches!(character, '_' | '-');
    (1..=MAX_NAME).contains(&name.len()) && name.chars().all(fits)
}

/// Returns the message about a text that can't be a name.
fn not_a_name(name: &str) -> String {
    let name = Name(name);
    format!("`{name}` is not a valid name; expected 1 to 64 letters, digits, `_` and `-`")
}
