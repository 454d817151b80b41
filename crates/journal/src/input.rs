//! Compares the input or the state given for a run with the recorded one.

use std::fmt::{self, Write};

use cogwork_text::Name;
use serde_json::Value;

/// The place where two values first differ.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Difference {
    Whole,
    /// A JSON pointer.
    At(String),
}

/// Returns where two JSON texts differ, or `None` if they are equal. The order of keys doesn't matter,
/// since it differs between processes for a `HashMap`.
pub(crate) fn difference(recorded: &str, given: &str) -> Option<Difference> {
    if recorded == given {
        return None;
    }

    let recorded = serde_json::from_str::<Value>(recorded);
    let given = serde_json::from_str::<Value>(given);
    let (Ok(recorded), Ok(given)) = (recorded, given) else {
        // Nested too deeply to be compared part by part.
        return Some(Difference::Whole);
    };

    if recorded == given {
        return None;
    }

    match pointer(&recorded, &given) {
        path if path.is_empty() => Some(Difference::Whole),
        path => Some(Difference::At(path)),
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => Ok(()),
            Self::At(pointer) => write!(f, " (it differs at `{}`)", Name(pointer)),
        }
    }
}

/// Returns the JSON pointer of the first part that differs, which is empty for the whole value.
fn pointer(recorded: &Value, given: &Value) -> String {
    let mut path = String::new();
    let mut parts = Some((recorded, given));

    while let Some((recorded, given)) = parts {
        let Some(part) = first_part(recorded, given) else {
            break;
        };

        // Writing to a `String` cannot fail.
        let _ = write!(path, "/{}", part.name);
        parts = part.values;
    }

    path
}

struct Part<'a> {
    name: String,
    /// The two values, if both inputs have this part.
    values: Option<(&'a Value, &'a Value)>,
}

/// Returns the first part of two objects or arrays that differs.
fn first_part<'a>(recorded: &'a Value, given: &'a Value) -> Option<Part<'a>> {
    match (recorded, given) {
        (Value::Object(recorded), Value::Object(given)) => recorded
            .keys()
            .chain(given.keys())
            .find(|key| recorded.get(*key) != given.get(*key))
            .map(|key| Part {
                name: key.replace('~', "~0").replace('/', "~1"),
                values: recorded.get(key).zip(given.get(key)),
            }),
        (Value::Array(recorded), Value::Array(given)) => (0..recorded.len().max(given.len()))
            .find(|index| recorded.get(*index) != given.get(*index))
            .map(|index| Part {
                name: index.to_string(),
                values: recorded.get(index).zip(given.get(index)),
            }),
        _ => None,
    }
}
