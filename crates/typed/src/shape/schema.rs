//! The JSON Schemas for servers.
//!
//! Every property is required, and one that may be left out may be null instead, since the strict
//! mode of OpenAI has no other way. The properties keep their order, in which models write them.

use std::collections::BTreeSet;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::{ANSWER, Bounds, Form, Object, Others, Shape, Text};

/// What a schema may contain.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Keywords {
    /// Bounds, and objects with any keys.
    All,
    /// Only what the strict mode of OpenAI supports.
    Strict,
}

impl Form {
    /// Returns the JSON Schema of an answer, with its bounds.
    pub(crate) fn schema(&self) -> String {
        self.written(Keywords::All)
    }

    /// Returns the JSON Schema without bounds and recursion, or `None` if the answer has parts that
    /// such a schema can't describe.
    pub(crate) fn flat_schema(&self) -> Option<String> {
        let is_strict = self.is_strict(&self.root, &mut BTreeSet::new())
            && self
                .definitions
                .values()
                .all(|shape| self.is_strict(shape, &mut BTreeSet::new()));

        is_strict.then(|| self.written(Keywords::Strict))
    }

    fn written(&self, keywords: Keywords) -> String {
        let root = Root {
            form: self,
            keywords,
        };

        // Every key is a text, so this doesn't fail.
        serde_json::to_string(&root).unwrap_or_default()
    }

    /// Returns whether a shape can be described in strict mode, without recursion.
    fn is_strict<'f>(&'f self, shape: &'f Shape, inside: &mut BTreeSet<&'f str>) -> bool {
        match shape {
            Shape::Any | Shape::Map(_) | Shape::Tuple(_) => false,
            Shape::List(items, _) => self.is_strict(items, inside),
            Shape::AnyOf(shapes) => shapes.iter().all(|shape| self.is_strict(shape, inside)),
            Shape::Object(object) => {
                !matches!(object.others, Others::Kept(_))
                    && object
                        .properties
                        .iter()
                        .all(|property| self.is_strict(&property.shape, inside))
            }
            Shape::Ref(name) => {
                let Some(definition) = self.definitions.get(name) else {
                    return false;
                };
                if !inside.insert(name) {
                    return false;
                }

                // Each definition is checked by itself, so deeper ones needn't be followed twice.
                let is_strict = self.is_strict(definition, inside);
                inside.remove(name.as_str());
                is_strict
            }
            _ => true,
        }
    }
}

/// The schema of an answer: always an object.
struct Root<'f> {
    form: &'f Form,
    keywords: Keywords,
}

impl Serialize for Root<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { form, keywords } = *self;
        let mut map = serializer.serialize_map(None)?;

        if form.is_wrapped() {
            let root = Schema::new(&form.root, keywords);
            map.serialize_entry("type", "object")?;
            map.serialize_entry("properties", &OneEntry(ANSWER, &root))?;
            map.serialize_entry("required", &[ANSWER])?;
            map.serialize_entry("additionalProperties", &false)?;
        } else {
            let root = Schema::new(form.resolve(&form.root), keywords);
            root.entries(&mut map)?;
        }

        if !form.definitions.is_empty() {
            let definitions = form
                .definitions
                .iter()
                .map(|(name, shape)| (name, Schema::new(shape, keywords)));
            map.serialize_entry("$defs", &Entries(definitions.collect()))?;
        }

        map.end()
    }
}

struct OneEntry<'a>(&'static str, &'a Schema<'a>);

impl Serialize for OneEntry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(self.0, self.1)?;
        map.end()
    }
}

struct Entries<'a>(Vec<(&'a String, Schema<'a>)>);

impl Serialize for Entries<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, schema)| (name, schema)))
    }
}

/// The schema of a value.
struct Schema<'a> {
    shape: &'a Shape,
    keywords: Keywords,
    description: &'a str,
    /// Whether the value may be null in addition to its shape.
    or_null: bool,
}

impl<'a> Schema<'a> {
    fn new(shape: &'a Shape, keywords: Keywords) -> Self {
        Self {
            shape,
            keywords,
            description: "",
            or_null: false,
        }
    }

    fn entries<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        if !self.description.is_empty() {
            map.serialize_entry("description", self.description)?;
        }
        if self.or_null {
            let value = Schema::new(self.shape, self.keywords);
            let null = Schema::new(&Shape::Null, self.keywords);
            return map.serialize_entry("anyOf", &[value, null]);
        }
        if let Some(name) = type_name(self.shape) {
            map.serialize_entry("type", name)?;
        }

