//! The JSON Schemas for servers.
//!
//! Every property is required, and one that may be left out may be null instead, since the strict
//! mode of OpenAI has no other way. The properties keep their order, in which models write them.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Number, Value};

use super::{ANSWER, Bounds, Choice, Form, Object, Property, Shape};

impl Form {
    /// Returns the JSON Schema of an answer.
    pub(crate) fn schema(&self) -> String {
        // Its keys are texts, so that this doesn't fail.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Writes the schema of an answer, which is always an object.
impl Serialize for Form {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut schema = serializer.serialize_map(None)?;
        if self.is_wrapped() {
            let answer = Property::new(ANSWER, self.root.clone());
            let object = Object {
                properties: vec![answer],
                ..Object::default()
            };
            Shape::Object(object).write(&mut schema)?;
        } else {
            self.resolve(&self.root).write(&mut schema)?;
        }

        if !self.definitions.is_empty() {
            schema.serialize_entry("$defs", &self.definitions)?;
        }
        schema.end()
    }
}

impl Serialize for Shape {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut schema = serializer.serialize_map(None)?;
        self.write(&mut schema)?;
        schema.end()
    }
}

impl Serialize for Property {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut schema = serializer.serialize_map(None)?;
        if !self.description.is_empty() {
            schema.serialize_entry("description", &self.description)?;
        }

        // Null is only needed where no other value says as much.
        match self.is_required || self.has_empty_value() {
            true => self.shape.write(&mut schema)?,
            false => schema.serialize_entry("anyOf", &[&self.shape, &Shape::Null])?,
        }
        schema.end()
    }
}

impl Shape {
    /// Writes the keywords.
    fn write<M: SerializeMap>(&self, schema: &mut M) -> Result<(), M::Error> {
        if let Some(name) = self.type_name() {
            schema.serialize_entry("type", name)?;
        }

        match self {
            Self::Any | Self::Null | Self::Boolean => Ok(()),
            Self::Integer(bounds) | Self::Number { bounds, .. } => {
                bounds.write(schema, "minimum", "maximum")
            }
            Self::Text(text) => {
                for (name, value) in [("format", &text.format), ("pattern", &text.pattern)] {
                    if let Some(value) = value {
                        schema.serialize_entry(name, value)?;
                    }
                }
                text.bounds.write(schema, "minLength", "maxLength")
            }
            Self::Choice(choices) => {
                let values: Vec<&Value> = choices.iter().map(|choice| &choice.value).collect();
                schema.serialize_entry("enum", &values)
            }
            Self::List(items, bounds) => {
                schema.serialize_entry("items", items)?;
                bounds.write(schema, "minItems", "maxItems")
            }
            Self::Tuple(items) => {
                schema.serialize_entry("prefixItems", items)?;
                let bounds = Bounds::of_counts(items.len(), items.len());
                bounds.write(schema, "minItems", "maxItems")
            }
            Self::Map(values) => schema.serialize_entry("additionalProperties", values),
            Self::Object(object) => object.write(schema),
            Self::AnyOf(shapes) => schema.serialize_entry("anyOf", shapes),
            Self::Ref(name) => {
                let name = name.replace('~', "~0").replace('/', "~1");
                schema.serialize_entry("$ref", &format!("#/$defs/{name}"))
            }
        }
    }

    fn type_name(&self) -> Option<&'static str> {
        let are = |is: fn(&Value) -> bool, choices: &[Choice]| {
            choices.iter().all(|choice| is(&choice.value))
        };
        match self {
            Self::Any | Self::AnyOf(_) | Self::Ref(_) => None,
            Self::Null => Some("null"),
            Self::Boolean => Some("boolean"),
            Self::Integer(_) => Some("integer"),
            Self::Number { .. } => Some("number"),
            Self::Text(_) => Some("string"),
            // Some servers require a type next to `enum`.
            Self::Choice(choices) if are(Value::is_string, choices) => Some("string"),
            Self::Choice(choices) if are(Value::is_i64, choices) => Some("integer"),
            Self::Choice(_) => None,
            Self::List(..) | Self::Tuple(_) => Some("array"),
            Self::Map(_) | Self::Object(_) => Some("object"),
        }
    }
}

impl Object {
    /// Writes the keywords. All properties are required.
    fn write<M: SerializeMap>(&self, schema: &mut M) -> Result<(), M::Error> {
        let names: Vec<&str> = self
            .properties
            .iter()
            .map(|key| key.name.as_str())
            .collect();
        schema.serialize_entry("properties", &Properties(&self.properties))?;
        schema.serialize_entry("required", &names)?;
        match &self.others {
            Some(others) => schema.serialize_entry("additionalProperties", others),
            None => schema.serialize_entry("additionalProperties", &false),
        }
    }
}

struct Properties<'f>(&'f [Property]);

impl Serialize for Properties<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|property| (&property.name, property)))
    }
}

impl Bounds {
    fn write<M: SerializeMap>(self, schema: &mut M, min: &str, max: &str) -> Result<(), M::Error> {
        for (name, bound) in [(min, self.min), (max, self.max)] {
            // A float without a fraction is written as an integer.
            let number = bound.and_then(|bound| bound.to_string().parse::<Number>().ok());
            if let Some(number) = number {
                schema.serialize_entry(name, &number)?;
            }
        }
        Ok(())
    }
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
