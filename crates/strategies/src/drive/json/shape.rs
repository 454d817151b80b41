//! The structure of a reply in JSON, without the bounds of its texts.

use serde_json::{Number, Value};

use crate::drive::form::{Field, Form, THOUGHT};
use crate::drive::map_entries::{NAME, VALUE};
use crate::drive::narrowing::Narrowing;
use crate::{Parameter, ParameterType};

/// The maximum number of integers that a schema lists. Servers support lists of values, but not
/// every one supports a minimum and a maximum.
const MAX_INTEGERS: f64 = 32.0;

/// The type of a value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Shape {
    Text(TextPlace),
    /// One of these values.
    Choice(Vec<Value>),
    Integer,
    Number,
    Boolean,
    Null,
    AnyOf(Vec<Shape>),
    List {
        items: Box<Shape>,
        min: usize,
        max: usize,
    },
    Object(Vec<Property>),
}

/// Where a text is. Those in lists are shorter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextPlace {
    Field,
    Item,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Property {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) shape: Shape,
}

impl Shape {
    /// Returns the structure of a reply. Lists have at most `max_items` items.
    pub(super) fn of_form(form: &Form, max_items: usize) -> Self {
        let mut properties = Vec::new();
        if !form.asks_for(THOUGHT) {
            properties.push(Property {
                name: THOUGHT.to_owned(),
                description: "your thought".to_owned(),
                shape: Self::Text(TextPlace::Field),
            });
        }

        properties.extend(form.fields.iter().map(|field| of_field(field, max_items)));

        if form.has_choice() {
            properties.push(Property {
                name: form.next_label().to_owned(),
                description: "the name of the stage that is next".to_owned(),
                shape: Self::Choice(stages(form)),
            });
        }

        Self::Object(properties)
    }

    fn of_kind(kind: &ParameterType, max_items: usize, place: TextPlace) -> Self {
        match kind {
            ParameterType::Text { choices } if choices.is_empty() => Self::Text(place),
            ParameterType::Text { choices } => Self::Choice(
                choices
                    .iter()
                    .map(|choice| choice.as_str().into())
                    .collect(),
            ),
            ParameterType::Integer { min, max } => integers(*min, *max).unwrap_or(Self::Integer),
            ParameterType::Number { min, max } => integers(*min, *max).unwrap_or(Self::Number),
            ParameterType::Boolean => Self::Boolean,
            ParameterType::Thought => Self::Integer,
            ParameterType::List { items, min_items } => Self::List {
                items: Box::new(Self::of_kind(items, inner(max_items), TextPlace::Item)),
                min: *min_items,
                max: max_items.max(*min_items),
            },
            ParameterType::Object { fields } => Self::Object(
                fields
                    .iter()
                    .map(|(name, field)| of_parameter(name, field, inner(max_items)))
                    .collect(),
            ),
            ParameterType::Map { values } => Self::of_map(values, max_items),
            ParameterType::Any => Self::any(place),
        }
    }

    /// Returns a list of names and values, because servers don't support objects with other
    /// properties.
    fn of_map(values: &ParameterType, max_items: usize) -> Self {
        let property = |name: &str, shape| Property {
            name: name.to_owned(),
            description: String::new(),
            shape,
        };

        let entry = Self::Object(vec![
            property(NAME, Self::Text(TextPlace::Item)),
            property(
                VALUE,
                Self::of_kind(values, inner(max_items), TextPlace::Item),
            ),
        ]);

        Self::List {
            items: Box::new(entry),
            min: 0,
            max: max_items,
        }
    }

    /// Returns any value. Objects and lists are written as JSON in a text, because their structure
    /// is unknown.
    fn any(place: TextPlace) -> Self {
        Self::AnyOf(vec![
            Self::Text(place),
            Self::Number,
            Self::Boolean,
            Self::Null,
        ])
    }

    /// Requires at least this many items of a list.
    fn with_min_items(self, items: usize) -> Self {
        match self {
            Self::List {
                items: shape,
                min,
                max,
            } => Self::List {
                items: shape,
                min: min.max(items),
                max: max.max(items),
            },
            shape => shape,
        }
    }

    fn nullable(self) -> Self {
        match self {
            Self::AnyOf(mut shapes) => {
                if !shapes.contains(&Self::Null) {
                    shapes.push(Self::Null);
                }
                Self::AnyOf(shapes)
            }
            shape => Self::AnyOf(vec![shape, Self::Null]),
        }
    }

    fn not_null(self) -> Self {
        match self {
            Self::AnyOf(mut shapes) => {
                shapes.retain(|shape| *shape != Self::Null);
                Self::AnyOf(shapes)
            }
            shape => shape,
        }
    }
}

/// Returns the names of the stages that may be next.
fn stages(form: &Form) -> Vec<Value> {
    if form.narrowed_next.is_empty() {
        return form
            .next
            .iter()
            .map(|(name, _)| name.as_str().into())
            .collect();
    }

    form.narrowed_next
        .iter()
        .map(|name| name.as_str().into())
        .collect()
}

/// Returns the property of a field.
fn of_field(field: &Field, max_items: usize) -> Property {
    let Field {
        name,
        parameter,
        narrowing,
    } = field;

    let Narrowing {
        choices,
        kind,
        min_items: least,
        max_items: most,
        is_required,
    } = narrowing;

    let max_items = most.map_or(max_items, |most| most.min(max_items));
    let shape = if choices.is_empty() {
        let kind = kind.as_ref().unwrap_or(parameter.kind());
        Shape::of_kind(kind, max_items, TextPlace::Field).with_min_items(least.unwrap_or_default())
    } else {
        Shape::Choice(choices.clone())
    };

    let shape = if parameter.is_required() || *is_required {
        shape.not_null()
    } else {
        shape.nullable()
    };

    Property {
        name: name.clone(),
        description: parameter.description().to_owned(),
        shape,
    }
}

/// Returns the property of a field of an object.
fn of_parameter(name: &str, parameter: &Parameter, max_items: usize) -> Property {
    let shape = Shape::of_kind(parameter.kind(), max_items, TextPlace::Item);
    let shape = if parameter.is_required() {
        shape
    } else {
        shape.nullable()
    };

    Property {
        name: name.to_owned(),
        description: parameter.description().to_owned(),
        shape,
    }
}

/// Returns the maximum number of items of a list inside a list with at most `max_items`.
fn inner(max_items: usize) -> usize {
    (max_items / 2).max(1)
}

/// Returns the integers of a small range.
fn integers(min: Option<f64>, max: Option<f64>) -> Option<Shape> {
    let min = min?.ceil();
    let max = max?.floor();
    // A range such as the one from 0 to 1 may be meant for fractions.
    if !(2.0..=MAX_INTEGERS).contains(&(max - min)) && min != max {
        return None;
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "the range has few integers, and larger ones have no exact double"
    )]
    let range = (min as i64)..=(max as i64);
    Some(Shape::Choice(
        range.map(Number::from).map(Value::Number).collect(),
    ))
}
