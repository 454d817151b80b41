//! Checks values against the types of parameters.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};

use crate::mistyped::Mistyped;
use crate::parameter::{MAX_DEPTH, Parameter, ParameterType};

/// The maximum number of faults that are reported for one value.
const MAX_FAULTS: usize = 20;

/// The maximum length of a path, in characters. Messages show a little less.
const MAX_PLACE: usize = 100;

impl ParameterType {
    /// Returns the faults of a value, up to 20 of them. `place` is the path of the value.
    pub(crate) fn faults(&self, place: &str, value: &Value) -> Vec<Mistyped> {
        let mut found = Vec::new();
        check(self, place, value, &mut found);
        found
    }

    /// Adds the numbers of the thoughts that a value of this type names to `found`.
    pub(crate) fn thoughts(&self, value: &Value, found: &mut Vec<u32>) {
        match (self, value) {
            (Self::Thought, value) => found.extend(thought_number(value)),
            (Self::List { items, .. }, Value::Array(list)) => {
                list.iter().for_each(|item| items.thoughts(item, found));
            }
            (Self::Object { fields }, Value::Object(object)) => {
                for (name, field) in fields {
                    if let Some(value) = object.get(name) {
                        field.kind.thoughts(value, found);
                    }
                }
            }
            (Self::Map { values }, Value::Object(object)) => {
                object
                    .values()
                    .for_each(|value| values.thoughts(value, found));
            }
            _ => {}
        }
    }
}

/// Adds the faults of a value, unless there are enough already.
fn check(kind: &ParameterType, place: &str, value: &Value, found: &mut Vec<Mistyped>) {
    if found.len() >= MAX_FAULTS {
        return;
    }

    match (kind, value) {
        (ParameterType::List { items, .. }, Value::Array(list)) => {
            for (index, item) in list.iter().enumerate() {
                check(
                    items,
                    &inside(place, format_args!("[{index}]")),
                    item,
                    found,
                );
            }
        }
        (ParameterType::Object { fields }, Value::Object(object)) => {
            check_fields(fields, place, object, found);
        }
        (ParameterType::Map { values }, Value::Object(object)) => {
            for (name, value) in object {
                check(values, &field_of(place, name), value, found);
            }
        }
        (ParameterType::Any, value) if is_deeper_than(MAX_DEPTH, value) => {
            let levels = format_args!("more than {MAX_DEPTH} levels");
            return found.push(Mistyped::new(place, kind, levels));
        }
        _ => {}
    }

    if !fits(kind, value) {
        found.push(Mistyped::of(place, kind, value));
    }
}

fn check_fields(
    fields: &BTreeMap<String, Parameter>,
    place: &str,
    object: &Map<String, Value>,
    found: &mut Vec<Mistyped>,
) {
    for (name, field) in fields {
        let place = field_of(place, name);
        match object.get(name) {
            Some(value) => check(field.kind(), &place, value, found),
            None if field.is_required() => {
                found.push(Mistyped::new(&place, field.kind(), "nothing"));
            }
            None => {}
        }
    }

    let unknown = object
        .iter()
        .filter(|(name, _)| !fields.contains_key(*name));
    for (name, value) in unknown.take(MAX_FAULTS) {
        found.push(Mistyped::of(&field_of(place, name), "nothing", value));
    }
}

/// Returns whether a value is of the right type, apart from what it contains.
fn fits(kind: &ParameterType, value: &Value) -> bool {
    match (kind, value) {
        (ParameterType::Text { choices }, Value::String(text)) => {
            choices.is_empty() || choices.contains(text)
        }
        // A number without a fraction is an integer, even if it is written as `2.0`.
        (ParameterType::Integer { min, max }, Value::Number(number)) => number
            .as_f64()
            .is_some_and(|number| number.fract() == 0.0 && within(number, *min, *max)),
        (ParameterType::Number { min, max }, Value::Number(number)) => number
            .as_f64()
            .is_some_and(|number| number.is_finite() && within(number, *min, *max)),
        (ParameterType::Thought, value) => thought_number(value).is_some(),
        (ParameterType::List { min_items, .. }, Value::Array(list)) => list.len() >= *min_items,
        (ParameterType::Boolean, Value::Bool(_))
        | (ParameterType::Object { .. } | ParameterType::Map { .. }, Value::Object(_))
        | (ParameterType::Any, _) => true,
        _ => false,
    }
}

/// Returns the path of a field.
fn field_of(place: &str, name: &str) -> String {
    inside(place, format_args!(".{}", start(name)))
}

/// Returns the path of a part of a value.
///
/// The outer path is truncated: a model may write a very long name, and the path of every item
/// below repeats it.
fn inside(place: &str, part: fmt::Arguments<'_>) -> String {
    format!("{}{part}", start(place))
}

/// Returns the first [`MAX_PLACE`] characters.
fn start(text: &str) -> &str {
    match text.char_indices().nth(MAX_PLACE) {
        Some((end, _)) => text.get(..end).unwrap_or_default(),
        None => text,
    }
}

fn within(number: f64, min: Option<f64>, max: Option<f64>) -> bool {
    min.is_none_or(|min| number >= min) && max.is_none_or(|max| number <= max)
}

fn thought_number(value: &Value) -> Option<u32> {
    value
        .as_u64()
        .and_then(|number| u32::try_from(number).ok())
        .filter(|number| *number > 0)
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
