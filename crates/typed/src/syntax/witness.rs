//! Compares a reading of YAML with that of `yaml_serde`.
//!
//! Our reader keeps the lines and spellings of the values, all pairs of a repeated key, and what is
//! malformed. So that it reads what is YAML as YAML, a parser of YAML walks over the same text. It
//! asks for each scalar as a text, so that spellings are compared, too.

use std::fmt;

use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_yaml::Deserializer as Yaml;

use super::MAX_LEVELS;
use crate::tree::{Node, Tree};

/// How a text is as YAML.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Verdict {
    /// The text is YAML with this value.
    Same,
    /// The text is YAML with another value.
    Different,
    /// The text isn't YAML, or the parser wasn't asked because it might take long.
    Invalid { line: usize, message: String },
}

pub(super) fn compare(text: &str, tree: &Tree) -> Verdict {
    if let Some(line) = expensive_line(text) {
        let message = "this may be nested too deeply".to_owned();
        return Verdict::Invalid { line, message };
    }
    if Expected(tree).deserialize(Yaml::from_str(text)).is_ok() {
        return Verdict::Same;
    }

    // Faults of the text are reported after the values before them, so it is read again.
    match IgnoredAny::deserialize(Yaml::from_str(text)) {
        Ok(_) => Verdict::Different,
        Err(error) => Verdict::Invalid {
            line: error.location().map_or(1, |location| location.line()),
            message: error.to_string(),
        },
    }
}

/// Returns the first line, from 1, from which the parser might take quadratic time. It examines all
/// open brackets and levels for each token, and compares all directives with each other.
fn expensive_line(text: &str) -> Option<usize> {
    let mut open = 0_usize;
    let mut rare = 0_usize;

    let line = text.lines().position(|line| {
        let opened = line.matches(['[', '{']).count();
        let closed = line.matches([']', '}']).count();
        let deepest = open + opened;
        open = deepest.saturating_sub(closed);

        let start = line.len() - line.trim_start_matches([' ', '-', '?', '\t']).len();
        let dashes = line
            .get(..start)
            .unwrap_or_default()
            .matches(['-', '?'])
            .count();
        // A text may contain such lines, too.
        let is_rare = line.starts_with('%') || line.trim_start().starts_with('?');
        rare += usize::from(is_rare);
        rare > MAX_LEVELS || deepest > MAX_LEVELS || start + dashes > MAX_LEVELS
    });
    line.map(|before| before + 1)
}

/// A value that is as in the tree, or an error.
struct Expected<'t>(&'t Tree);

impl<'de> DeserializeSeed<'de> for Expected<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match &self.0.node {
            Node::List(_) => deserializer.deserialize_seq(self),
            Node::Object(_) => deserializer.deserialize_map(self),
            _ => deserializer.deserialize_str(self),
        }
    }
}

impl<'de> Visitor<'de> for Expected<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the same value")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        match &self.0.node {
            Node::Plain(same) | Node::Text(same) if same == text => Ok(()),
            _ => Err(E::custom("another text")),
        }
    }

    /// Visits a missing value.
    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.visit_str("")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let Node::List(expected) = &self.0.node else {
            return Err(A::Error::custom("a list"));
        };

        for item in expected {
            if items.next_element_seed(Expected(item))?.is_none() {
                return Err(A::Error::custom("fewer items"));
            }
        }
        match items.next_element::<IgnoredAny>()? {
            Some(_) => Err(A::Error::custom("more items")),
            None => Ok(()),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        for (key, value) in self.0.entries() {
            let key = Tree::new(1, Node::Text(key.clone()));
            if entries.next_key_seed(Expected(&key))?.is_none() {
                return Err(A::Error::custom("fewer keys"));
            }
            entries.next_value_seed(Expected(value))?;
        }

        match entries.next_key::<IgnoredAny>()? {
            Some(_) => Err(A::Error::custom("more keys")),
            None => Ok(()),
        }
    }
}
