//! The JSON Schemas of a reply.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::shape::{Property, Shape, TextPlace};
use crate::drive::form::Form;

/// The maximum number of characters of a text. llama.cpp doesn't support a bound of 2,000.
const MAX_FIELD: usize = 1900;

/// The maximum number of characters of a text in a list.
const MAX_ITEM: usize = 400;

/// The least number of characters of a text in a list.
const MIN_ITEM: usize = 24;

/// How many times as long as a text in a list other texts are.
const FIELD_TO_ITEM: usize = 4;

/// The maximum number of items of a list: the largest that leaves enough room for texts is used.
const ITEMS: [usize; 8] = [20, 12, 8, 6, 4, 3, 2, 1];

/// The number of characters per token outside of texts.
const CHARACTERS_A_TOKEN: usize = 3;

/// Returns the JSON Schema of a reply whose longest form takes at most this many tokens. Returns
/// `None` if there is none.
///
/// Each character of a text counts as one token, and everything else as one token per three
/// characters.
pub(in crate::drive) fn bounded(form: &Form, max_tokens: usize) -> Option<String> {
    ITEMS.into_iter().find_map(|items| {
        let shape = Shape::of_form(form, items);
        let bounds = Bounds::fit(Size::of(&shape, 0), max_tokens)?;
        Some(written(&shape, Some(bounds)))
    })
}

/// Returns the JSON Schema of a reply without bounds, for servers that support only part of JSON
/// Schema, such as the strict mode of OpenAI.
pub(in crate::drive) fn flat(form: &Form) -> String {
    written(&Shape::of_form(form, usize::MAX), None)
}

fn written(shape: &Shape, bounds: Option<Bounds>) -> String {
    let schema = Schema {
        shape,
        bounds,
        description: "",
    };

    // Every key is a text, so this doesn't fail.
    serde_json::to_string(&schema).unwrap_or_default()
}

/// The maximum numbers of characters of texts.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    field: usize,
    item: usize,
}

impl Bounds {
    fn fit(size: Size, max_tokens: usize) -> Option<Self> {
        let around = size.around.div_ceil(CHARACTERS_A_TOKEN);
        let left = max_tokens.checked_sub(around)?;
        let parts = size
            .fields
            .saturating_mul(FIELD_TO_ITEM)
            .saturating_add(size.items);

        let item = left / parts.max(1);
        (item >= MIN_ITEM).then(|| Self {
            field: (item * FIELD_TO_ITEM).min(MAX_FIELD),
            item: item.min(MAX_ITEM),
        })
    }

    fn of(self, place: TextPlace) -> usize {
        match place {
            TextPlace::Field => self.field,
            TextPlace::Item => self.item,
        }
    }
}

/// The size of the longest value of a shape.
#[derive(Debug, Clone, Copy, Default)]
struct Size {
    /// The number of characters outside of texts.
    around: usize,
    /// The number of texts outside of lists.
    fields: usize,
    /// The number of texts in lists.
    items: usize,
}

/// The number of characters of a number.
const NUMBER: usize = 20;

/// The number of characters around a property: quotes, a colon, a blank, a comma and a line break.
const AROUND_PROPERTY: usize = 6;

/// The number of characters after an item: a comma and a line break.
const AROUND_ITEM: usize = 2;

/// The number of characters of two brackets and a line break.
const BRACKETS: usize = 3;

impl Size {
    /// Returns the size of a value at a depth of nesting. Each level is indented by two blanks.
    fn of(shape: &Shape, depth: usize) -> Self {
        let indent = 2 * depth;
        let brackets = Self::around(BRACKETS + indent);

        match shape {
            Shape::Text(TextPlace::Field) => Self {
                around: 2,
                fields: 1,
                items: 0,
            },
            Shape::Text(TextPlace::Item) => Self {
                around: 2,
                fields: 0,
                items: 1,
            },
            Shape::Choice(choices) => {
                let lengths = choices.iter().map(|choice| choice.to_string().len());
                Self::around(lengths.max().unwrap_or_default())
            }
            Shape::Integer | Shape::Number => Self::around(NUMBER),
            Shape::Boolean | Shape::Null => Self::around(5),
            Shape::AnyOf(shapes) => shapes
                .iter()
                .map(|shape| Self::of(shape, depth))
                .fold(Self::default(), Self::longer),
            Shape::List { items, max, .. } => Self::of(items, depth + 1)
                .plus(Self::around(AROUND_ITEM + indent + 2))
                .times(*max)
                .plus(brackets),
            Shape::Object(properties) => {
                let property = |property: &Property| {
                    let around = property.name.len() + AROUND_PROPERTY + indent + 2;
                    Self::of(&property.shape, depth + 1).plus(Self::around(around))
                };
                properties.iter().map(property).fold(brackets, Self::plus)
            }
        }
    }

