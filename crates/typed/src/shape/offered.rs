//! The form that is asked for, which says less than the one that is read: servers support only part
//! of JSON Schema, and the longest reply has to fit into the maximum number of tokens.

use super::{Bounds, Choice, Form, Object, Others, Property, Shape, Text};

/// The keys of an entry of a map, which servers only support as a list of entries.
pub(crate) const ENTRY: [&str; 2] = ["name", "value"];

/// The maximum number of integers that are listed. Servers support lists of values, but not every
/// one supports a minimum and a maximum.
const MAX_INTEGERS: f64 = 32.0;

impl Form {
    /// Returns the form that is asked for.
    pub(crate) fn offered(&self) -> Self {
        Self {
            root: self.root.offered(),
            ..self.clone()
        }
    }
}

impl Shape {
    fn offered(&self) -> Self {
        match self {
            // Lists and objects are written as JSON in a text.
            Self::Any => Self::AnyOf(vec![
                Self::Text(Text::default()),
                Self::number(),
                Self::Boolean,
                Self::Null,
            ]),
            Self::Integer(bounds) => integers(*bounds).unwrap_or(Self::Integer(Bounds::default())),
            Self::Number { bounds, .. } => integers(*bounds).unwrap_or(Self::number()),
            Self::List(items, bounds) => Self::List(Box::new(items.offered()), *bounds),
            Self::Tuple(items) => Self::Tuple(items.iter().map(Self::offered).collect()),
            Self::Map(values) => entries(values),
            Self::Object(object) => Self::Object(Object {
                properties: object.properties.iter().map(Property::offered).collect(),
                others: Others::Denied,
            }),
            Self::AnyOf(shapes) => Self::AnyOf(shapes.iter().map(Self::offered).collect()),
            shape => shape.clone(),
        }
    }

    fn number() -> Self {
        Self::Number {
            bounds: Bounds::default(),
            is_single: false,
        }
    }

    fn with_null(self, is_nullable: bool) -> Self {
        let mut shapes = match self {
            Self::AnyOf(shapes) => shapes,
            shape => vec![shape],
        };

        shapes.retain(|shape| *shape != Self::Null);
        if is_nullable {
            shapes.push(Self::Null);
        }
        match shapes.len() {
            1 => shapes.swap_remove(0),
            _ => Self::AnyOf(shapes),
        }
    }
}

impl Property {
    fn offered(&self) -> Self {
        let shape = self.offered.as_ref().unwrap_or(&self.shape).offered();
        let shape = match (self.is_wanted, self.is_required) {
            (true, _) => shape.with_null(false),
            (false, true) => shape,
            (false, false) => shape.with_null(true),
        };

        Self {
            shape,
            is_required: true,
            offered: None,
            ..self.clone()
        }
    }
}

/// Returns a list of names and values.
fn entries(values: &Shape) -> Shape {
    let [name, value] = ENTRY;
    let entry = Shape::Object(Object {
        properties: vec![
            Property::new(name, Shape::Text(Text::default())),
            Property::new(value, values.offered()),
        ],
        others: Others::Denied,
    });

    Shape::List(Box::new(entry), Bounds::default())
}

/// Returns the integers of a small range.
fn integers(bounds: Bounds) -> Option<Shape> {
    let min = bounds.min?.ceil();
    let max = bounds.max?.floor();
    // A range such as the one from 0 to 1 may be meant for fractions.
    if !(2.0..=MAX_INTEGERS).contains(&(max - min)) && min != max {
        return None;
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "the range has few integers, and larger ones have no exact float"
    )]
    let range = (min as i64)..=(max as i64);
    let choice = |integer: i64| Choice {
        value: integer.into(),
        description: String::new(),
    };
    Some(Shape::Choice(range.map(choice).collect()))
}
