//! Reads a JSON Schema of schemars.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{Bounds, Choice, Form, Object, Others, Property, Shape};

/// The name of the definition of a type that contains itself.
const ROOT: &str = "Answer";

pub(super) fn form(schema: &Value) -> Form {
    let definitions = schema.get("$defs").and_then(Value::as_object);
    let mut definitions: BTreeMap<String, Shape> = definitions
        .into_iter()
        .flatten()
        .map(|(name, schema)| (name.clone(), shape(schema)))
        .collect();

    let root = shape(schema);
    let shapes = definitions.values().chain([&root]);
    if shapes.into_iter().any(refers_to_root) {
        definitions.insert(ROOT.to_owned(), root.clone());
    }

    Form {
        root,
        definitions,
        description: text(schema, "description"),
    }
}

fn refers_to_root(shape: &Shape) -> bool {
    match shape {
        Shape::Ref(name) => name == ROOT,
        Shape::List(inner, _) | Shape::Map(inner) => refers_to_root(inner),
        Shape::Tuple(shapes) | Shape::AnyOf(shapes) => shapes.iter().any(refers_to_root),
        Shape::Object(object) => object
            .properties
            .iter()
            .any(|property| refers_to_root(&property.shape)),
        _ => false,
    }
}

fn text(schema: &Value, key: &str) -> String {
    let text = schema.get(key).and_then(Value::as_str);
    text.unwrap_or_default().to_owned()
}

fn shape(schema: &Value) -> Shape {
    let Some(keywords) = schema.as_object() else {
        return Shape::Any;
    };

    if let Some(name) = keywords.get("$ref").and_then(Value::as_str) {
        return match name.strip_prefix("#/$defs/") {
            Some(name) => Shape::Ref(unescaped(name)),
            None if name == "#" => Shape::Ref(ROOT.to_owned()),
            None => Shape::Any,
        };
    }
    if let Some(value) = keywords.get("const") {
        return choice(vec![value.clone()], schema);
    }
    if let Some(values) = keywords.get("enum").and_then(Value::as_array) {
        return choice(values.clone(), schema);
    }

    let options = ["oneOf", "anyOf"].iter().find_map(|key| keywords.get(*key));
    if let Some(options) = options.and_then(Value::as_array) {
        return any_of(options, schema);
    }

    match keywords
        .get("allOf")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
    {
        Some([single]) if !keywords.contains_key("properties") => return shape(single),
        Some(_) => return Shape::Any,
        None => {}
    }

    match keywords.get("type") {
        Some(Value::String(name)) => of_type(name, keywords),
        Some(Value::Array(names)) => {
            let names = names.iter().filter_map(Value::as_str);
            flat(names.map(|name| of_type(name, keywords)).collect())
        }
        _ => Shape::Any,
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
        })
        .collect();

    if has_null {
        flat(vec![Shape::Choice(choices), Shape::Null])
    } else {
        Shape::Choice(choices)
    }
}

fn any_of(options: &[Value], schema: &Value) -> Shape {
    let shapes: Vec<Shape> = options.iter().map(shape).collect();

    // The properties next to the options belong to each of them.
    let Some(Value::Object(_)) = schema.get("properties") else {
        return flat(shapes);
    };
    let Shape::Object(common) = object(schema.as_object().unwrap_or(&Map::new())) else {
        return Shape::Any;
    };

    let joined = shapes.into_iter().map(|shape| match shape {
        Shape::Object(mut object) => {
            object.properties.splice(0..0, common.properties.clone());
            object.others = common.others;
            Shape::Object(object)
        }
        _ => Shape::Any,
    });
    flat(joined.collect())
}

/// Joins alternatives: the choices become one, and alternatives in alternatives are listed once.
fn flat(shapes: Vec<Shape>) -> Shape {
    let mut choices = Vec::new();
    let mut others = Vec::new();

    let listed = shapes.into_iter().flat_map(|shape| match shape {
        Shape::AnyOf(shapes) => shapes,
        shape => vec![shape],
    });
    for shape in listed {
        match shape {
            Shape::Choice(more) => choices.extend(more),
            shape if others.contains(&shape) => {}
            shape => others.push(shape),
        }
    }

    if !choices.is_empty() {
        others.insert(0, Shape::Choice(choices));
    }
    if others.contains(&Shape::Any) {
        return Shape::Any;
    }

    match others.len() {
        1 => others.swap_remove(0),
        _ => Shape::AnyOf(others),
    }
}

fn of_type(name: &str, keywords: &Map<String, Value>) -> Shape {
    match name {
        "null" => Shape::Null,
        "boolean" => Shape::Boolean,
        "integer" => Shape::Integer(bounds(keywords, "minimum", "maximum")),
        "number" => Shape::Number(bounds(keywords, "minimum", "maximum")),
        "string" => Shape::Text(bounds(keywords, "minLength", "maxLength")),
        "array" => list(keywords),
        "object" => object(keywords),
        _ => Shape::Any,
    }
}

fn bounds(keywords: &Map<String, Value>, min: &str, max: &str) -> Bounds {
    let number = |key: &str| keywords.get(key).and_then(Value::as_f64);

    Bounds {
        min: number(min),
        max: number(max),
    }
}

fn list(keywords: &Map<String, Value>) -> Shape {
    if let Some(items) = keywords.get("prefixItems").and_then(Value::as_array) {
        return Shape::Tuple(items.iter().map(shape).collect());
    }

    let items = keywords.get("items").map_or(Shape::Any, shape);
    Shape::List(Box::new(items), bounds(keywords, "minItems", "maxItems"))
}

fn object(keywords: &Map<String, Value>) -> Shape {
    let properties = keywords.get("properties").and_then(Value::as_object);
    let others = keywords.get("additionalProperties");

    let Some(properties) = properties.filter(|properties| !properties.is_empty()) else {
        return match others {
            None | Some(Value::Bool(false)) => Shape::Object(Object {
                properties: Vec::new(),
                others: Others::Ignored,
            }),
            Some(values) => Shape::Map(Box::new(shape(values))),
        };
    };

    let others = match others {
        None => Others::Ignored,
        Some(Value::Bool(false)) => Others::Denied,
        Some(_) => Others::Kept,
    };
    Shape::Object(Object {
        properties: self::properties(properties, keywords),
        others,
    })
}

/// Returns the properties: the required ones as they are declared, then the others.
fn properties(properties: &Map<String, Value>, keywords: &Map<String, Value>) -> Vec<Property> {
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
                name: name.to_owned(),
                description: text(schema, "description"),
                shape: shape(schema),
                is_required: required.contains(&name),
            })
        })
        .collect()
}