    fn around(around: usize) -> Self {
        Self {
            around,
            ..Self::default()
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            around: self.around.saturating_add(other.around),
            fields: self.fields.saturating_add(other.fields),
            items: self.items.saturating_add(other.items),
        }
    }

    fn longer(self, other: Self) -> Self {
        Self {
            around: self.around.max(other.around),
            fields: self.fields.max(other.fields),
            items: self.items.max(other.items),
        }
    }

    fn times(self, times: usize) -> Self {
        Self {
            around: self.around.saturating_mul(times),
            fields: self.fields.saturating_mul(times),
            items: self.items.saturating_mul(times),
        }
    }
}

/// A JSON Schema. The properties keep their order, in which models write them.
struct Schema<'a> {
    shape: &'a Shape,
    bounds: Option<Bounds>,
    description: &'a str,
}

impl<'a> Schema<'a> {
    fn inner(&self, shape: &'a Shape) -> Self {
        Self {
            shape,
            bounds: self.bounds,
            description: "",
        }
    }
}

impl Serialize for Schema<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(name) = type_name(self.shape) {
            map.serialize_entry("type", name)?;
        }
        if !self.description.is_empty() {
            map.serialize_entry("description", self.description)?;
        }

        match self.shape {
            Shape::Text(place) => {
                if let Some(bounds) = self.bounds {
                    map.serialize_entry("minLength", &1)?;
                    map.serialize_entry("maxLength", &bounds.of(*place))?;
                }
            }
            Shape::Choice(choices) => map.serialize_entry("enum", choices)?,
            Shape::AnyOf(shapes) => {
                let schemas: Vec<_> = shapes.iter().map(|shape| self.inner(shape)).collect();
                map.serialize_entry("anyOf", &schemas)?;
            }
            Shape::List { items, min, max } => {
                map.serialize_entry("items", &self.inner(items))?;
                if self.bounds.is_some() {
                    map.serialize_entry("minItems", min)?;
                    map.serialize_entry("maxItems", max)?;
                }
            }
            Shape::Object(properties) => {
                let names: Vec<&str> = properties
                    .iter()
                    .map(|property| property.name.as_str())
                    .collect();
                let properties = Properties {
                    schema: self,
                    properties,
                };

                map.serialize_entry("properties", &properties)?;
                map.serialize_entry("required", &names)?;
                map.serialize_entry("additionalProperties", &false)?;
            }
            Shape::Integer | Shape::Number | Shape::Boolean | Shape::Null => {}
        }

        map.end()
    }
}

/// The properties of an object by name.
struct Properties<'a> {
    schema: &'a Schema<'a>,
    properties: &'a [Property],
}

impl Serialize for Properties<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.properties.len()))?;
        for property in self.properties {
            let schema = Schema {
                description: &property.description,
                ..self.schema.inner(&property.shape)
            };
            map.serialize_entry(&property.name, &schema)?;
        }

        map.end()
    }
}

fn type_name(shape: &Shape) -> Option<&'static str> {
    match shape {
        Shape::Text(_) => Some("string"),
        Shape::Choice(choices) if choices.iter().all(|choice| choice.is_string()) => Some("string"),
        Shape::Choice(choices) if choices.iter().all(|choice| choice.is_i64()) => Some("integer"),
        Shape::Integer => Some("integer"),
        Shape::Number => Some("number"),
        Shape::Boolean => Some("boolean"),
        Shape::Null => Some("null"),
        Shape::List { .. } => Some("array"),
        Shape::Object(_) => Some("object"),
        Shape::Choice(_) | Shape::AnyOf(_) => None,
    }
}
