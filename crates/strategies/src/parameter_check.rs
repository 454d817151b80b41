//! Checks values against the types of parameters.

use serde_json::Value;

use crate::mistyped::Mistyped;
use crate::parameter::{MAX_DEPTH, ParameterType};

/// The maximum number of faults that are reported for one value.
const MAX_FAULTS: usize = 20;

/// The maximum length of a name in a path, in characters. A model may write a very long one, and the
/// path of every item below repeats it.
const MAX_NAME: usize = 100;

impl ParameterType {
    /// Returns the faults of a value, up to 20 of them. `place` is the path of the value.
    pub(crate) fn faults(&self, place: &str, value: &Value) -> Vec<Mistyped> {
        let mut found = Vec::new();
        self.check(place, value, &mut found);
        found
    }

    /// Adds the faults of a value, unless there are enough already.
    fn check(&self, place: &str, value: &Value, found: &mut Vec<Mistyped>) {
        if found.len() >= MAX_FAULTS {
            return;
        }
        if !self.fits(value) {
            found.push(match self {
                Self::Any => Mistyped::new(place, self, format!("more than {MAX_DEPTH} levels")),
                _ => Mistyped::of(place, self, value),
            });
            return;
        }

        match (self, value) {
            (Self::List { items, .. }, Value::Array(list)) => {
                for (index, item) in list.iter().enumerate() {
                    items.check(&format!("{place}[{index}]"), item, found);
                }
            }
            (Self::Map { values }, Value::Object(object)) => {
                for (name, value) in object {
                    values.check(&field_of(place, name), value, found);
                }
            }
            (Self::Object { fields }, Value::Object(object)) => {
                for (name, field) in fields {
                    let place = field_of(place, name);
                    match object.get(name) {
                        Some(value) => field.kind.check(&place, value, found),
                        None if !field.required => {}
                        None => found.push(Mistyped::new(&place, &field.kind, "nothing")),
                    }
                }
                let unknown = object
                    .iter()
                    .filter(|(name, _)| !fields.contains_key(*name));
                for (name, value) in unknown.take(MAX_FAULTS) {
                    found.push(Mistyped::of(&field_of(place, name), "nothing", value));
                }
            }
            _ => {}
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
            (Self::Thought, value) => thought_number(value).is_some(),
            (Self::List { min_items, .. }, Value::Array(list)) => list.len() >= *min_items,
            (Self::Any, value) => !is_deeper_than(MAX_DEPTH, value),
            (Self::Boolean, Value::Bool(_))
            | (Self::Object { .. } | Self::Map { .. }, Value::Object(_)) => true,
            _ => false,
        }
    }

    /// Adds the numbers of the thoughts that a value of this type names to `found`.
    pub(crate) fn thoughts(&self, value: &Value, found: &mut Vec<u32>) {
        match (self, value) {
            (Self::Thought, value) => found.extend(thought_number(value)),
            (Self::List { items, .. }, Value::Array(list)) => {
                list.iter().for_each(|item| items.thoughts(item, found));
            }
            (Self::Map { values }, Value::Object(object)) => {
                object
                    .values()
                    .for_each(|value| values.thoughts(value, found));
            }
            (Self::Object { fields }, Value::Object(object)) => {
                for (name, value) in object {
                    if let Some(field) = fields.get(name) {
                        field.kind.thoughts(value, found);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Returns the path of a field.
fn field_of(place: &str, name: &str) -> String {
    let name: String = name.chars().take(MAX_NAME).collect();
    format!("{place}.{name}")
}

fn within(number: f64, min: Option<f64>, max: Option<f64>) -> bool {
    min.is_none_or(|min| number >= min) && max.is_none_or(|max| number <= max)
}

fn thought_number(value: &Value) -> Option<u32> {
    let number = u32::try_from(value.as_u64()?).ok()?;
    (number > 0).then_some(number)
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
