use std::fmt;

use cogwork_text::{Escaped, Name, OneLine};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A parameter that isn't of the expected type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Mistyped {
    /// The name of the parameter and the path inside it, as in `approaches[1].promise`.
    pub parameter: String,
    /// The expected type.
    pub expected: String,
    /// The value that was found.
    pub found: String,
}

impl Mistyped {
    /// Creates the fault of a value at a path.
    pub(crate) fn of(place: &str, expected: impl fmt::Display, found: &Value) -> Self {
        Self::new(place, expected, shown(found))
    }

    /// Creates a fault. `found` describes the value, as in `missing`.
    pub(crate) fn new(place: &str, expected: impl fmt::Display, found: impl fmt::Display) -> Self {
        Self {
            parameter: Name(place).to_string(),
            expected: expected.to_string(),
            found: found.to_string(),
        }
    }
}

impl fmt::Display for Mistyped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parameter = Escaped::new(&self.parameter);
        let found = OneLine::new(&self.found);
        let expected = OneLine::new(&self.expected);
        write!(f, "`{parameter}` is {found}, expected {expected}")
    }
}

/// Describes a value in a few words, as in `the text "abc"`, `12` or `a list`.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => format!("the text \"{}\"", Name(text)),
        // Its contents would drown the message.
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        scalar => scalar.to_string(),
    }
}
