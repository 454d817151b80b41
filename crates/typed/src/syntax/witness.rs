//! Compares a reading of YAML with that of `yaml_serde`.
//!
//! Our reader keeps the lines and spellings of the values, all pairs of a repeated key, and what is
//! malformed. So that it reads what is YAML as YAML, a parser of YAML reads the same text.

use std::borrow::Cow;

use cogwork_text::expensive_yaml_line;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_yaml::Deserializer as Yaml;

use super::MAX_LEVELS;
use crate::tree::Tree;

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
    // The end of a reply ends its last line, which is part of a text after `|`.
    let text = match text.ends_with('\n') {
        true => Cow::Borrowed(text),
        false => Cow::Owned(format!("{text}\n")),
    };
    let text = text.as_ref();
    if let Some(line) = expensive_yaml_line(text, MAX_LEVELS) {
        let message = "this may be nested too deeply".to_owned();
        return Verdict::Invalid { line, message };
    }
    if Value::deserialize(Yaml::from_str(text)).is_ok_and(|value| value == tree.to_value()) {
        return Verdict::Same;
    }

    // A tag isn't a fault of the text, but no value has one.
    match IgnoredAny::deserialize(Yaml::from_str(text)) {
        Ok(_) => Verdict::Different,
        Err(error) => Verdict::Invalid {
            line: error.location().map_or(1, |location| location.line()),
            message: error.to_string(),
        },
    }
}
