use std::fmt;

use cogwork_text::{Escaped, Name, OneLine};
use serde::{Deserialize, Serialize};

/// A parameter of another type than expected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Mistyped {
    /// Its name, and the place in it: `approaches[1].promise`.
    pub parameter: String,
    /// What would be accepted.
    pub expected: String,
    /// What was found.
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
