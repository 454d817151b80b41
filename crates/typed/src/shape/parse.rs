//! Reads a JSON Schema of schemars.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::join::{both, listed};
use super::{Bounds, Choice, Form, Object, Property, Shape, Text, Words};

/// The name of the definition of a type that contains itself.
const ROOT: &str = "Answer";

impl Form {
    /// Returns the form of a value that a JSON Schema describes.
    pub(crate) fn of_schema(schema: &Value) -> Self {
        let no_definitions = Map::new();
        let definitions = schema.get("$defs").and_then(Value::as_object);
        let mut parser = Parser {
            definitions: definitions.unwrap_or(&no_definitions),
            inlined: BTreeSet::new(),
        };

        let root = parser.shape(schema);
        let definitions = parser.definitions.iter();
        let definitions = definitions.map(|(name, schema)| (name.clone(), parser.shape(schema)));
        let mut form = Form {
            root,
            definitions: definitions.collect(),
            description: text(schema, "description").unwrap_or_default(),
            ..Form::default()
        };

        // The reference `#` to the whole schema needs a name like those of other types.
        let has_root = form.shapes().contains(&&Shape::Ref(ROOT.to_owned()));
        if has_root {
            let root = form.root.clone();
            form.definitions.insert(ROOT.to_owned(), root);
        }
        form.words = Words::of(&form);
        form
    }
}

struct Parser<'s> {
    definitions: &'s Map<String, Value>,
    /// The definitions that are being read in place of references to them.
    inlined: BTreeSet<&'s str>,
}

impl<'s> Parser<'s> {
    /// Reads a schema. All of its keywords have to be met.
    fn shape(&mut self, schema: &'s Value) -> Shape {
        if let Some(value) = schema.get("const") {
            let description = text(schema, "description").unwrap_or_default();
            return choice(std::slice::from_ref(value), &description);
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            return choice(values, "");
        }

        let mut parts = Vec::new();
        if is_constraint(schema) {
            parts.push(self.of_types(schema));
        }
        for part in list(schema, "allOf") {
            parts.push(self.shape(part));
        }
        for key in ["oneOf", "anyOf"] {
            if schema.get(key).is_some() {
                parts.push(listed(self.shapes(list(schema, key))));
            }
        }
        if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
            parts.push(reference(name));
        }

