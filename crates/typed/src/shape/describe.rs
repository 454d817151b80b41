//! The description of an answer for the model.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::Value;

use super::{ANSWER, Choice, Form, Object, Property, Shape, THOUGHT, Text};

impl Form {
    /// Returns a line for each key of the object, with its meaning.
    pub(crate) fn keys(&self) -> String {
        let mut lines = Lines {
            form: self,
            described: BTreeSet::new(),
            text: String::new(),
        };

        match self.resolve(&self.root) {
            Shape::Object(object) => lines.object(object, 0),
            _ => lines.property(ANSWER, &self.description, &self.root, false, 0),
        }
        lines.text
    }

    /// Returns what a value is, in a few words.
    pub(crate) fn kind(&self, shape: &Shape) -> String {
        match shape {
            Shape::Any => "any value".to_owned(),
            Shape::Null => "null".to_owned(),
            Shape::Boolean => "true or false".to_owned(),
            Shape::Integer(bounds) => format!("an integer{bounds}"),
            Shape::Number { bounds, .. } => format!("a number{bounds}"),
            Shape::Text(text) => text.to_string(),
            Shape::Choice(choices) => kind_of_choice(choices),
            Shape::List(items, _) => format!("a list of {}", self.plural(items)),
            Shape::Tuple(items) => {
                let kinds = join(", ", items.iter().map(|item| self.kind(item)));
                format!("a list of {}: {kinds}", items.len())
            }
            Shape::Map(_) => "an object with any keys".to_owned(),
            Shape::Object(_) => "an object".to_owned(),
            Shape::AnyOf(shapes) => options(shapes.iter().map(|shape| self.kind(shape))),
            Shape::Ref(name) => match self.resolve(shape) {
                // The options of a definition may contain the definition.
                Shape::AnyOf(_) if self.is_recursive(name) => {
                    "one of the forms of its type".to_owned()
                }
                shape => self.kind(shape),
            },
        }
    }

    fn plural(&self, items: &Shape) -> String {
        match self.resolve(items) {
            Shape::Text(_) => "texts".to_owned(),
            Shape::Integer(_) => "integers".to_owned(),
            Shape::Number { .. } => "numbers".to_owned(),
            Shape::Object(object) => {
                let names = object.properties.iter();
                let names = join(", ", names.map(|property| property.name.clone()));
                format!("objects with {names}")
            }
            Shape::Choice(choices) => format!("values, each {}", kind_of_choice(choices)),
            _ => "values".to_owned(),
        }
    }

    /// Returns a line for each key, as in `steps: what is done (a list, each item on …)`.
    pub(crate) fn lines(&self) -> String {
        let lines = self.properties().iter();
        lines.map(|property| self.line(property)).collect()
    }

    fn line(&self, property: &Property) -> String {
        let Property {
            name, description, ..
        } = property;
        if name == THOUGHT {
            return format!("\n{name}: {description}");
        }

        if let Some(Shape::Choice(choices)) = &property.offered
            && choices.iter().any(|choice| !choice.description.is_empty())
        {
            let choice =
                |choice: &Choice| format!("\n  {} ({})", plain(&choice.value), choice.description);
            let choices = join("", choices.iter().map(choice));
            return format!("\n{name}: {description}, one of{choices}");
        }

        let kind = property.kind.clone();
        let kind = kind.unwrap_or_else(|| self.kind_in_lines(&property.shape));
        match property.is_required {
            true => format!("\n{name}: {description} ({kind})"),
            false => format!("\n{name}: {description} ({kind}, may be left out)"),
        }
    }

    /// Returns what a value is, and how it is written in lines.
    fn kind_in_lines(&self, shape: &Shape) -> String {
        match self.resolve(shape) {
            Shape::Any => "text or JSON".to_owned(),
            Shape::Object(_) | Shape::Map(_) => "an object, as JSON".to_owned(),
            Shape::List(items, bounds) => {
                let list = match bounds.min {
                    None | Some(0.0) => "a list".to_owned(),
                    Some(1.0) => "a list that is not empty".to_owned(),
                    Some(least) => format!("a list of at least {least} items"),
                };
                format!("{list}, {}", self.items_in_lines(items))
            }
            // What may be null may be left out.
            Shape::AnyOf(shapes) if shapes.contains(&Shape::Null) => {
                let others = shapes.iter().filter(|shape| **shape != Shape::Null);
                options(others.map(|shape| self.kind_in_lines(shape)))
            }
            _ => self.kind(shape),
        }
    }

    fn items_in_lines(&self, items: &Shape) -> String {
        match self.resolve(items) {
            Shape::Object(object) => {
                let keys = object.properties.iter();
                let keys = keys.map(|key| format!("{}: {}", key.name, self.kind(&key.shape)));
                format!("as a JSON array of objects {{{}}}", join(", ", keys))
            }
            Shape::Text(_) | Shape::Any => {
                "each item on a line of its own that begins with -".to_owned()
            }
            _ => format!("as a JSON array of {}", self.plural(items)),
        }
    }
}

fn kind_of_choice(choices: &[Choice]) -> String {
    let are_integers = choices.iter().all(|choice| choice.value.is_i64());
    match choices {
        [single] => plain(&single.value),
        // A long list of numbers would hide the other keys from a small model.
        [first, .., last] if choices.len() > 8 && are_integers => {
            format!("from {} to {}", first.value, last.value)
        }
        choices => {
            let values = join(", ", choices.iter().map(|choice| plain(&choice.value)));
            format!("one of {values}")
        }
    }
}

