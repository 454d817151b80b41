//! The variables of a scratchpad, and how steps change them.

use cogwork_text::Name;
use serde_json::{Map, Value};

use crate::{Solving, StageReply};

/// The field and the parameter with the variables, in the stages that have it.
pub(super) const STATE: &str = "state_variables";

const MAX_VARIABLES: usize = 64;
const MAX_NAME: usize = 64;
const MAX_BYTES: usize = 64 * 1024;

/// Returns the variables after the last step of the current branch.
pub(super) fn of(solving: &Solving) -> Map<String, Value> {
    let state = solving
        .path()
        .find_map(|thought| thought.parameter(STATE)?.as_object());
    state.cloned().unwrap_or_default()
}

/// Returns the variables with the values of a reply. Other variables keep theirs.
///
/// # Errors
///
/// Returns a description of the problem for the model.
pub(super) fn changed(
    before: &Map<String, Value>,
    reply: &StageReply,
) -> Result<Map<String, Value>, String> {
    let given = reply.fields.get(STATE).and_then(Value::as_object);
    let mut after = before.clone();

    for (name, value) in given.into_iter().flatten() {
        if name.chars().count() > MAX_NAME {
            let name = Name(name);
            return Err(format!(
                "the name `{name}` is too long; expected at most {MAX_NAME} characters"
            ));
        }
        after.insert(name.clone(), value.clone());
    }

    check_size(&after)?;
    Ok(after)
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
