//! A value of a reply, with the lines of its parts.

use cogwork_ask::MendedJson;
use serde_json::{Map, Value};

/// The maximum nesting of lists and objects, which is that of serde_json. Deeper values would
/// overflow the stack.
const MAX_NESTING: usize = 128;

/// A value, and the line of the reply on which it begins, from 1.
#[derive(Debug, Clone)]
pub(crate) struct Tree {
    pub(crate) line: usize,
    pub(crate) node: Node,
}

#[derive(Debug, Clone)]
pub(crate) enum Node {
    Null,
    Bool(bool),
    /// A number as it is written.
    Number(String),
    Text(String),
    /// A text without quotes in YAML, whose type depends on what is expected.
    Plain(String),
    List(Vec<Tree>),
    Object(Vec<(String, Tree)>),
}

/// Equal values are equal on any line.
impl PartialEq for Tree {
    fn eq(&self, other: &Self) -> bool {
        match (&self.node, &other.node) {
            (Node::Null, Node::Null) => true,
            (Node::Bool(a), Node::Bool(b)) => a == b,
            (Node::Number(a), Node::Number(b))
            | (Node::Text(a), Node::Text(b))
            | (Node::Plain(a), Node::Plain(b)) => a == b,
            (Node::List(a), Node::List(b)) => a == b,
            (Node::Object(a), Node::Object(b)) => a == b,
            _ => false,
        }
    }
}

impl Tree {
    pub(crate) fn new(line: usize, node: Node) -> Self {
        Self { line, node }
    }

    /// Reads the JSON of a mended text.
    pub(crate) fn of_mended(mended: &MendedJson) -> Option<Self> {
        let mut reader = Reader {
            json: mended.json(),
            at: 0,
            levels: MAX_NESTING,
            line_at: &|offset| mended.line_at(offset),
        };

        reader.value()
    }

    /// Reads valid JSON, unless it is nested too deeply. `line` is its first line in the reply.
    pub(crate) fn of_json(json: &str, line: usize) -> Option<Self> {
        let breaks: Vec<usize> = json.match_indices('\n').map(|(at, _)| at).collect();
        let line_at = |offset: usize| line + breaks.partition_point(|at| *at < offset);

        let mut reader = Reader {
            json,
            at: 0,
            levels: MAX_NESTING,
            line_at: &line_at,
        };
        reader.value()
    }

    /// Reads the valid JSON of a list or an object in a text on this line.
    pub(crate) fn of_encoded(text: &str, line: usize) -> Option<Self> {
        let text = text.trim();
        if !text.starts_with(['{', '[']) {
            return None;
        }

        serde_json::from_str::<serde::de::IgnoredAny>(text).ok()?;
        let mut reader = Reader {
            json: text,
            at: 0,
            levels: MAX_NESTING,
            line_at: &|_| line,
        };
        reader.value()
    }

    /// Returns what it is, for a complaint.
    pub(crate) fn found(&self) -> String {
        match &self.node {
            Node::Null => "null".to_owned(),
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

    /// Returns the value as it is.
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

    /// Returns the number of values, or more if a text may contain JSON.
    pub(crate) fn size(&self) -> usize {
        let inside: usize = match &self.node {
            Node::Text(text) if text.trim_start().starts_with(['{', '[']) => text.len() / 2,
            Node::List(items) => items.iter().map(Self::size).sum(),
            Node::Object(entries) => entries.iter().map(|(_, tree)| tree.size()).sum(),
            _ => 0,
        };
        inside + 1
    }
}

/// Returns the value of a text without quotes where any value is accepted.
fn plain_value(text: &str) -> Value {
    match text {
        "" | "~" | "null" => Value::Null,
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        text => match serde_json::from_str(text) {
            Ok(Value::Number(number)) => Value::Number(number),
            _ => Value::from(text),
        },
    }
}

/// Reads valid JSON. serde_json reports no lines of values.
struct Reader<'j> {
    json: &'j str,
    at: usize,
    /// How many more levels of lists and objects are read.
    levels: usize,
    line_at: &'j dyn Fn(usize) -> usize,
}

impl<'j> Reader<'j> {
    fn rest(&self) -> &'j str {
        self.json.get(self.at..).unwrap_or_default()
    }

    fn skip_blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    /// Passes a character if it is next.
    fn pass(&mut self, character: char) -> bool {
        self.skip_blanks();
        let is_next = self.rest().starts_with(character);
        if is_next {
            self.at += character.len_utf8();
        }
        is_next
    }

    fn value(&mut self) -> Option<Tree> {
        self.skip_blanks();
        let line = (self.line_at)(self.at);

        let node = match self.rest().chars().next()? {
            '{' => Node::Object(self.nested(Self::object)?),
            '[' => Node::List(self.nested(Self::list)?),
            '"' => Node::Text(self.text()?),
            _ => literal(self.word()),
        };
        Some(Tree { line, node })
    }

    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.levels = self.levels.checked_sub(1)?;
        let read = read(self)?;
        self.levels += 1;
        Some(read)
    }

    fn object(&mut self) -> Option<Vec<(String, Tree)>> {
        let mut entries = Vec::new();
        self.pass('{');

        while !self.pass('}') {
            self.pass(',');
            self.skip_blanks();
            let key = self.text()?;
            self.pass(':');
            entries.push((key, self.value()?));
        }

        Some(entries)
    }

    fn list(&mut self) -> Option<Vec<Tree>> {
        let mut items = Vec::new();
        self.pass('[');

        while !self.pass(']') {
            self.pass(',');
            items.push(self.value()?);
        }

        Some(items)
    }

    fn text(&mut self) -> Option<String> {
        let rest = self.rest();
        let mut is_escaped = false;
        let end = rest.bytes().skip(1).position(|byte| {
            let is_end = byte == b'"' && !is_escaped;
            is_escaped = byte == b'\\' && !is_escaped;
            is_end
        })?;

        let quoted = rest.get(..end + 2)?;
        self.at += quoted.len();
        serde_json::from_str(quoted).ok()
    }

    fn word(&mut self) -> &'j str {
        let rest = self.rest();
        let end = rest.find(|c: char| c.is_whitespace() || matches!(c, ',' | ']' | '}'));
        let word = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        self.at += word.len().max(1);
        word
    }
}

fn literal(word: &str) -> Node {
    match word {
        "null" => Node::Null,
        "true" => Node::Bool(true),
        "false" => Node::Bool(false),
        number => Node::Number(number.to_owned()),
    }
}
