//! Checks values against the types of parameters.
//!
//! A checker of JSON Schemas would take another dozen of crates, and compile a schema for each value of
//! each thought, which a method adds again in each step.

use cogwork_text::Name;
use serde_json::Value;

use crate::parameter::{MAX_DEPTH, ParameterType};
use crate::session::ThoughtId;

impl ParameterType {
    /// Returns the first fault of a value, at its path inside the parameter that is the `place`.
    pub(crate) fn fault(&self, place: &str, value: &Value) -> Option<String> {
        if !self.fits(value) {
            let found = match self {
                Self::Any => format!("more than {MAX_DEPTH} levels"),
                _ => shown(value),
            };
            return Some(format!("`{place}` is {found}, expected {self}"));
        }

        match (self, value) {
            (Self::List { items, .. }, Value::Array(list)) => {
                let mut list = list.iter().enumerate();
                list.find_map(|(index, item)| items.fault(&format!("{place}[{index}]"), item))
            }
            (Self::Map { values }, Value::Object(object)) => object
                .iter()
                .find_map(|(name, value)| values.fault(&format!("{place}.{}", Name(name)), value)),
            (Self::Object { fields }, Value::Object(object)) => {
                let missing = fields.iter().find_map(|(name, field)| {
                    let is_missing = field.required && !object.contains_key(name);
                    let kind = &field.kind;
                    is_missing.then(|| format!("`{place}.{name}` is missing, expected {kind}"))
                });
                missing.or_else(|| {
                    object.iter().find_map(|(name, value)| {
                        let place = format!("{place}.{}", Name(name));
                        match fields.get(name) {
                            Some(field) => field.kind.fault(&place, value),
                            // An unknown field is often a misspelt one, so it isn't ignored.
                            None => {
                                Some(format!("`{place}` is {}, expected nothing", shown(value)))
                            }
                        }
                    })
                })
            }
            _ => None,
        }
    }

    /// Returns whether a value is of this type, apart from what it contains.
    fn fits(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Text { choices }, Value::String(text)) => {
                choices.is_empty() || choices.contains(text)
            }
            // A number without a fraction is an integer, even if it is written as `2.0`.
            (Self::Integer { min, max }, Value::Number(number)) => number
                .as_f64()
                .is_some_and(|number| number.fract() == 0.0 && within(number, *min, *max)),
            (Self::Number { min, max }, Value::Number(number)) => number
                .as_f64()
                .is_some_and(|number| number.is_finite() && within(number, *min, *max)),
            (Self::Thought, value) => ThoughtId::of_value(value).is_some(),
            (Self::List { min_items, .. }, Value::Array(list)) => list.len() >= *min_items,
            (Self::Any, value) => is_shallow(value, MAX_DEPTH),
            (Self::Boolean, Value::Bool(_))
            | (Self::Object { .. } | Self::Map { .. }, Value::Object(_)) => true,
            _ => false,
        }
    }
}

fn within(number: f64, min: Option<f64>, max: Option<f64>) -> bool {
    min.is_none_or(|min| number >= min) && max.is_none_or(|max| number <= max)
}

fn is_shallow(value: &Value, levels: usize) -> bool {
    let Some(below) = levels.checked_sub(1) else {
        return false;
    };

    match value {
        Value::Array(list) => list.iter().all(|item| is_shallow(item, below)),
        Value::Object(object) => object.values().all(|value| is_shallow(value, below)),
        _ => true,
    }
}

/// Describes a value in a few words, as in `the text "abc"`, `12` or `a list`.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => format!("the text \"{}\"", Name(text)),
        // Its contents would drown the message.
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        scalar => scalar.to_string(),
    }
}
