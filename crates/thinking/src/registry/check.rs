//! Validates settings against their JSON Schema, as far as schemas derived from types need it.
//! Other rules are left to the `Deserialize` of the type, which reads the settings afterwards.

use cogwork_text::{Name, NameList};
use serde_json::{Map, Value, json};

use super::error::nearest;
use super::{PathPart, SettingsProblem};

/// The maximum number of problems that are collected.
const MOST: usize = 100;

/// The maximum nesting of settings, to bound the stack.
const DEEPEST: usize = 64;

pub(super) fn problems(schema: &Value, settings: &Value) -> Vec<SettingsProblem> {
    found(schema, schema, settings, &[])
}

fn found(
    root: &Value,
    schema: &Value,
    settings: &Value,
    path: &[PathPart],
) -> Vec<SettingsProblem> {
    let mut check = Check {
        root,
        path: path.to_vec(),
        problems: Vec::new(),
    };

    check.value(schema, settings);
    check.problems
}

/// Makes the objects of a schema refuse additional properties, unless it allows them explicitly.
pub(super) fn close(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            map.values_mut().for_each(close);

            // The parts of an `allOf` and of a flattened field list only their own properties.
            let is_part = ["allOf", "anyOf", "oneOf", "$ref"]
                .iter()
                .any(|key| map.contains_key(*key));

            // An optional object is an object or null.
            let is_object = match map.get("type") {
                Some(Value::Array(kinds)) => kinds.contains(&json!("object")),
                kind => kind == Some(&json!("object")),
            };
            if map.get("properties").is_some_and(Value::is_object) && is_object && !is_part {
                map.entry("additionalProperties").or_insert(json!(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

struct Check<'s> {
    /// The root that references point into.
    root: &'s Value,
    path: Vec<PathPart>,
    problems: Vec<SettingsProblem>,
}

impl Check<'_> {
    fn add(&mut self, message: String, expected: Option<String>, nearest: Option<String>) {
        if self.problems.len() < MOST {
            let path = self.path.clone();
            self.problems.push(SettingsProblem {
                path,
                message,
                expected,
                nearest,
            });
        }
    }

    fn at(&mut self, part: PathPart, schema: &Value, value: &Value) {
        self.path.push(part);
        self.value(schema, value);
        self.path.pop();
    }

    fn value(&mut self, schema: &Value, value: &Value) {
        let Some(schema) = resolved(self.root, schema) else {
            return;
        };

        if self.path.len() > DEEPEST {
            return self.add(
                "it is nested too deeply".to_owned(),
                Some(format!("at most {DEEPEST} levels")),
                None,
            );
        }

        if !self.choice(schema, value) || !self.kind(schema, value) {
            return;
        }

        self.range(schema, value);
        match value {
            Value::Object(map) => self.object(schema, map),
            Value::Array(items) => {
                let first = schema.get("prefixItems").and_then(Value::as_array);
                for (index, item) in items.iter().enumerate() {
                    let own = first.and_then(|first| first.get(index));
                    if let Some(schema) = own.or(schema.get("items")) {
                        self.at(PathPart::Index(index), schema, item);
                    }
                }
            }
            _ => {}
        }
    }

    /// Checks `const`, `enum`, `anyOf` and `oneOf`.
    fn choice(&mut self, schema: &Map<String, Value>, value: &Value) -> bool {
        let named = constants(schema);
        if let Some(named) = &named
            && !named.contains(&value)
        {
            let names: Vec<_> = named
                .iter()
                .map(|name| name.as_str().map_or(name.to_string(), str::to_owned))
                .collect();
            let nearest = value
                .as_str()
                .and_then(|text| nearest(text, names.iter().map(String::as_str)))
                .map(str::to_owned);
            self.add(
                format!("it is {}", shown(value)),
                Some(NameList::or(&names).to_string()),
                nearest,
            );

            return false;
        }

        let choices = ["anyOf", "oneOf"]
            .iter()
            .find_map(|key| schema.get(*key)?.as_array());
        let Some(choices) = choices.filter(|_| named.is_none()) else {
            return true;
        };

        self.add_closest(choices, value);
        true
    }

    /// Adds the problems of the choice with the fewest problems.
    fn add_closest(&mut self, choices: &[Value], value: &Value) {
        let here = self.path.len();
        let tried = choices
            .iter()
            .map(|choice| found(self.root, choice, value, &self.path));
        let closest = tried.min_by_key(|problems| {
            let at_top = problems.iter().filter(|problem| problem.path.len() == here);
            (problems.len(), at_top.count())
        });

        let room = MOST.saturating_sub(self.problems.len());
        self.problems
            .extend(closest.into_iter().flatten().take(room));
    }

    fn kind(&mut self, schema: &Map<String, Value>, value: &Value) -> bool {
        let kinds: Vec<&str> = match schema.get("type") {
            Some(Value::String(kind)) => vec![kind],
            Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
            _ => return true,
        };

        let is = |kind: &&str| match *kind {
            "null" => value.is_null(),
            "boolean" => value.is_boolean(),
            "integer" => value.is_i64() || value.is_u64(),
            "number" => value.is_number(),
            "string" => value.is_string(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            _ => true,
        };

        if kinds.iter().any(is) {
            return true;
        }

        let named = kinds
            .iter()
            .filter(|kind| **kind != "null" || kinds.len() == 1)
            .map(|kind| match *kind {
                "boolean" => "true or false",
                "integer" => "a whole number",
                "number" => "a number",
                "string" => "a text",
                "array" => "a list",
                "object" => "a map",
                other => other,
            });

        self.add(
            format!("it is {}", shown(value)),
            Some(named.collect::<Vec<_>>().join(" or ")),
            None,
        );

        false
    }

    fn range(&mut self, schema: &Map<String, Value>, value: &Value) {
        let (size, least, most, unit) = match value {
            Value::Number(number) => (number.as_f64(), "minimum", "maximum", ""),
            Value::String(text) => (
                Some(text.chars().count() as f64),
                "minLength",
                "maxLength",
                " characters",
            ),
            Value::Array(items) => (Some(items.len() as f64), "minItems", "maxItems", " items"),
            _ => return,
        };

        let Some(size) = size else { return };
        let limit = |key: &str| schema.get(key).and_then(Value::as_f64);
        let least = limit(least);
        let most = limit(most);

        if least.is_some_and(|least| size < least) || most.is_some_and(|most| size > most) {
            let expected = match (least, most) {
                (Some(least), Some(most)) => format!("from {least} to {most}{unit}"),
                (Some(least), None) => format!("at least {least}{unit}"),
                (None, Some(most)) => format!("at most {most}{unit}"),
                (None, None) => return,
            };

            let found = if unit.is_empty() {
                format!("it is {size}")
            } else {
                format!("it has {size}{unit}")
            };

            self.add(found, Some(expected), None);
        }
    }

    fn object(&mut self, schema: &Map<String, Value>, map: &Map<String, Value>) {
        let none = Map::new();
        let known = schema
            .get("properties")
            .and_then(Value::as_object)
            .unwrap_or(&none);
        for (key, value) in map {
            match (known.get(key), schema.get("additionalProperties")) {
                (Some(schema), _) => self.at(PathPart::Key(key.clone()), schema, value),
                (None, Some(Value::Bool(false))) => {
                    let names: Vec<_> = known.keys().collect();
                    self.path.push(PathPart::Key(key.clone()));
                    let nearest = nearest(key, known.keys().map(String::as_str));
                    let nearest = nearest.map(str::to_owned);
                    self.add(
                        "unknown setting".to_owned(),
                        Some(NameList::or(&names).to_string()),
                        nearest,
                    );

                    self.path.pop();
                }
                (None, Some(schema)) => self.at(PathPart::Key(key.clone()), schema, value),
                (None, None) => {}
            }
        }

        let required = schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();

        for name in required
            .filter_map(Value::as_str)
            .filter(|name| !map.contains_key(*name))
        {
            self.path.push(PathPart::Key(name.to_owned()));
            self.add("it is missing".to_owned(), None, None);
            self.path.pop();
        }
    }
}

/// Resolves a reference. A recursive type is written as one. Each reference must point to something
/// other than a reference, which is the case for schemas derived from types.
fn resolved<'s>(root: &'s Value, schema: &'s Value) -> Option<&'s Map<String, Value>> {
    let schema = schema.as_object()?;
    match schema.get("$ref").and_then(Value::as_str) {
        Some(reference) => root.pointer(reference.strip_prefix('#')?)?.as_object(),
        None => Some(schema),
    }
}

/// Returns the allowed values if they are listed: by `const`, `enum`, or a choice of only those.
fn constants(schema: &Map<String, Value>) -> Option<Vec<&Value>> {
    if let Some(value) = schema.get("const") {
        return Some(vec![value]);
    }

    if let Some(Value::Array(values)) = schema.get("enum") {
        return Some(values.iter().collect());
    }

    let choices = ["anyOf", "oneOf"]
        .iter()
        .find_map(|key| schema.get(*key)?.as_array())?;
    let listed = choices.iter().map(|choice| constants(choice.as_object()?));
    Some(listed.collect::<Option<Vec<_>>>()?.concat())
}

/// Describes a value in a few words.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => format!("the text `{}`", Name(text)),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a map".to_owned(),
    }
}
