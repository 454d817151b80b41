use std::collections::BTreeMap;
use std::fmt;

use cogwork_read::charge;
use cogwork_text::{Name, NameList};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::mistyped::Mistyped;

/// A parameter of the thoughts in a stage.
///
/// | key | what it is |
/// |---|---|
/// | `type` | see [`ParameterType`] |
/// | `description` | what the model is told about it |
/// | `required` | `true` unless given |
/// | `min`, `max` | of an integer or a number; no bound unless given |
/// | `choices` | of a text: the texts it may be; any unless given |
/// | `items` | of a list: the parameter that each item is, with a `type` |
/// | `min_items` | of a list; 0 unless given |
/// | `fields` | of an object: parameters by name |
/// | `values` | of a map: the parameter that each value is, with a `type` |
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    pub(crate) description: String,
    pub(crate) required: bool,
    pub(crate) kind: ParameterType,
}

/// The type of a parameter.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ParameterType {
    /// `text`: any text, or one of the choices if there are some.
    Text {
        /// The accepted texts. If it is empty, any text is accepted.
        choices: Vec<String>,
    },
    /// `integer`.
    Integer {
        /// The minimum, which is included.
        min: Option<f64>,
        /// The maximum, which is included.
        max: Option<f64>,
    },
    /// `number`.
    Number {
        /// The minimum, which is included.
        min: Option<f64>,
        /// The maximum, which is included.
        max: Option<f64>,
    },
    /// `boolean`.
    Boolean,
    /// `thought`: the number of a thought. The session checks that the thought exists.
    Thought,
    /// `list`.
    List {
        /// The type of the items.
        items: Box<ParameterType>,
        /// The minimum number of items.
        min_items: usize,
    },
    /// `object`: exactly these fields.
    Object {
        /// The fields by name.
        fields: BTreeMap<String, Parameter>,
    },
    /// `map`: values of one type, under any names.
    Map {
        /// The type of the values.
        values: Box<ParameterType>,
    },
    /// `any`: any JSON, up to 32 levels deep.
    Any,
}

/// The maximum depth of a parameter of the type `any`.
const MAX_DEPTH: usize = 32;

/// The maximum number of faults that are reported for one value.
const MAX_FAULTS: usize = 20;

/// The maximum length of a path, in characters. Messages show a little less.
const MAX_PLACE: usize = 100;

impl Parameter {
    /// Creates a required parameter. The model reads the description.
    pub fn new(kind: ParameterType, description: impl Into<String>) -> Self {
        Self {
            description: description.into(),
            required: true,
            kind,
        }
    }

    /// Creates a required parameter that accepts any text.
    pub fn text(description: impl Into<String>) -> Self {
        Self::new(
            ParameterType::Text {
                choices: Vec::new(),
            },
            description,
        )
    }

    /// Makes the parameter optional.
    #[must_use]
    pub fn optional(mut self) -> Self {
        self.required = false;
        self
    }

    /// Returns the description for the model.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Returns whether a thought must have the parameter.
    pub fn is_required(&self) -> bool {
        self.required
    }

    /// Returns the type.
    pub fn kind(&self) -> &ParameterType {
        &self.kind
    }
}

impl ParameterType {
    /// The names of all types in tables.
    pub(crate) const NAMES: [&'static str; 9] = [
        "text", "integer", "number", "boolean", "thought", "list", "object", "map", "any",
    ];

