//! The variables of a scratchpad: what they may be, and what a step makes of them.

use serde_json::{Map, Value};

use crate::drive::typed;
use crate::quote::{List, Name};
use crate::{Mistyped, Parameter, Solving};

/// The parameter of the stages that hold the variables.
pub(super) const PARAMETER: &str = "state_variables";

pub(super) const MAX_VARIABLES: usize = 64;
const MAX_NAME: usize = 64;
const MAX_BYTES: usize = 64 * 1024;

/// A variable that the user has set.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) parameter: Parameter,
}

/// The variables as they stand on the current branch.
pub(super) fn of(solving: &Solving) -> Map<String, Value> {
    let state = solving.path().find_map(|thought| thought.parameter(PARAMETER)?.as_object());
    state.cloned().unwrap_or_default()
}

/// The variables with the values that were given; those not given stay as they were.
///
/// # Errors
///
/// What is wrong with the values, in words for the model.
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
            if !others {
                return Err(format!("`{}` is no variable; expected {}", Name(&name), names(variables)));
            }
            if name.chars().count() > MAX_NAME {
                return Err(format!(
                    "the name `{}` is too long; expected at most {MAX_NAME} characters",
                    Name(&name)
                ));
            }
            after.insert(name, value);
            continue;
        };
        let value = typed(value, variable.parameter.kind());
        if !value.is_null() {
            variable.parameter.kind().check(&format!("{PARAMETER}.{name}"), &value, &mut faults);
        }
        after.insert(name, value);
    }
    if !faults.is_empty() {
        return Err(faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "));
    }
    if after.len() > MAX_VARIABLES {
        return Err(format!("there are {} variables; expected at most {MAX_VARIABLES}", after.len()));
    }
    let bytes = serde_json::to_string(&after).map_or(0, |json| json.len());
    if bytes > MAX_BYTES {
        return Err(format!("the variables have {bytes} bytes; expected at most {MAX_BYTES}"));
    }
    Ok(after)
}

/// Whether every variable was said to begin with something, be it null.
pub(super) fn lacks_none(variables: &[Variable], state: &Map<String, Value>) -> Result<(), String> {
    let missing = variables.iter().find(|variable| !state.contains_key(&variable.name));
    missing.map_or(Ok(()), |Variable { name, parameter }| {
        Err(format!("`{PARAMETER}.{name}` is missing, expected {} or null", parameter.kind()))
    })
}

/// The value of a variable as an answer; `None` where it has none yet.
pub(super) fn text(state: &Map<String, Value>, name: &str) -> Option<String> {
    match state.get(name)? {
        Value::Null => None,
        Value::String(text) if text.is_empty() => None,
        Value::String(text) => Some(text.clone()),
        value => Some(value.to_string()),
    }
}

pub(super) fn names(variables: &[Variable]) -> String {
    let names: Vec<&str> = variables.iter().map(|variable| variable.name.as_str()).collect();
    List(&names, "or").to_string()
}