        match parts.len() {
            0 | 1 => parts.pop().unwrap_or_default(),
            _ => {
                // A shape with further keywords is another one than its definition.
                let parts = parts.into_iter().map(|part| self.inline(part));
                parts.reduce(both).unwrap_or_default()
            }
        }
    }

    fn shapes(&mut self, schemas: impl IntoIterator<Item = &'s Value>) -> Vec<Shape> {
        let schemas = schemas.into_iter();
        schemas.map(|schema| self.shape(schema)).collect()
    }

    /// Replaces the references by what they refer to, so that the shape can be joined with others.
    fn inline(&mut self, shape: Shape) -> Shape {
        match shape {
            Shape::Ref(name) => match self.definitions.get_key_value(&name) {
                Some((name, schema)) if self.inlined.insert(name) => {
                    let shape = self.shape(schema);
                    let shape = self.inline(shape);
                    self.inlined.remove(name.as_str());
                    shape
                }
                // A type that contains itself has no end.
                _ => Shape::Any,
            },
            Shape::AnyOf(shapes) => {
                let shapes = shapes.into_iter().map(|shape| self.inline(shape));
                listed(shapes.collect())
            }
            shape => shape,
        }
    }

    /// Reads the keywords of one or several types.
    fn of_types(&mut self, schema: &'s Value) -> Shape {
        match schema.get("type") {
            Some(Value::String(name)) => self.of_type(name, schema),
            Some(Value::Array(names)) => {
                let names = names.iter().filter_map(Value::as_str);
                listed(names.map(|name| self.of_type(name, schema)).collect())
            }
            _ => self.object(schema),
        }
    }

    fn of_type(&mut self, name: &str, schema: &'s Value) -> Shape {
        match name {
            "null" => Shape::Null,
            "boolean" => Shape::Boolean,
            "integer" => Shape::Integer(bounds(schema, "minimum", "maximum")),
            "number" => Shape::Number {
                bounds: bounds(schema, "minimum", "maximum"),
                is_single: text(schema, "format").as_deref() == Some("float"),
            },
            "string" => Shape::Text(Text {
                bounds: bounds(schema, "minLength", "maxLength"),
                format: text(schema, "format"),
                pattern: text(schema, "pattern"),
            }),
            "array" if schema.get("prefixItems").is_some() => {
                Shape::Tuple(self.shapes(list(schema, "prefixItems")))
            }
            "array" => {
                let items = schema.get("items").map(|items| self.shape(items));
                let bounds = bounds(schema, "minItems", "maxItems");
                Shape::List(Box::new(items.unwrap_or_default()), bounds)
            }
            "object" => self.object(schema),
            _ => Shape::Any,
        }
    }

    fn object(&mut self, schema: &'s Value) -> Shape {
        let properties = self.properties(schema);
        let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
        match self.others(schema) {
            // A schema without properties leaves the keys to the model.
            None if properties.is_empty() && !is_closed => Shape::Map(Box::new(Shape::Any)),
            Some(values) if properties.is_empty() => Shape::Map(Box::new(values)),
            others => Shape::Object(Object {
                properties,
                others: others.map(Box::new),
                is_closed,
            }),
        }
    }

    /// Reads the values of the keys that aren't properties.
    fn others(&mut self, schema: &'s Value) -> Option<Shape> {
        // schemars writes a pattern for the keys of a map whose keys aren't texts.
        if let Some(Value::Object(patterns)) = schema.get("patternProperties") {
            return Some(listed(self.shapes(patterns.values())));
        }

        let others = schema.get("additionalProperties");
        let others = others.filter(|others| **others != Value::Bool(false))?;
        Some(self.shape(others))
    }

    /// Returns the properties: the required ones as they are declared, then the others.
    fn properties(&mut self, schema: &'s Value) -> Vec<Property> {
        // schemars lists the required properties in the order of the type, and sorts `properties`.
        let required: Vec<&str> = list(schema, "required").filter_map(Value::as_str).collect();
        let properties = schema.get("properties").and_then(Value::as_object);

        let properties = properties
            .into_iter()
            .flatten()
            .map(|(name, schema)| Property {
                description: text(schema, "description").unwrap_or_default(),
                is_required: required.contains(&name.as_str()),
                default: schema.get("default").cloned(),
                ..Property::new(name, self.shape(schema))
            });
        let mut properties: Vec<Property> = properties.collect();
        let place = |name: &str| required.iter().position(|other| *other == name);
        properties.sort_by_key(|property| place(&property.name).unwrap_or(usize::MAX));
        properties
    }
}

fn text(schema: &Value, key: &str) -> Option<String> {
    let text = schema.get(key).and_then(Value::as_str);
    text.map(str::to_owned)
}

fn list<'s>(schema: &'s Value, key: &str) -> impl Iterator<Item = &'s Value> + use<'s> {
    let list = schema.get(key).and_then(Value::as_array);
    list.into_iter().flatten()
}

fn bounds(schema: &Value, min: &str, max: &str) -> Bounds {
    let number = |key: &str| schema.get(key).and_then(Value::as_f64);

    Bounds {
        min: number(min),
        max: number(max),
    }
}

/// Returns whether the keywords themselves describe a value. Next to alternatives or a reference,
/// the type alone adds nothing.
fn is_constraint(schema: &Value) -> bool {
    let has_any = |keys: &[&str]| keys.iter().any(|key| schema.get(key).is_some());
    let is_alone = !has_any(&["allOf", "oneOf", "anyOf", "$ref"]);

    has_any(&["properties", "patternProperties", "additionalProperties"])
        || (is_alone && has_any(&["type"]))
}

fn reference(name: &str) -> Shape {
    match name.strip_prefix("#/$defs/") {
        // The name is escaped as in a JSON pointer.
        Some(name) => Shape::Ref(name.replace("~1", "/").replace("~0", "~")),
        None if name == "#" => Shape::Ref(ROOT.to_owned()),
        None => Shape::Any,
    }
}

fn choice(values: &[Value], description: &str) -> Shape {
    let choices = values.iter().filter(|value| !value.is_null());
    let choices: Vec<Choice> = choices
        .map(|value| Choice {
            value: value.clone(),
            description: description.to_owned(),
        })
        .collect();

    match (choices.is_empty(), values.contains(&Value::Null)) {
        (true, true) => Shape::Null,
        (false, true) => listed(vec![Shape::Choice(choices), Shape::Null]),
        (_, false) => Shape::Choice(choices),
    }
}
