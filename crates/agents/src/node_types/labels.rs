//! The setting `actions`: labels of the edges that leave a node.

use cogwork_flow::Action;
use schemars::{Schema, SchemaGenerator, json_schema};

use crate::Making;
use cogwork_thinking::SettingProblem;

/// Labels are shown in drawings, so they can't contain values from the environment.
pub(super) fn labels(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "items": {"type": "string", "minLength": 1, "maxLength": 100, "x-environment": false}
    })
}

/// Returns labels that match the schema, without those that it reports. The reserved ones have another
/// meaning.
pub(super) fn checked(
    making: &mut Making<'_, '_>,
    labels: Vec<String>,
    reserved: &[Action],
) -> Vec<String> {
    let mut checked: Vec<String> = Vec::new();

    for (place, label) in labels.into_iter().enumerate() {
        let message = if checked.contains(&label) {
            format!("the action `{label}` is listed twice; expected each once")
        } else if label.trim() != label || label.contains(['\n', '\r']) {
            "the label begins or ends with a space, or has more than one line; expected one trimmed line".to_owned()
        } else if reserved.iter().any(|action| action.as_str() == label) {
            format!("`{label}` is reserved; choose another action")
        } else {
            checked.push(label);
            continue;
        };
        making.report(SettingProblem::new(message).at(format!("actions[{place}]")));
    }
    checked
}

/// Returns the actions of a node with these labels, which is the default action if there are none.
pub(super) fn actions(labels: &[String]) -> Vec<Action> {
    match labels {
        [] => vec![Action::DEFAULT],
        labels => labels.iter().map(Action::new).collect(),
    }
}

/// Returns the label that a text names. If labels differ only in case, the exact spelling is
/// required.
pub(super) fn named<'l>(labels: &'l [String], text: &str) -> Option<&'l str> {
    let text = text.trim();
    let exact = labels.iter().find(|label| *label == text);
    let lower = text.to_lowercase();

    // People and models write `Yes` for `yes`.
    let similar = || labels.iter().find(|label| label.to_lowercase() == lower);
    exact.or_else(similar).map(String::as_str)
}
