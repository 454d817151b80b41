//! Reads a JSON Schema of schemars.

mod join;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::{Bounds, Choice, Form, Object, Others, Property, Shape, Text};
use join::{joined, listed};

/// The name of the definition of a type that contains itself.
const ROOT: &str = "Answer";

pub(super) fn form(schema: &Value) -> Form {
    let no_definitions = Map::new();
    let definitions = schema.get("$defs").and_then(Value::as_object);
    let mut parser = Parser {
        definitions: definitions.unwrap_or(&no_definitions),
        inlined: BTreeSet::new(),
    };

    let root = parser.shape(schema);
    let mut definitions: BTreeMap<String, Shape> = parser
        .definitions
        .iter()
        .map(|(name, schema)| (name.clone(), parser.shape(schema)))
        .collect();

    let has_root = |shape: &Shape| shape.contains(ROOT);
    if definitions.values().chain([&root]).any(has_root) {
        definitions.insert(ROOT.to_owned(), root.clone());
    }

    Form {
        root,
        definitions,
        description: text(schema, "description"),
        ..Form::default()
    }
}

fn text(schema: &Value, key: &str) -> String {
    let text = schema.get(key).and_then(Value::as_str);
    text.unwrap_or_default().to_owned()
}

struct Parser<'s> {
    definitions: &'s Map<String, Value>,
    /// The definitions that are being read in place of references to them.
    inlined: BTreeSet<&'s str>,
}

impl<'s> Parser<'s> {
    /// Reads a schema. All of its keywords have to be met.
    fn shape(&mut self, schema: &'s Value) -> Shape {
        let Some(keywords) = schema.as_object() else {
            return Shape::Any;
        };
        if let Some(value) = keywords.get("const") {
            return choice(vec![value.clone()], schema);
        }
        if let Some(values) = keywords.get("enum").and_then(Value::as_array) {
            return choice(values.clone(), &Value::Null);
        }

        let all = keywords.get("allOf").and_then(Value::as_array);
        let mut parts = Vec::new();
        if is_constraint(keywords) {
            parts.push(self.of_types(keywords));
        }
        for part in all.into_iter().flatten() {
            parts.push(self.shape(part));
        }
        for key in ["oneOf", "anyOf"] {
            if let Some(options) = keywords.get(key).and_then(Value::as_array) {
                let options = options.iter().map(|option| self.shape(option));
                parts.push(listed(options.collect()));
            }
        }
        if let Some(name) = keywords.get("$ref").and_then(Value::as_str) {
            parts.push(reference(name));
        }

        match parts.len() {
            0 => Shape::Any,
            1 => parts.swap_remove(0),
            _ => {
                let parts = parts.into_iter().map(|part| self.inline(part));
                joined(parts.collect())
            }
        }
    }

    /// Replaces the references by what they refer to, so that the shape can be joined with others.
    fn inline(&mut self, shape: Shape) -> Shape {
        match shape {
            Shape::Ref(name) => {
                let Some((name, schema)) = self.definitions.get_key_value(&name) else {
                    return Shape::Any;
                };
                if !self.inlined.insert(name) {
                    return Shape::Any;
                }

                let shape = self.shape(schema);
                let shape = self.inline(shape);
                self.inlined.remove(name.as_str());
                shape
            }
            Shape::AnyOf(shapes) => {
                let shapes = shapes.into_iter().map(|shape| self.inline(shape));
                listed(shapes.collect())
            }
            shape => shape,
        }
    }

    /// Reads the keywords of one or several types.
    fn of_types(&mut self, keywords: &'s Map<String, Value>) -> Shape {
        match keywords.get("type") {
            Some(Value::String(name)) => self.of_type(name, keywords),
            Some(Value::Array(names)) => {
                let names = names.iter().filter_map(Value::as_str);
                listed(names.map(|name| self.of_type(name, keywords)).collect())
            }
            _ => self.object(keywords),
        }
    }

    fn of_type(&mut self, name: &str, keywords: &'s Map<String, Value>) -> Shape {
        match name {
            "null" => Shape::Null,
            "boolean" => Shape::Boolean,
            "integer" => Shape::Integer(bounds(keywords, "minimum", "maximum")),
            "number" => Shape::Number {
                bounds: bounds(keywords, "minimum", "maximum"),
                is_single: text_of(keywords).format.as_deref() == Some("float"),
            },
            "string" => Shape::Text(text_of(keywords)),
            "array" => self.list(keywords),
            "object" => self.object(keywords),
            _ => Shape::Any,
        }
    }