/// Writes what a value may be.
fn options(kinds: impl Iterator<Item = String>) -> String {
    let mut kinds: Vec<String> = kinds.collect();
    kinds.dedup();
    kinds.join(" or ")
}

fn join(separator: &str, parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(separator)
}

fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

struct Lines<'f> {
    form: &'f Form,
    /// The definitions that were described, each of which is described once.
    described: BTreeSet<&'f str>,
    text: String,
}

impl<'f> Lines<'f> {
    fn line(&mut self, line: &str, depth: usize) {
        let indent = "  ".repeat(depth);
        self.text += &format!("\n{indent}- {line}");
    }

    fn object(&mut self, object: &'f Object, depth: usize) {
        for property in &object.properties {
            let (name, description) = (&property.name, &property.description);
            let or_null = !property.is_required;
            self.property(name, description, &property.shape, or_null, depth);
        }
        if let Some(values) = &object.others {
            self.property("…", "any other key", values, false, depth);
        }
    }

    fn property(
        &mut self,
        name: &str,
        description: &str,
        shape: &'f Shape,
        or_null: bool,
        depth: usize,
    ) {
        let mut kind = self.form.kind(shape);
        // The schema requires every key, so that null stands for a missing one.
        if or_null && !kind.ends_with("null") {
            kind.push_str(" or null");
        }
        // Doc comments have line breaks, which would look like further keys.
        let description = description.split_whitespace().collect::<Vec<_>>().join(" ");
        let colon = if description.is_empty() { "" } else { ": " };

        self.line(&format!("{name}{colon}{description} ({kind})"), depth);
        self.inner(shape, depth + 1);
    }

    /// Adds the lines for what is inside a value.
    fn inner(&mut self, shape: &'f Shape, depth: usize) {
        match shape {
            Shape::Object(object) => self.object(object, depth),
            Shape::Choice(choices) => {
                let described = choices
                    .iter()
                    .filter(|choice| !choice.description.is_empty());
                for choice in described {
                    let line = format!("{}: {}", plain(&choice.value), choice.description);
                    self.line(&line, depth);
                }
            }
            Shape::AnyOf(shapes) => self.options(shapes, depth),
            Shape::Ref(name) => {
                // A type that contains itself would be described without an end.
                if self.described.insert(name) {
                    self.inner(self.form.resolve(shape), depth);
                }
            }
            shape => {
                for part in shape.parts() {
                    self.inner(part, depth);
                }
            }
        }
    }

    /// Adds the lines for one of several forms, each with an example if it is an object.
    fn options(&mut self, shapes: &'f [Shape], depth: usize) {
        let is_any_of_several = shapes.iter().filter(|shape| **shape != Shape::Null).count() > 1;
        for shape in shapes {
            let is_object = matches!(self.form.resolve(shape), Shape::Object(_));
            let is_shown = is_any_of_several && is_object;
            if is_shown {
                let example = self.form.example_of(shape);
                self.line(&format!("as in {example}"), depth);
            }
            self.inner(shape, depth + usize::from(is_shown));
        }
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")?;

        if let Some(format) = &self.format {
            write!(f, " in the format {format}")?;
        }
        if let Some(pattern) = &self.pattern {
            write!(f, " that matches `{pattern}`")?;
        }
        Ok(())
    }
}

/// The maximum nesting of an example.
const MAX_DEPTH: usize = 5;

impl Form {
    /// Returns an example of the structure of the answer on one line, as in
    /// `{"thought": "…", "steps": ["…"]}`.
    pub(crate) fn example(&self) -> String {
        let example = self.example_of(&self.root);
        match self.is_wrapped() {
            true => format!("{{\"{ANSWER}\": {example}}}"),
            false => example,
        }
    }

    /// Returns an example of the structure of a part of the answer.
    pub(crate) fn example_of(&self, shape: &Shape) -> String {
        self.example_at(shape, 0)
    }

    fn example_at(&self, shape: &Shape, depth: usize) -> String {
        // The same holds for an example.
        if depth > MAX_DEPTH {
            return "…".to_owned();
        }

        let inner = |shape: &Shape| self.example_at(shape, depth + 1);
        match self.resolve(shape) {
            Shape::Text(_) | Shape::Any | Shape::Ref(_) => "\"…\"".to_owned(),
            Shape::Choice(choices) => match choices.as_slice() {
                [single] => single.value.to_string(),
                [first, ..] if !first.value.is_string() => first.value.to_string(),
                _ => "\"…\"".to_owned(),
            },
            Shape::Integer(_) | Shape::Number { .. } => "1".to_owned(),
            Shape::Boolean => "true".to_owned(),
            Shape::Null => "null".to_owned(),
            Shape::AnyOf(shapes) => shapes.first().map_or_else(|| "null".to_owned(), inner),
            Shape::List(items, _) => format!("[{}]", inner(items)),
            Shape::Tuple(items) => format!("[{}]", join(", ", items.iter().map(inner))),
            Shape::Map(values) => format!("{{\"…\": {}}}", inner(values)),
            Shape::Object(object) => {
                let entries = object.properties.iter().map(|property| {
                    let name = Value::from(property.name.as_str());
                    format!("{name}: {}", inner(&property.shape))
                });
                format!("{{{}}}", join(", ", entries))
            }
        }
    }
}
