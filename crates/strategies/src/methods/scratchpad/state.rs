//! The variables of a scratchpad, and how steps change them.

use cogwork_text::{Name, NameList};
use serde_json::{Map, Value};

use crate::solve::typed;
use crate::{Mistyped, Parameter};

/// The parameter with the variables, in the stages that have it.
pub(super) const PARAMETER: &str = "state_variables";

pub(super) const MAX_VARIABLES: usize = 64;
const MAX_NAME: usize = 64;
const MAX_BYTES: usize = 64 * 1024;

/// A variable that was added to the settings.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) parameter: Parameter,
}

/// Returns the variables with new values. Other variables keep theirs.
///
/// # Errors
///
/// Returns a description of the problems for the model.
pub(super) fn changed(
    variables: &[Variable],
    others: bool,
    before: &Map<String, Value>,
    given: Map<String, Value>,
) -> Result<Map<String, Value>, String> {
    let mut after = before.clone();
    let mut faults: Vec<Mistyped> = Vec::new();

    for (name, value) in given {
        let Some(variable) = variables.iter().find(|variable| variable.name == name) else {
            check_other(variables, others, &name)?;
            after.insert(name, value);
            continue;
        };

        let kind = variable.parameter.kind();
        let value = typed(value, &variable.parameter);
        if !value.is_null() {
            faults.extend(kind.faults(&format!("{PARAMETER}.{name}"), &value));
        }

        after.insert(name, value);
    }

    if !faults.is_empty() {
        let faults: Vec<String> = faults.iter().map(Mistyped::to_string).collect();
        return Err(faults.join("; "));
    }

    check_size(&after)?;
    Ok(after)
}

/// Checks that a variable that isn't in the settings may be added.
fn check_other(variables: &[Variable], others: bool, name: &str) -> Result<(), String> {
    if !others {
        return Err(format!(
            "`{}` is not a variable; expected {}",
            Name(name),
            names(variables)
        ));
    }

    if name.chars().count() > MAX_NAME {
        let name = Name(name);
        return Err(format!(
            "the name `{name}` is too long; expected at most {MAX_NAME} characters"
        ));
    }

    Ok(())
}

fn check_size(state: &Map<String, Value>) -> Result<(), String> {
    let count = state.len();
    if count > MAX_VARIABLES {
        return Err(format!(
            "there are {count} variables; expected at most {MAX_VARIABLES}"
        ));
    }

    let bytes = serde_json::to_string(state).map_or(0, |json| json.len());
    if bytes > MAX_BYTES {
        return Err(format!(
            "the variables have {bytes} bytes; expected at most {MAX_BYTES}"
        ));
    }

    Ok(())
}

/// Checks that every variable has a value, which may be null.
pub(super) fn lacks_none(variables: &[Variable], state: &Map<String, Value>) -> Result<(), String> {
    let missing = variables
        .iter()
        .find(|variable| !state.contains_key(&variable.name));

    match missing {
        Some(Variable { name, parameter }) => {
            let kind = parameter.kind();
            Err(format!(
                "`{PARAMETER}.{name}` is missing, expected {kind} or null"
            ))
        }
        None => Ok(()),
    }
}

/// Returns the value of a variable as an answer; `None` if it has none yet.
pub(super) fn text(state: &Map<String, Value>, name: &str) -> Option<String> {
    match state.get(name)? {
        Value::Null => None,
        Value::String(text) if text.is_empty() => None,
        Value::String(text) => Some(text.clone()),
        value => Some(value.to_string()),
    }
}

/// Returns the names of the variables, for messages.
pub(super) fn names(variables: &[Variable]) -> String {
    let names: Vec<&str> = variables
        .iter()
        .map(|variable| variable.name.as_str())
        .collect();
    NameList::or(&names).to_string()
}
