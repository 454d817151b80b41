//! The form that is asked for, which says less than the one that is read: servers support only part
//! of JSON Schema, and the longest reply has to fit into the maximum number of tokens.

use std::borrow::Cow;

use super::{Bounds, Choice, Form, Object, Property, Shape, Text};

/// The keys of an entry of a map, which servers only support as a list of entries.
pub(crate) const ENTRY: [&str; 2] = ["name", "value"];

/// The maximum number of integers that are listed. Servers support lists of values, but not every
/// one supports a minimum and a maximum.
const MAX_INTEGERS: f64 = 32.0;

impl Form {
    /// Returns the form that is asked for.
    pub(crate) fn asked(&self) -> Cow<'_, Self> {
        let mut form = Cow::Borrowed(self);
        if self.is_of_keys {
            form.to_mut().root.offer();
        }
        form
    }
}

impl Shape {
    fn offer(&mut self) {
        match self {
            // Lists and objects are written as JSON in a text.
            Self::Any => {
                let text = Self::Text(Text::default());
                *self = Self::AnyOf(vec![text, Self::number(), Self::Boolean, Self::Null]);
            }
            Self::Integer(bounds) => {
                *self = integers(*bounds).unwrap_or(Self::Integer(Bounds::default()));
            }
            Self::Number { bounds, .. } => *self = integers(*bounds).unwrap_or(Self::number()),
            Self::Map(values) => {
                values.offer();
                *self = entries(std::mem::take(&mut **values));
            }
            Self::Object(object) => {
                // Strict schemas allow no other keys.
                object.others = None;
                object.properties.iter_mut().for_each(Property::offer);
            }
            shape => shape.parts_mut().into_iter().for_each(Self::offer),
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
    fn offer(&mut self) {
        let mut shape = self.offered.take().unwrap_or_else(|| self.shape.clone());
        shape.offer();

        self.shape = match (self.is_wanted, self.is_required) {
            (true, _) => shape.with_null(false),
            (false, true) => shape,
            (false, false) => shape.with_null(true),
        };
        // Strict schemas require every key.
        self.is_required = true;
    }
}

/// Returns a list of names and values.
fn entries(values: Shape) -> Shape {
    let [name, value] = ENTRY;
    let name = Property::new(name, Shape::Text(Text::default()));
    let entry = Object {
        properties: vec![name, Property::new(value, values)],
        ..Object::default()
    };

    Shape::List(Box::new(Shape::Object(entry)), Bounds::default())
}

/// Returns the integers of a small range.
fn integers(bounds: Bounds) -> Option<Shape> {
    let min = bounds.min?.ceil();
    let max = bounds.max?.floor();
    // A range such as the one from 0 to 1 may be meant for fractions.
    if !(2.0..=MAX_INTEGERS).contains(&(max - min)) && min != max {
        return None;
    }

    // The range has few integers, and larger ones have no exact float.
    let range = (min as i64)..=(max as i64);
    let choice = |integer: i64| Choice {
        value: integer.into(),
        description: String::new(),
    };
    Some(Shape::Choice(range.map(choice).collect()))
}
