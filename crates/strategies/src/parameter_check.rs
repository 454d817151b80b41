//! Checks values against the types of parameters.

use serde_json::Value;

use crate::parameter::{MAX_DEPTH, ParameterType};
use crate::session::ThoughtId;
use crate::table::Mistyped;

/// The maximum length of a name in a path, in characters.
const MAX_NAME: usize = 100;

impl ParameterType {
    /// Returns the first fault of a value. `place` is the path of the value.
    pub(crate) fn fault(&self, place: &str, value: &Value) -> Option<Mistyped> {
        if !self.fits(value) {
            return Some(match self {
                Self::Any => Mistyped::new(place, self, format!("more than {MAX_DEPTH} levels")),
                _ => Mistyped::of(place, self, value),
            });
        }

        let field_of = |name: &str| {
            // The names of an object come from the model, and may be as long as a reply.
            let name: String = name.chars().take(MAX_NAME).collect();
            format!("{place}.{name}")
        };
        match (self, value) {
            (Self::List { items, .. }, Value::Array(list)) => {
                let mut list = list.iter().enumerate();
                list.find_map(|(index, item)| items.fault(&format!("{place}[{index}]"), item))
            }
            (Self::Map { values }, Value::Object(object)) => {
                let mut object = object.iter();
                object.find_map(|(name, value)| values.fault(&field_of(name), value))
            }
            (Self::Object { fields }, Value::Object(object)) => {
                let mut expected = fields.iter();
                let fault = expected.find_map(|(name, field)| match object.get(name) {
                    Some(value) => field.kind.fault(&field_of(name), value),
                    None if !field.required => None,
                    None => Some(Mistyped::new(&field_of(name), &field.kind, "nothing")),
                });

                // An unknown field is often a misspelt one, so it isn't ignored.
                let unknown = object.iter().find(|(name, _)| !fields.contains_key(*name));
                let unknown =
                    unknown.map(|(name, value)| Mistyped::of(&field_of(name), "nothing", value));
                fault.or(unknown)
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
            (Self::Any, value) => !is_deeper_than(MAX_DEPTH, value),
            (Self::Boolean, Value::Bool(_))
            | (Self::Object { .. } | Self::Map { .. }, Value::Object(_)) => true,
            _ => false,
        }
    }
}

fn within(number: f64, min: Option<f64>, max: Option<f64>) -> bool {
    min.is_none_or(|min| number >= min) && max.is_none_or(|max| number <= max)
}

fn is_deeper_than(levels: usize, value: &Value) -> bool {
    let Some(below) = levels.checked_sub(1) else {
        return true;
    };

    match value {
        Value::Array(list) => list.iter().any(|item| is_deeper_than(below, item)),
        Value::Object(object) => object.values().any(|value| is_deeper_than(below, value)),
        _ => false,
    }
}
