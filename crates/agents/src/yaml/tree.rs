use std::fmt;
use std::sync::Arc;

use serde_json::Number;

use crate::problem::Found;
use crate::quote::Name;
use crate::{Place, SettingProblem};

/// A value and its place.
#[derive(Clone)]
pub(crate) struct Tree {
    pub(crate) place: Place,
    pub(crate) value: Value,
}

#[derive(Clone)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Number(Number),
    Text(Text),
    List(Vec<Tree>),
    Map(Vec<Entry>),
}

/// A text, which may contain values from the environment. Messages only show the names of the
/// variables.
#[derive(Clone)]
pub(crate) struct Text {
    pub(crate) value: String,
    /// The variables that it contains, in order.
    pub(crate) variables: Vec<String>,
}

#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) place: Place,
    pub(crate) value: Tree,
}

impl Tree {
    /// Returns the kind of value, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match &self.value {
            Value::Null => "nothing",
            Value::Bool(_) => "a truth value",
            Value::Number(number) if number.is_f64() => "a number",
            Value::Number(_) => "a whole number",
            Value::Text(_) => "a text",
            Value::List(_) => "a list",
            Value::Map(_) => "a mapping",
        }
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Map(entries) => entries,
            _ => &[],
        }
    }

    pub(crate) fn items(&self) -> &[Tree] {
        match &self.value {
            Value::List(items) => items,
            _ => &[],
        }
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Tree> {
        self.entries()
            .iter()
            .find(|entry| entry.key == key)
            .map(|entry| &entry.value)
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(&text.value),
            _ => None,
        }
    }

    /// Returns the value at a path, or the last existing value on the way to it.
    pub(crate) fn nearest_to(&self, path: &Path) -> &Tree {
        let mut at = self;
        for segment in &path.0 {
            let below = match segment {
                Segment::Key(key) => at.get(key),
                Segment::Index(index) => at.items().get(*index),
            };
            match below {
                Some(below) => at = below,
                None => break,
            }
        }

        at
    }

    /// Returns a problem of the settings in this value, which is at `path`.
    pub(crate) fn problem(&self, path: &Path, problem: SettingProblem) -> Found {
        let place = self
            .nearest_to(&Path::default().below(problem.path()))
            .place;
        Found::new(place, &path.below(problem.path()), problem.message())
    }

    /// Returns the value as JSON, including values from the environment.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        use serde_json::Value as Json;

        match &self.value {
            Value::Null => Json::Null,
            Value::Bool(value) => Json::Bool(*value),
            Value::Number(number) => Json::Number(number.clone()),
            Value::Text(text) => Json::String(text.value.clone()),
            Value::List(items) => items.iter().map(Tree::to_json).collect(),
            Value::Map(entries) => entries
                .iter()
                .map(|entry| (entry.key.clone(), entry.value.to_json()))
                .collect(),
        }
    }

    /// Returns the number of values, bytes of text and levels, including the value itself.
    pub(crate) fn size(&self) -> (usize, usize, usize) {
        let mut values = 1;
        let mut bytes = 0;
        let mut depth = 0;
        let mut below = |tree: &Tree| {
            let size = tree.size();
            values += size.0;
            bytes += size.1;
            depth = depth.max(size.2);
        };

        match &self.value {
            Value::List(items) => items.iter().for_each(below),
            Value::Map(entries) => {
                entries.iter().for_each(|entry| below(&entry.value));
                bytes += entries.iter().map(|entry| entry.key.len()).sum::<usize>();
            }
            Value::Text(text) => bytes += text.value.len(),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }

        (values, bytes, depth + 1)
    }
}

/// The path to a value from the root of a file: `nodes[0].config.role`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Path(Vec<Segment>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Segment {
    /// Shared, because the path of every value in a mapping contains its key, and keys can be long.
    Key(Arc<str>),
    Index(usize),
}

impl Path {
    pub(crate) fn key(&self, key: impl Into<Arc<str>>) -> Self {
        let key = key.into();
        self.with(Segment::Key(key))
    }

    pub(crate) fn index(&self, index: usize) -> Self {
        self.with(Segment::Index(index))
    }

    /// Returns whether the path is equal to `other` or below it.
    pub(crate) fn is_in(&self, other: &Self) -> bool {
        self.0.starts_with(&other.0)
    }

    fn with(&self, segment: Segment) -> Self {
        let mut path = self.clone();
        path.0.push(segment);

        path
    }

    /// Returns the path extended by a relative one, such as `rounds` or `criteria[2].name`.
    pub(crate) fn below(&self, text: &str) -> Self {
        let mut path = self.clone();
        for part in text.split('.').filter(|part| !part.is_empty()) {
            let (key, indexes) = part
                .split_once('[')
                .map_or((part, ""), |(key, rest)| (key, rest));
            if !key.is_empty() {
                path.0.push(Segment::Key(key.into()));
            }

            let numbers = indexes
                .split(['[', ']'])
                .filter_map(|number| number.parse().ok());
            path.0.extend(numbers.map(Segment::Index));
        }

        path
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Key(key) => {
                    write!(f, "{}{}", if index > 0 { "." } else { "" }, Name(key))?
                }
                Segment::Index(index) => write!(f, "[{index}]")?,
            }
        }

        Ok(())
    }
}
