//! The setting `actions`: labels of the edges that leave a node.

use schemars::{Schema, SchemaGenerator, json_schema};

use crate::settings::SettingProblem;

/// Labels are shown in drawings, so they can't contain values from the environment.
pub(super) fn labels(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "items": {"type": "string", "minLength": 1, "maxLength": 100, "x-environment": false}
    })
}

/// Returns the problems of labels that match the schema.
pub(super) fn problems(labels: &[String]) -> Vec<SettingProblem> {
    let mut problems = Vec::new();

    for (place, label) in labels.iter().enumerate() {
        if labels.iter().take(place).any(|other| other == label) {
            let message = format!("the action `{label}` is listed twice; expected each once");
            problems.push(SettingProblem::new(message).at(format!("actions[{place}]")));
        } else if label.trim() != label || label.contains(['\n', '\r']) {
            let message = "the label begins or ends with a space, or has more than one line; expected one trimmed line";
            problems.push(SettingProblem::new(message).at(format!("actions[{place}]")));
        }
    }

    problems
}