    /// Returns the name of the type in tables.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Text { .. } => "text",
            Self::Integer { .. } => "integer",
            Self::Number { .. } => "number",
            Self::Boolean => "boolean",
            Self::Thought => "thought",
            Self::List { .. } => "list",
            Self::Object { .. } => "object",
            Self::Map { .. } => "map",
            Self::Any => "any",
        }
    }

    /// Adds the faults of a value to `faults`. `place` is the path of the value.
    pub(crate) fn check(&self, place: &str, value: &Value, faults: &mut Vec<Mistyped>) {
        if faults.len() >= MAX_FAULTS {
            return;
        }

        charge(1);
        let fits = match (self, value) {
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
            (Self::Boolean, Value::Bool(_)) => true,
            (Self::Thought, value) => thought_number(value).is_some(),
            (Self::List { items, min_items }, Value::Array(list)) => {
                for (index, item) in list.iter().enumerate() {
                    items.check(&inside(place, format_args!("[{index}]")), item, faults);
                    if faults.len() >= MAX_FAULTS {
                        break;
                    }
                }

                list.len() >= *min_items
            }
            (Self::Object { fields }, Value::Object(object)) => {
                for (name, field) in fields {
                    let place = field_of(place, name);
                    match object.get(name) {
                        Some(value) => field.kind.check(&place, value, faults),
                        None if field.required => {
                            faults.push(Mistyped::new(&place, &field.kind, "nothing"))
                        }
                        None => {}
                    }
                }

                for (name, value) in object
                    .iter()
                    .filter(|(name, _)| !fields.contains_key(*name))
                    .take(MAX_FAULTS)
                {
                    faults.push(Mistyped::new(
                        &field_of(place, name),
                        "nothing",
                        shown(value),
                    ));
                }

                true
            }
            (Self::Map { values }, Value::Object(object)) => {
                for (name, value) in object {
                    values.check(&field_of(place, name), value, faults);
                    if faults.len() >= MAX_FAULTS {
                        break;
                    }
                }

                true
            }
            (Self::Any, value) => {
                if !is_deeper_than(MAX_DEPTH, value) {
                    return;
                }

                faults.push(Mistyped::new(
                    place,
                    self,
                    format!("more than {MAX_DEPTH} levels"),
                ));

                return;
            }
            _ => false,
        };

        if !fits {
            faults.push(Mistyped::new(place, self, shown(value)));
        }
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

/// Returns the path of a field.
fn field_of(place: &str, name: &str) -> String {
    charge(name.len().min(MAX_PLACE));
    inside(place, format_args!(".{}", start(name)))
}

/// Returns the path of a part of a value.
///
/// The outer path is truncated: a model may write a very long name, and the path of every item
/// below repeats it.
fn inside(place: &str, part: fmt::Arguments<'_>) -> String {
    charge(1 + place.len().min(MAX_PLACE));
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

/// Writes what is accepted, as in `a number from 0 to 10`.
impl fmt::Display for ParameterType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let range =
            |f: &mut fmt::Formatter<'_>, min: &Option<f64>, max: &Option<f64>| match (min, max) {
                (Some(min), Some(max)) => write!(f, " from {min} to {max}"),
                (Some(min), None) => write!(f, " of at least {min}"),
                (None, Some(max)) => write!(f, " of at most {max}"),
                (None, None) => Ok(()),
            };
        match self {
            Self::Text { choices } if choices.is_empty() => f.write_str("a text"),
            Self::Text { choices } => write!(f, "one of {}", NameList::and(choices)),
            Self::Integer { min, max } => {
                f.write_str("an integer").and_then(|()| range(f, min, max))
            }
            Self::Number { min, max } => f.write_str("a number").and_then(|()| range(f, min, max)),
            Self::Boolean => f.write_str("true or false"),
            Self::Thought => f.write_str("the number of a thought"),
            Self::List { min_items: 0, .. } => f.write_str("a list"),
            Self::List { min_items: 1, .. } => f.write_str("a list that is not empty"),
            Self::List { min_items, .. } => write!(f, "a list of at least {min_items} items"),
            Self::Object { fields } => {
                let names: Vec<&str> = fields.keys().map(String::as_str).collect();
                write!(f, "an object with {}", NameList::and(&names))
            }
            Self::Map { .. } => f.write_str("an object"),
            Self::Any => write!(f, "JSON of at most {MAX_DEPTH} levels"),
        }
    }
}

/// Serialises the parameter in the form of a table.
impl Serialize for Parameter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", self.kind.name())?;
        if !self.description.is_empty() {
            map.serialize_entry("description", &self.description)?;
        }

        if !self.required {
            map.serialize_entry("required", &false)?;
        }

        self.kind.write_keys(&mut map)?;
        map.end()
    }
}

impl ParameterType {
    fn write_keys<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        match self {
            Self::Text { choices } if !choices.is_empty() => {
                map.serialize_entry("choices", choices)
            }
            Self::Integer { min, max } | Self::Number { min, max } => {
                min.iter()
                    .try_for_each(|min| map.serialize_entry("min", min))?;
                max.iter()
                    .try_for_each(|max| map.serialize_entry("max", max))
            }
            Self::List { items, min_items } => {
                if *min_items > 0 {
                    map.serialize_entry("min_items", min_items)?;
                }
                map.serialize_entry("items", &Inner(items))
            }
            Self::Object { fields } => map.serialize_entry("fields", fields),
            Self::Map { values } => map.serialize_entry("values", &Inner(values)),
            Self::Text { .. } | Self::Boolean | Self::Thought | Self::Any => Ok(()),
        }
    }
}

/// The type of an item, which has no description.
struct Inner<'a>(&'a ParameterType);

impl Serialize for Inner<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", self.0.name())?;
        self.0.write_keys(&mut map)?;

        map.end()
    }
}

/// Describes a value in a few words, as in `the text "abc"`, `12` or `a list`.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => format!("the text \"{}\"", Name(text)),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}
