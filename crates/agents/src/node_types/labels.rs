//! The setting `actions`: labels of the edges that leave a node.

use cogwork_flow::Action;
use cogwork_thinking::SettingProblem;
use schemars::{Schema, SchemaGenerator, json_schema};

use crate::Making;
use crate::choice::Choice;

/// Labels are shown in drawings, so they can't contain values from the environment.
pub(super) fn labels(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "items": {"type": "string", "minLength": 1, "maxLength": 100, "x-environment": false}
    })
}

/// Returns the choice between labels that match the schema, without those that it reports. The reserved
/// ones have another meaning.
pub(super) fn checked(
    making: &mut Making<'_, '_>,
    labels: Vec<String>,
    reserved: &[Action],
) -> Choice {
    let mut checked: Vec<Action> = Vec::new();

    for (place, label) in labels.into_iter().enumerate() {
        let message = if checked.iter().any(|other| other.as_str() == label) {
            format!("the action `{label}` is listed twice; expected each once")
        } else if label.trim() != label || label.contains(['\n', '\r']) {
            "the label begins or ends with a space, or has more than one line; expected one trimmed line".to_owned()
        } else if reserved.iter().any(|action| action.as_str() == label) {
            format!("`{label}` is reserved; choose another action")
        } else {
            checked.push(label.into());
            continue;
        };
        making.report(SettingProblem::new(message).at(format!("actions[{place}]")));
    }
    Choice(checked)
}
