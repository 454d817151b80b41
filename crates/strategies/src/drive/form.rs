//! Describes the form of a reply for the model.

use std::fmt::Write;

use super::values::folded;
use crate::{Parameter, ParameterType};

/// The line with the thought itself.
pub(super) const THOUGHT: &str = "thought";

/// The line with the name of the next stage.
pub(super) const NEXT: &str = "next";

/// Returns the text of a question: the instruction, and the form of the reply if it has one.
pub(super) fn instruction(
    instruction: &str,
    fields: &[(String, Parameter)],
    next: &[(String, String)],
    with_tools: bool,
) -> String {
    let mut text = instruction.to_owned();
    if !has_form(fields, next) {
        return text;
    }

    let unless = if with_tools {
        "If you call no tool, write"
    } else {
        "Write"
    };

    // Writing to a string doesn't fail.
    let _ = write!(
        text,
        "\n\n{unless} these lines, each name at the beginning of a line:"
    );
    if !fields.iter().any(|(name, _)| name == THOUGHT) {
        let _ = write!(text, "\n{THOUGHT}: your thought");
    }

    for (name, parameter) in fields {
        let optional = if parameter.is_required() {
            ""
        } else {
            ", may be left out"
        };
        let _ = write!(
            text,
            "\n{name}: {} ({}{optional})",
            parameter.description(),
            form(parameter.kind())
        );
    }

    if next.len() > 1 {
        let _ = write!(
            text,
            "\n{}: the name of the stage that is next, one of",
            label_of_next(fields)
        );
        for (name, description) in next {
            let _ = write!(text, "\n  {name} ({description})");
        }
    }

    text
}

/// Returns the label of the next stage, which differs if a field has the usual one.
pub(super) fn label_of_next(fields: &[(String, Parameter)]) -> &'static str {
    if fields.iter().any(|(name, _)| folded(name) == NEXT) {
        "next_stage"
    } else {
        NEXT
    }
}

/// Returns whether the reply must have a form.
pub(super) fn has_form(fields: &[(String, Parameter)], next: &[(String, String)]) -> bool {
    !fields.is_empty() || next.len() > 1
}

/// Describes how a value is written.
fn form(kind: &ParameterType) -> String {
    match kind {
        ParameterType::List { items, .. } => match &**items {
            ParameterType::Text { .. } | ParameterType::Any => {
                format!("{kind}, each item on a line of its own that begins with -")
            }
            items => format!("{kind}, as a JSON array of {}", plural(items)),
        },
        ParameterType::Object { .. } | ParameterType::Map { .. } => format!("{kind}, as JSON"),
        ParameterType::Any => "text or JSON".to_owned(),
        kind => kind.to_string(),
    }
}

/// Describes the items of a list.
fn plural(items: &ParameterType) -> String {
    match items {
        ParameterType::Object { fields } => {
            let typed: Vec<_> = fields
                .iter()
                .map(|(name, field)| format!("{name}: {}", field.kind()))
                .collect();
            format!("objects {{{}}}", typed.join(", "))
        }
        kind => kind.name().to_owned(),
    }
}