    fn list(&mut self, keywords: &'s Map<String, Value>) -> Shape {
        if let Some(items) = keywords.get("prefixItems").and_then(Value::as_array) {
            let items = items.iter().map(|item| self.shape(item));
            return Shape::Tuple(items.collect());
        }

        let items = keywords
            .get("items")
            .map_or(Shape::Any, |items| self.shape(items));
        Shape::List(Box::new(items), bounds(keywords, "minItems", "maxItems"))
    }

    fn object(&mut self, keywords: &'s Map<String, Value>) -> Shape {
        let properties = keywords.get("properties").and_then(Value::as_object);
        let others = self.others(keywords);

        match (properties, others) {
            (None, Others::Kept(values)) => Shape::Map(values),
            (Some(properties), Others::Kept(values)) if properties.is_empty() => Shape::Map(values),
            (properties, others) => Shape::Object(Object {
                properties: properties
                    .map_or_else(Vec::new, |properties| self.properties(properties, keywords)),
                others,
            }),
        }
    }

    /// Reads what is allowed in addition to the properties.
    fn others(&mut self, keywords: &'s Map<String, Value>) -> Others {
        // schemars writes a pattern for the keys of a map whose keys aren't texts.
        let patterns = keywords.get("patternProperties").and_then(Value::as_object);
        if let Some(patterns) = patterns {
            let values = patterns.values().map(|values| self.shape(values));
            return Others::Kept(Box::new(listed(values.collect())));
        }

        match keywords.get("additionalProperties") {
            None => Others::Ignored,
            Some(Value::Bool(false)) => Others::Denied,
            Some(values) => Others::Kept(Box::new(self.shape(values))),
        }
    }

    /// Returns the properties: the required ones as they are declared, then the others.
    fn properties(
        &mut self,
        properties: &'s Map<String, Value>,
        keywords: &'s Map<String, Value>,
    ) -> Vec<Property> {
        let required = keywords.get("required").and_then(Value::as_array);
        let required: Vec<&str> = required
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let others = properties
            .keys()
            .map(String::as_str)
            .filter(|name| !required.contains(name));

        required
            .iter()
            .copied()
            .chain(others)
            .filter_map(|name| {
                let schema = properties.get(name)?;
                Some(Property {
                    description: text(schema, "description"),
                    is_required: required.contains(&name),
                    default: schema.get("default").cloned(),
                    ..Property::new(name, self.shape(schema))
                })
            })
            .collect()
    }
}

/// Returns whether the keywords themselves describe a value. Next to alternatives or a reference,
/// the type alone adds nothing.
fn is_constraint(keywords: &Map<String, Value>) -> bool {
    let has = |key: &str| keywords.contains_key(key);
    let is_alone = !["allOf", "oneOf", "anyOf", "$ref"].into_iter().any(has);
    let has_keys = ["properties", "patternProperties", "additionalProperties"]
        .into_iter()
        .any(has);

    has_keys || (is_alone && has("type"))
}

fn reference(name: &str) -> Shape {
    match name.strip_prefix("#/$defs/") {
        Some(name) => Shape::Ref(unescaped(name)),
        None if name == "#" => Shape::Ref(ROOT.to_owned()),
        None => Shape::Any,
    }
}

/// Reads the escapes of a JSON pointer in a reference.
fn unescaped(name: &str) -> String {
    name.replace("~1", "/").replace("~0", "~")
}

fn choice(values: Vec<Value>, schema: &Value) -> Shape {
    let has_null = values.contains(&Value::Null);
    let description = text(schema, "description");
    let is_single = values.len() == 1;

    let choices = values
        .into_iter()
        .filter(|value| !value.is_null())
        .map(|value| Choice {
            value,
            description: if is_single {
                description.clone()
            } else {
                String::new()
            },
        });
    let choices: Vec<Choice> = choices.collect();

    match (choices.is_empty(), has_null) {
        (true, true) => Shape::Null,
        (false, true) => listed(vec![Shape::Choice(choices), Shape::Null]),
        (_, false) => Shape::Choice(choices),
    }
}

fn bounds(keywords: &Map<String, Value>, min: &str, max: &str) -> Bounds {
    let number = |key: &str| keywords.get(key).and_then(Value::as_f64);

    Bounds {
        min: number(min),
        max: number(max),
    }
}

fn text_of(keywords: &Map<String, Value>) -> Text {
    let keyword = |key: &str| {
        let text = keywords.get(key).and_then(Value::as_str);
        text.map(str::to_owned)
    };

    Text {
        bounds: bounds(keywords, "minLength", "maxLength"),
        format: keyword("format"),
        pattern: keyword("pattern"),
    }
}
