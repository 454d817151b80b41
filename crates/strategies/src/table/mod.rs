//! Reads strategies from a text, and reports all problems together.

mod check;
mod error;

pub(crate) use error::Problems;
pub use error::{TableError, TableProblem};

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use cogwork_text::Name;
use cogwork_text::yaml::YamlGuard;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_yaml::{Mapping, Value};

use crate::strategy::Table;
use crate::{Parameter, Stage, Strategy};

/// The maximum length of a text with tables, in bytes.
pub const MAX_TABLE_BYTES: usize = 256 * 1024;

/// The maximum depth of nested collections: more than a table needs, and few enough to be fast.
const MAX_NESTING: usize = 64;

/// The maximum length of a name, in bytes.
const MAX_NAME: usize = 64;

/// What the `type` of a parameter may be.
const TYPES: &str =
    "`text`, `integer`, `number`, `boolean`, `thought`, `list`, `object`, `map` or `any`";

pub(crate) fn from_yaml(text: &str) -> Result<Vec<Strategy>, TableError> {
    check_length(text)?;
    let guard = YamlGuard::new(MAX_NESTING).allow_trailing_comments();
    guard.check(text).map_err(|refusal| {
        let line = refusal.line(text);
        TableError::syntax(&refusal.reason.to_string(), Some(line))
    })?;

    let tables = serde_yaml::from_str(text).map_err(|error| {
        let line = error.location().map(|place| place.line());
        TableError::syntax(&error.to_string(), line)
    })?;
    read(tables)
}

pub(crate) fn from_json(text: &str) -> Result<Vec<Strategy>, TableError> {
    check_length(text)?;
    let tables = serde_json::from_str(text)
        .map_err(|error| TableError::syntax(&error.to_string(), Some(error.line())))?;
    read(tables)
}

fn check_length(text: &str) -> Result<(), TableError> {
    if text.len() <= MAX_TABLE_BYTES {
        return Ok(());
    }

    let message = format!("{} bytes; at most {MAX_TABLE_BYTES} are read", text.len());
    Err(TableError::syntax(&message, None))
}

/// A strategy as it is written, with stages that aren't read yet.
#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a mapping with `description` and `stages`"
)]
struct Written {
    #[serde(default)]
    aliases: Vec<String>,
    #[serde(default)]
    description: String,
    start: Option<String>,
    #[serde(default)]
    stages: Mapping,
}

/// Reads the tables by name. Stages are read one by one, so that the problems of each are reported.
pub(crate) fn read(tables: Value) -> Result<Vec<Strategy>, TableError> {
    let Value::Mapping(tables) = tables else {
        let message = "the text is not a mapping; expected strategies by their names";
        return Err(TableError::syntax(message, None));
    };

    let mut problems = Problems::default();
    let mut strategies = Vec::new();
    let mut taken = HashSet::new();

    for (name, table) in tables {
        let name = key(name);
        let place = TableProblem::of(&name);
        let Some(written) = part::<Written>(&mut problems, &place, table) else {
            continue;
        };

        let names = [&name].into_iter().chain(&written.aliases);
        for known in names.filter(|known| !taken.insert((*known).clone())) {
            problems.push(&place, name_taken(known));
        }

        let table = written.read(name, &mut problems);
        strategies.push(Strategy(Arc::new(table)));
    }

    problems.into_result()?;
    Ok(strategies)
}

impl Written {
    fn read(self, name: String, problems: &mut Problems) -> Table {
        let mut stages: Vec<Stage> = Vec::new();
        let mut unread: Vec<String> = Vec::new();

        for (stage_name, mut stage) in self.stages {
            let stage_name = key(stage_name);
            let place = TableProblem::of(&name).at_stage(&stage_name);
            let parameters = parameters(problems, &place, &mut stage);
            match part::<Stage>(problems, &place, stage).zip(parameters) {
                Some((stage, parameters)) => stages.push(Stage {
                    name: stage_name,
                    parameters,
                    ..stage
                }),
                None => unread.push(stage_name),
            }
        }

        let first = stages.first().map(|stage| stage.name.clone());
        let table = Table {
            name,
            aliases: self.aliases,
            description: self.description,
            start: self.start.or(first).unwrap_or_default(),
            stages,
        };
        check::check(&table, &unread, problems);
        table
    }
}

/// Takes the parameters out of a stage and reads them one by one.
fn parameters(
    problems: &mut Problems,
    place: &TableProblem,
    stage: &mut Value,
) -> Option<BTreeMap<String, Parameter>> {
    let written = stage.as_mapping_mut();
    let written = match written.and_then(|stage| stage.get_mut("parameters")) {
        Some(Value::Mapping(parameters)) => std::mem::take(parameters),
        _ => Mapping::new(),
    };

    let count = written.len();
    let mut parameters = BTreeMap::new();
    for (name, parameter) in written {
        let name = key(name);
        let place = place.clone().at_key(&format!("parameters.{name}"));
        if !is_name(&name) {
            problems.push(&place, not_a_name(&name));
        } else if let Some(parameter) = part(problems, &place, parameter) {
            parameters.insert(name, parameter);
        }
    }

    (parameters.len() == count).then_some(parameters)
}

/// Reads a part of the tables, or reports why that isn't possible.
fn part<T: DeserializeOwned>(
    problems: &mut Problems,
    place: &TableProblem,
    value: Value,
) -> Option<T> {
    match serde_path_to_error::deserialize::<_, T>(value) {
        Ok(part) => Some(part),
        Err(error) => {
            let place = place.clone().at_key(&error.path().to_string());
            problems.push(&place, complaint(&error.inner().to_string()));
            None
        }
    }
}

/// Says of a missing key what it may be, which serde does not.
fn complaint(message: &str) -> String {
    match message.strip_prefix("missing field ") {
        Some("`type`") => format!("it has no `type`; expected {TYPES}"),
        Some(key) => format!("it has no {key}"),
        None => message.to_owned(),
    }
}

/// Returns the text of a key, which YAML may take for a number or a truth value.
fn key(key: Value) -> String {
    match key {
        Value::String(key) => key,
        other => serde_json::to_string(&other).unwrap_or_default(),
    }
}

/// Returns the message about a name that another strategy has.
pub(crate) fn name_taken(name: &str) -> String {
    let name = Name(name);
    format!("`{name}` is the name of a different strategy; choose another name")
}

/// Reads parameters by name, and refuses names that a reply couldn't use.
pub(crate) fn named<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, Parameter>, D::Error> {
    let parameters = BTreeMap::<String, Parameter>::deserialize(deserializer)?;
    match parameters.keys().find(|name| !is_name(name)) {
        Some(name) => Err(D::Error::custom(not_a_name(name))),
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