        let inner = |shape| Schema::new(shape, self.keywords);
        match self.shape {
            Shape::Integer(bounds) | Shape::Number { bounds, .. } => {
                self.bounds(map, *bounds, "minimum", "maximum")
            }
            Shape::Text(text) => self.text(map, text),
            Shape::Choice(choices) => {
                let values: Vec<&Value> = choices.iter().map(|choice| &choice.value).collect();
                map.serialize_entry("enum", &values)
            }
            Shape::List(items, bounds) => {
                map.serialize_entry("items", &inner(items))?;
                self.bounds(map, *bounds, "minItems", "maxItems")
            }
            Shape::Tuple(items) => {
                let schemas: Vec<_> = items.iter().map(inner).collect();
                map.serialize_entry("prefixItems", &schemas)?;
                map.serialize_entry("minItems", &items.len())?;
                map.serialize_entry("maxItems", &items.len())
            }
            Shape::Map(values) => map.serialize_entry("additionalProperties", &inner(values)),
            Shape::Object(object) => self.object(map, object),
            Shape::AnyOf(shapes) => {
                let schemas: Vec<_> = shapes.iter().map(inner).collect();
                map.serialize_entry("anyOf", &schemas)
            }
            Shape::Ref(name) => {
                let name = name.replace('~', "~0").replace('/', "~1");
                map.serialize_entry("$ref", &format!("#/$defs/{name}"))
            }
            Shape::Any | Shape::Null | Shape::Boolean => Ok(()),
        }
    }

    fn bounds<M: SerializeMap>(
        &self,
        map: &mut M,
        bounds: Bounds,
        min: &str,
        max: &str,
    ) -> Result<(), M::Error> {
        if self.keywords == Keywords::Strict {
            return Ok(());
        }

        if let Some(value) = bounds.min {
            map.serialize_entry(min, &number(value))?;
        }
        if let Some(value) = bounds.max {
            map.serialize_entry(max, &number(value))?;
        }
        Ok(())
    }

    fn text<M: SerializeMap>(&self, map: &mut M, text: &Text) -> Result<(), M::Error> {
        if self.keywords == Keywords::Strict {
            return Ok(());
        }

        if let Some(format) = &text.format {
            map.serialize_entry("format", format)?;
        }
        if let Some(pattern) = &text.pattern {
            map.serialize_entry("pattern", pattern)?;
        }
        self.bounds(map, text.bounds, "minLength", "maxLength")
    }

    fn object<M: SerializeMap>(&self, map: &mut M, object: &Object) -> Result<(), M::Error> {
        let names: Vec<&String> = object
            .properties
            .iter()
            .map(|property| &property.name)
            .collect();
        let schemas = object.properties.iter().map(|property| {
            let schema = Schema {
                description: &property.description,
                or_null: !property.is_required && !is_null_option(&property.shape),
                ..Schema::new(&property.shape, self.keywords)
            };
            (&property.name, schema)
        });

        map.serialize_entry("properties", &Entries(schemas.collect()))?;
        map.serialize_entry("required", &names)?;

        match &object.others {
            Others::Kept(values) => {
                let values = Schema::new(values, self.keywords);
                map.serialize_entry("additionalProperties", &values)
            }
            Others::Denied | Others::Ignored => map.serialize_entry("additionalProperties", &false),
        }
    }
}

impl Serialize for Schema<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.entries(&mut map)?;
        map.end()
    }
}

/// Returns whether a schema allows null by itself.
fn is_null_option(shape: &Shape) -> bool {
    match shape {
        Shape::Any | Shape::Null => true,
        Shape::AnyOf(shapes) => shapes.contains(&Shape::Null),
        _ => false,
    }
}

/// Writes a bound without a fraction if it has none, since lengths are integers.
#[expect(
    clippy::cast_possible_truncation,
    reason = "larger bounds keep the form of a float"
)]
fn number(value: f64) -> Value {
    let is_whole = value.fract() == 0.0 && value.abs() < 9e15;
    if is_whole {
        Value::from(value as i64)
    } else {
        Value::from(value)
    }
}

fn type_name(shape: &Shape) -> Option<&'static str> {
    match shape {
        Shape::Text(_) => Some("string"),
        Shape::Choice(choices) if choices.iter().all(|choice| choice.value.is_string()) => {
            Some("string")
        }
        Shape::Choice(choices) if choices.iter().all(|choice| choice.value.is_i64()) => {
            Some("integer")
        }
        Shape::Integer(_) => Some("integer"),
        Shape::Number { .. } => Some("number"),
        Shape::Boolean => Some("boolean"),
        Shape::Null => Some("null"),
        Shape::List(..) | Shape::Tuple(_) => Some("array"),
        Shape::Object(_) | Shape::Map(_) => Some("object"),
        Shape::Choice(_) | Shape::AnyOf(_) | Shape::Any | Shape::Ref(_) => None,
    }
}
