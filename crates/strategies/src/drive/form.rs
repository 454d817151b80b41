//! The form of a reply, and its description for the model.

use std::fmt;

use super::values::folded;
use crate::{Parameter, ParameterType};

/// The line with the thought itself.
pub(super) const THOUGHT: &str = "thought";

/// The line with the name of the next stage.
const NEXT: &str = "next";

/// The form of a reply: lines such as `action: search`.
#[derive(Clone, Default)]
pub(super) struct Form {
    /// In the order in which the model writes them.
    pub(super) fields: Vec<(String, Parameter)>,
    /// The fields in which a text such as `none` is a value, even if they may be left out.
    pub(super) literal: Vec<String>,
    /// The fields with what a complaint about a missing value expects.
    pub(super) expected: Vec<(String, String)>,
    /// Whether a reply without labels has to [state](cogwork_ask::stated_answer) its answer.
    pub(super) is_stated: bool,
    /// The names and the descriptions of the stages that may come next.
    pub(super) next: Vec<(String, String)>,
}

impl Form {
    /// Returns whether any text is a valid reply.
    pub(super) fn is_free(&self) -> bool {
        self.fields.is_empty() && !self.has_choice()
    }

    /// Returns whether the model chooses the next stage.
    pub(super) fn has_choice(&self) -> bool {
        self.next.len() > 1
    }

    /// Returns whether a text such as `none` is a value of the field.
    pub(super) fn is_literal(&self, field: &str) -> bool {
        self.literal.iter().any(|name| name == field)
    }

    /// Returns what is expected of a field, in a complaint that it is missing.
    pub(super) fn expected(&self, field: &str, parameter: &Parameter) -> String {
        let set = self.expected.iter().find(|(name, _)| name == field);
        set.map_or_else(|| parameter.kind().to_string(), |(_, what)| what.clone())
    }

    /// Returns the label of the next stage. A different label is used if a field already has the
    /// usual one.
    pub(super) fn next_label(&self) -> &'static str {
        if self.fields.iter().any(|(name, _)| folded(name) == NEXT) {
            "next_stage"
        } else {
            NEXT
        }
    }
}

/// Writes a line for each value that the model should write.
impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.fields.iter().any(|(name, _)| name == THOUGHT) {
            write!(f, "\n{THOUGHT}: your thought")?;
        }

        for (name, parameter) in &self.fields {
            let description = parameter.description();
            let form = form(parameter.kind());
            write!(f, "\n{name}: {description} ({form}")?;
            if !parameter.is_required() {
                f.write_str(", may be left out")?;
            }
            f.write_str(")")?;
        }

        if !self.has_choice() {
            return Ok(());
        }

        let label = self.next_label();
        write!(f, "\n{label}: the name of the stage that is next, one of")?;
        for (name, description) in &self.next {
            write!(f, "\n  {name} ({description})")?;
        }

        Ok(())
    }
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
