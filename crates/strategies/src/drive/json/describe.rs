//! The description of a reply in JSON for the model.

use std::fmt;

use serde_json::Value;

use super::shape::{Property, Shape};
use crate::drive::form::Form;

/// Returns the keys of the object with their meaning.
pub(in crate::drive) fn keys(form: &Form) -> String {
    let Shape::Object(properties) = Shape::of_form(form, 1) else {
        return String::new();
    };

    lines(&properties, 0) + &stages(form)
}

/// Returns an example of the structure of the object, as in `{"thought": "…", "steps": ["…"]}`.
pub(in crate::drive) fn structure(form: &Form) -> String {
    Example(&Shape::of_form(form, 1)).to_string()
}

/// Returns a line for each property, and for those of the objects in it.
fn lines(properties: &[Property], depth: usize) -> String {
    properties
        .iter()
        .map(|property| line(property, depth))
        .collect()
}

fn line(property: &Property, depth: usize) -> String {
    let Property {
        name,
        description,
        shape,
    } = property;

    let indent = "  ".repeat(depth);
    let kind = kind(shape);
    let inner = inner(shape).map_or_else(String::new, |inner| lines(inner, depth + 1));

    match description.as_str() {
        "" => format!("\n{indent}- {name} ({kind}){inner}"),
        description => format!("\n{indent}- {name}: {description} ({kind}){inner}"),
    }
}

/// Returns the properties of an object, or of the objects in a list.
fn inner(shape: &Shape) -> Option<&[Property]> {
    match shape {
        Shape::Object(properties) => Some(properties),
        Shape::List { items, .. } => inner(items),
        Shape::AnyOf(shapes) => shapes.iter().find_map(inner),
        _ => None,
    }
}

/// Returns what each of the stages is for.
fn stages(form: &Form) -> String {
    if !form.has_choice() {
        return String::new();
    }

    form.next
        .iter()
        .map(|(name, description)| format!("\n  - {name}: {description}"))
        .collect()
}

fn kind(shape: &Shape) -> String {
    match shape {
        Shape::Text(_) => "a text".to_owned(),
        Shape::Choice(choices) => {
            let choices: Vec<String> = choices.iter().map(plain).collect();
            match choices.as_slice() {
                [first, .., last] if choices.len() > 8 => format!("from {first} to {last}"),
                choices => format!("one of {}", choices.join(", ")),
            }
        }
        Shape::Integer => "an integer".to_owned(),
        Shape::Number => "a number".to_owned(),
        Shape::Boolean => "true or false".to_owned(),
        Shape::Null => "null".to_owned(),
        Shape::AnyOf(shapes) => {
            let kinds: Vec<String> = shapes.iter().map(kind).collect();
            kinds.join(" or ")
        }
        Shape::List { items, .. } => match &**items {
            Shape::Object(properties) => {
                let names: Vec<&str> = properties
                    .iter()
                    .map(|property| property.name.as_str())
                    .collect();
                format!("a list of objects with {}", names.join(", "))
            }
            Shape::Text(_) => "a list of texts".to_owned(),
            _ => "a list".to_owned(),
        },
        Shape::Object(_) => "an object".to_owned(),
    }
}

fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// Writes the structure on one line, as in `{"thought": "…", "steps": ["…"]}`.
struct Example<'a>(&'a Shape);

impl fmt::Display for Example<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Shape::Text(_) => f.write_str("\"…\""),
            Shape::Choice(choices) => match choices.first() {
                Some(Value::String(_)) | None => f.write_str("\"…\""),
                Some(first) => first.fmt(f),
            },
            Shape::Integer | Shape::Number => f.write_str("1"),
            Shape::Boolean => f.write_str("true"),
            Shape::Null => f.write_str("null"),
            Shape::AnyOf(shapes) => match shapes.first() {
                Some(first) => Example(first).fmt(f),
                None => f.write_str("null"),
            },
            Shape::List { items, .. } => write!(f, "[{}]", Example(items)),
            Shape::Object(properties) => {
                f.write_str("{")?;
                for (place, property) in properties.iter().enumerate() {
                    let comma = if place == 0 { "" } else { ", " };
                    let name = Value::from(property.name.as_str());
                    write!(f, "{comma}{name}: {}", Example(&property.shape))?;
                }
                f.write_str("}")
            }
        }
    }
}
