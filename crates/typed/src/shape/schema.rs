//! The JSON Schemas for servers.
//!
//! Every property is required, and one that may be left out may be null instead, since the strict
//! mode of OpenAI has no other way. The properties keep their order, in which models write them.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use super::{ANSWER, Bounds, Form, Others, Property, Shape, Text};

/// What a schema may contain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Keywords {
    /// Bounds, and objects with any keys.
    All,
    /// Only what the strict mode of OpenAI supports.
    Strict,
}

impl Form {
    /// Returns the JSON Schema of an answer, with its bounds.
    pub(crate) fn schema(&self) -> String {
        self.with(Keywords::All)
    }

    /// Returns the JSON Schema without bounds and recursion, or `None` if the answer has parts that
    /// such a schema can't describe.
    pub(crate) fn flat_schema(&self) -> Option<String> {
        let is_strict = self.is_strict(&self.root, &mut BTreeSet::new())
            && self
                .definitions
                .values()
                .all(|shape| self.is_strict(shape, &mut BTreeSet::new()));

        is_strict.then(|| self.with(Keywords::Strict))
    }

    /// Writes the schema of an answer, which is always an object.
    pub(super) fn with(&self, keywords: Keywords) -> String {
        let mut entries = if self.is_wrapped() {
            keywords.properties([(ANSWER, keywords.schema(&self.root))], written(&false))
        } else {
            keywords.entries(self.resolve(&self.root))
        };

        if !self.definitions.is_empty() {
            let definitions = self.definitions.iter();
            let definitions = definitions.map(|(name, shape)| (name, keywords.schema(shape)));
            entries.push(("$defs", object(definitions)));
        }
        object(entries)
    }

    /// Returns whether a shape can be described in strict mode, without recursion.
    fn is_strict<'f>(&'f self, shape: &'f Shape, inside: &mut BTreeSet<&'f str>) -> bool {
        match shape {
            Shape::Any | Shape::Map(_) | Shape::Tuple(_) => false,
            Shape::Object(object) if matches!(object.others, Others::Kept(_)) => false,
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
            shape => {
                let mut parts = shape.parts().into_iter();
                parts.all(|part| self.is_strict(part, inside))
            }
        }
    }
}

/// The keywords of a schema, with their values in JSON.
type Entries = Vec<(&'static str, String)>;

impl Keywords {
    fn schema(self, shape: &Shape) -> String {
        object(self.entries(shape))
    }

    fn schemas<'s>(self, shapes: impl IntoIterator<Item = &'s Shape>) -> String {
        let schemas: Vec<String> = shapes.into_iter().map(|shape| self.schema(shape)).collect();
        format!("[{}]", schemas.join(","))
    }

    fn entries(self, shape: &Shape) -> Entries {
        let mut entries: Entries = type_name(shape)
            .map(|name| ("type", written(name)))
            .into_iter()
            .collect();

        match shape {
            Shape::Integer(bounds) | Shape::Number { bounds, .. } => {
                entries.extend(self.bounds(*bounds, "minimum", "maximum"));
            }
            Shape::Text(text) => entries.extend(self.text(text)),
            Shape::Choice(choices) => {
                let values: Vec<&Value> = choices.iter().map(|choice| &choice.value).collect();
                entries.push(("enum", written(&values)));
            }
            Shape::List(items, bounds) => {
                entries.push(("items", self.schema(items)));
                entries.extend(self.bounds(*bounds, "minItems", "maxItems"));
            }
            Shape::Tuple(items) => {
                let count = written(&items.len());
                entries.push(("prefixItems", self.schemas(items)));
                entries.extend([("minItems", count.clone()), ("maxItems", count)]);
            }
            Shape::Map(values) => entries.push(("additionalProperties", self.schema(values))),
            Shape::Object(object) => {
                let others = match &object.others {
                    Others::Kept(values) => self.schema(values),
                    Others::Denied | Others::Ignored => written(&false),
                };
                let properties = object.properties.iter();
                let properties =
                    properties.map(|property| (&property.name, self.property(property)));
                return self.properties(properties, others);
            }
            Shape::AnyOf(shapes) => entries.push(("anyOf", self.schemas(shapes))),
            Shape::Ref(name) => {
                let name = name.replace('~', "~0").replace('/', "~1");
                entries.push(("$ref", written(&format!("#/$defs/{name}"))));
            }
            Shape::Any | Shape::Null | Shape::Boolean => {}
        }
        entries
    }

    /// Returns the keywords of an object. All properties are required.
    fn properties<K: AsRef<str>>(
        self,
        properties: impl IntoIterator<Item = (K, String)>,
        others: String,
    ) -> Entries {
        let properties: Vec<(K, String)> = properties.into_iter().collect();
        let names: Vec<&str> = properties.iter().map(|(name, _)| name.as_ref()).collect();
        let required = written(&names);

        vec![
            ("type", written("object")),
            ("properties", object(properties)),
            ("required", required),
            ("additionalProperties", others),
        ]
    }

    fn property(self, property: &Property) -> String {
        let or_null = !property.is_required && !property.has_empty_value();
        let mut entries = match or_null {
            true => vec![("anyOf", self.schemas([&property.shape, &Shape::Null]))],
            false => self.entries(&property.shape),
        };

        if !property.description.is_empty() {
            entries.insert(0, ("description", written(&property.description)));
        }
        object(entries)
    }

    fn bounds(self, bounds: Bounds, min: &'static str, max: &'static str) -> Entries {
        let bounds = [(min, bounds.min), (max, bounds.max)];
        bounds
            .into_iter()
            .filter(|_| self == Self::All)
            .filter_map(|(name, bound)| Some((name, number(bound?).to_string())))
            .collect()
    }

    fn text(self, text: &Text) -> Entries {
        let keywords = [("format", &text.format), ("pattern", &text.pattern)];
        let keywords = keywords
            .into_iter()
            .filter(|_| self == Self::All)
            .filter_map(|(name, value)| Some((name, written(value.as_ref()?))));
        let bounds = self.bounds(text.bounds, "minLength", "maxLength");
        keywords.chain(bounds).collect()
    }
}

/// Writes a value that has no other keys than texts, so that this doesn't fail.
fn written<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Writes an object whose keys keep their order.
fn object<K: AsRef<str>>(entries: impl IntoIterator<Item = (K, String)>) -> String {
    let entries = entries.into_iter();
    let entries: Vec<String> = entries
        .map(|(key, value)| format!("{}:{value}", written(key.as_ref())))
        .collect();
    format!("{{{}}}", entries.join(","))
}

impl Property {
    /// Returns whether its values include one that says as much as leaving it out.
    fn has_empty_value(&self) -> bool {
        match &self.shape {
            Shape::Any | Shape::Null => true,
            Shape::AnyOf(shapes) => shapes.contains(&Shape::Null),
            Shape::List(_, bounds) => bounds.min.is_none(),
            Shape::Choice(_) => self.default.is_some(),
            _ => false,
        }
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
        Shape::Map(_) => Some("object"),
        Shape::Object(_) | Shape::Choice(_) | Shape::AnyOf(_) | Shape::Any | Shape::Ref(_) => None,
    }
}
