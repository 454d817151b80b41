//! A value of a reply, with the lines of its parts.

use serde_json::{Map, Value};

/// A value, and the line of the reply on which it begins, from 1.
#[derive(Debug, Clone)]
pub(crate) struct Tree {
    pub(crate) line: usize,
    pub(crate) node: Node,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    Null,
    Bool(bool),
    /// A number as it is written.
    Number(String),
    Text(String),
    /// A text without quotes in YAML, whose type depends on what is expected.
    Plain(String),
    List(Vec<Tree>),
    /// The keys and values as they are written, even if a key is repeated.
    Object(Vec<(String, Tree)>),
}

/// Equal values are equal on any line.
impl PartialEq for Tree {
    fn eq(&self, other: &Self) -> bool {
        self.node == other.node
    }
}

/// A value that wasn't written by a model, so that all of it is on one line.
impl From<&Value> for Tree {
    fn from(value: &Value) -> Self {
        let node = match value {
            Value::Null => Node::Null,
            Value::Bool(value) => Node::Bool(*value),
            Value::Number(number) => Node::Number(number.to_string()),
            Value::String(text) => Node::Text(text.clone()),
            Value::Array(items) => Node::List(items.iter().map(Self::from).collect()),
            Value::Object(fields) => {
                let entries = fields.iter();
                Node::Object(
                    entries
                        .map(|(key, value)| (key.clone(), value.into()))
                        .collect(),
                )
            }
        };
        Self::new(1, node)
    }
}

impl Tree {
    pub(crate) fn new(line: usize, node: Node) -> Self {
        Self { line, node }
    }

    pub(crate) fn is_empty_object(&self) -> bool {
        matches!(&self.node, Node::Object(entries) if entries.is_empty())
    }

    /// Returns what it is, for a complaint.
    pub(crate) fn found(&self) -> String {
        match &self.node {
            Node::Null => "null".to_owned(),
            Node::Plain(text) if is_plain_null(text) => "null".to_owned(),
            Node::Bool(value) => format!("the boolean {value}"),
            Node::Number(number) => format!("the number {number}"),
            Node::Text(text) | Node::Plain(text) => {
                let shown = cogwork_text::Escaped::new(text).with_max_chars(60);
                format!("the text \"{shown}\"")
            }
            Node::List(_) => "a list".to_owned(),
            Node::Object(_) => "an object".to_owned(),
        }
    }

    /// Returns how a value without parts is written, except for null.
    pub(crate) fn spelling(&self) -> Option<&str> {
        match &self.node {
            Node::Bool(true) => Some("true"),
            Node::Bool(false) => Some("false"),
            Node::Number(text) | Node::Text(text) | Node::Plain(text) => Some(text),
            Node::Null | Node::List(_) | Node::Object(_) => None,
        }
    }

    /// Returns the value as it is. Of several values of a key, the last one counts.
    pub(crate) fn to_value(&self) -> Value {
        match &self.node {
            Node::Null => Value::Null,
            Node::Bool(value) => Value::Bool(*value),
            // A number that is too large is shown as a text, which no number is read from.
            Node::Number(number) => {
                serde_json::from_str(number).unwrap_or_else(|_| Value::from(number.as_str()))
            }
            Node::Text(text) => Value::from(text.as_str()),
            Node::Plain(text) => plain_value(text),
            Node::List(items) => items.iter().map(Self::to_value).collect(),
            Node::Object(entries) => entries
                .iter()
                .map(|(key, tree)| (key.clone(), tree.to_value()))
                .collect::<Map<_, _>>()
                .into(),
        }
    }

    /// Returns about how many bytes it was written in.
    pub(crate) fn size(&self) -> usize {
        1 + match &self.node {
            Node::Null | Node::Bool(_) => 0,
            Node::Number(text) | Node::Text(text) | Node::Plain(text) => text.len(),
            Node::List(items) => items.iter().map(Self::size).sum(),
            Node::Object(entries) => entries
                .iter()
                .map(|(key, tree)| key.len() + tree.size())
                .sum(),
        }
    }

    /// Returns the items of a list, or none.
    pub(crate) fn items(&self) -> &[Self] {
        match &self.node {
            Node::List(items) => items,
            _ => &[],
        }
    }

    /// Returns the entries of an object, or none.
    pub(crate) fn entries(&self) -> &[(String, Self)] {
        match &self.node {
            Node::Object(entries) => entries,
            _ => &[],
        }
    }
}

/// Returns the value of a text without quotes where any value is accepted.
fn plain_value(text: &str) -> Value {
    if is_plain_null(text) {
        return Value::Null;
    }

    let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || b"+-._".contains(&byte);
    // Any other text is one in YAML, too, and needs no parser.
    let is_word = text.len() < 400 && text.bytes().all(is_sign);
    let value = is_word.then(|| serde_yaml::from_str(text).ok()).flatten();
    match value {
        // JSON has no infinite numbers.
        None | Some(Value::Null) => Value::from(text),
        Some(value) => value,
    }
}

/// Returns whether a text without quotes is null in YAML.
pub(crate) fn is_plain_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}
