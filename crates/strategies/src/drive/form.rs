//! The form of a reply, and its description for the model.

use std::fmt;

use super::narrowing::Narrowing;
use super::values::folded;
use crate::{Parameter, ParameterType};

/// The line with the thought itself.
pub(super) const THOUGHT: &str = "thought";

/// The line with the name of the next stage.
const NEXT: &str = "next";

/// The values of a reply: lines such as `action: search`, or the keys of a JSON object.
#[derive(Clone, Default)]
pub(super) struct Form {
    /// In the order in which the model writes them.
    pub(super) fields: Vec<Field>,
    /// The fields in which a text such as `none` is a value, even if they may be left out.
    pub(super) literal: Vec<String>,
    /// The fields with what a complaint about a missing value expects.
    pub(super) expected: Vec<(String, String)>,
    /// Whether a reply without labels has to [state](cogwork_typed::ask::stated_answer) its answer.
    pub(super) is_stated: bool,
    /// The names and the descriptions of the stages that may come next.
    pub(super) next: Vec<(String, String)>,
    /// The only stages that a schema allows, if there are any.
    pub(super) narrowed_next: Vec<String>,
}

/// A value that the model should write.
#[derive(Clone)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) parameter: Parameter,
    pub(super) narrowing: Narrowing,
}

impl Form {
    /// Adds a field, which replaces one of the same name.
    pub(super) fn add(&mut self, name: String, parameter: Parameter, narrowing: Narrowing) {
        let field = Field {
            name,
            parameter,
            narrowing,
        };

        match self
            .fields
            .iter_mut()
            .find(|known| known.name == field.name)
        {
            Some(known) => *known = field,
            None => self.fields.push(field),
        }
    }

    /// Narrows the schema of a field, if there is one of this name.
    pub(super) fn narrow(&mut self, name: &str, narrowing: Narrowing) {
        let field = self.fields.iter_mut().find(|field| field.name == name);
        if let Some(field) = field {
            field.narrowing = narrowing;
        }
    }

    /// Returns whether there is a field of this name.
    pub(super) fn asks_for(&self, name: &str) -> bool {
        self.fields.iter().any(|field| field.name == name)
    }

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
        let is_taken = |field: &Field| folded(&field.name) == NEXT;
        if self.fields.iter().any(is_taken) {
            "next_stage"
        } else {
            NEXT
        }
    }
}

/// Writes a line for each value that the model should write.
impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.asks_for(THOUGHT) {
            write!(f, "\n{THOUGHT}: your thought")?;
        }

        for Field {
            name, parameter, ..
        } in &self.fields
        {
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
