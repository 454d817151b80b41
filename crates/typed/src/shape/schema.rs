//! The JSON Schemas for servers.
//!
//! Every property is required, and one that may be left out may be null instead, since the strict
//! mode of OpenAI has no other way. The properties keep their order, in which models write them.

use serde::Serialize;
use serde_json::Value;

use super::{ANSWER, Bounds, Form, Property, Shape, Text};

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
        let mut shapes = self.shapes().into_iter();
        let is_strict = shapes.all(|shape| match shape {
            Shape::Any | Shape::Map(_) | Shape::Tuple(_) => false,
            Shape::Object(object) => object.others.is_none(),
            Shape::Ref(name) => self.definitions.contains_key(name) && !self.is_recursive(name),
            _ => true,
        });

        is_strict.then(|| self.with(Keywords::Strict))
    }

    /// Writes the schema of an answer, which is always an object.
    pub(super) fn with(&self, keywords: Keywords) -> String {
        let mut entries = if self.is_wrapped() {
            properties(vec![(ANSWER, keywords.schema(&self.root))], written(&false))
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
        match shape {
            Shape::Any => Vec::new(),
            Shape::Null => typed("null", []),
            Shape::Boolean => typed("boolean", []),
            Shape::Integer(bounds) => typed("integer", self.bounds(*bounds, "minimum", "maximum")),
            Shape::Number { bounds, .. } => {
                typed("number", self.bounds(*bounds, "minimum", "maximum"))
            }
            Shape::Text(text) => typed("string", self.text(text)),
            Shape::Choice(choices) => {
                let values: Vec<&Value> = choices.iter().map(|choice| &choice.value).collect();
                let listed = ("enum", written(&values));
                if values.iter().all(|value| value.is_string()) {
                    typed("string", [listed])
                } else if values.iter().all(|value| value.is_i64()) {
                    typed("integer", [listed])
                } else {
                    vec![listed]
                }
            }
            Shape::List(items, bounds) => {
                let bounds = self.bounds(*bounds, "minItems", "maxItems");
                let items = ("items", self.schema(items));
                typed("array", [items].into_iter().chain(bounds))
            }
            Shape::Tuple(items) => {
                let count = written(&items.len());
                let bounds = [("minItems", count.clone()), ("maxItems", count)];
                let items = ("prefixItems", self.schemas(items));
                typed("array", [items].into_iter().chain(bounds))
            }
            Shape::Map(values) => typed("object", [("additionalProperties", self.schema(values))]),
            Shape::Object(object) => {
                let keys = object.properties.iter();
                let keys = keys.map(|property| (property.name.as_str(), self.property(property)));
                let others = object.others.as_deref();
                let others = others.map_or_else(|| written(&false), |others| self.schema(others));
                properties(keys.collect(), others)
            }
            Shape::AnyOf(shapes) => vec![("anyOf", self.schemas(shapes))],
            Shape::Ref(name) => {
                let name = name.replace('~', "~0").replace('/', "~1");
                vec![("$ref", written(&format!("#/$defs/{name}")))]
            }
        }
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
        let bounds = [(min, bounds.min), (max, bounds.max)].into_iter();
        bounds
            .filter(|_| self == Self::All)
            .filter_map(|(name, bound)| Some((name, bound?.to_string())))
            .collect()
    }

    fn text(self, text: &Text) -> Entries {
        let keywords = [("format", &text.format), ("pattern", &text.pattern)].into_iter();
        let keywords = keywords
            .filter(|_| self == Self::All)
            .filter_map(|(name, value)| Some((name, written(value.as_ref()?))));
        let bounds = self.bounds(text.bounds, "minLength", "maxLength");
        keywords.chain(bounds).collect()
    }
}

fn typed(
    name: &'static str,
    keywords: impl IntoIterator<Item = (&'static str, String)>,
) -> Entries {
    let name = ("type", written(name));
    [name].into_iter().chain(keywords).collect()
}

/// Returns the keywords of an object. All properties are required.
fn properties(properties: Vec<(&str, String)>, others: String) -> Entries {
    let names: Vec<&str> = properties.iter().map(|(name, _)| *name).collect();
    let required = ("required", written(&names));
    let properties = ("properties", object(properties));
    typed(
        "object",
        [properties, required, ("additionalProperties", others)],
    )
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
