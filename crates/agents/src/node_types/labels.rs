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

/// Returns the choice between labels that match the schema, without those that it reports: reserved
/// ones have another meaning.
pub(super) fn checked(
    making: &mut Making<'_, '_>,
    labels: Vec<String>,
    reserved: &[Action],
) -> Choice {
    let mut checked: Vec<Action> = Vec::new();

    for (place, label) in labels.into_iter().enumerate() {
        let label = Action::from(label);
        if reserved.contains(&label) {
            let message = format!("`{label}` is reserved; choose another action");
            making.report(SettingProblem::new(message).at(format!("actions[{place}]")));
        } else if !checked.contains(&label) {
            checked.push(label);
        }
    }
    Choice(checked)
}
