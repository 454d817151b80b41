use std::fmt;

use cogwork_text::{Escaped, Name, OneLine};
use serde::{Deserialize, Serialize};

/// A parameter that isn't of the expected type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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
