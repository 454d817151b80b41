use std::fmt;

use cogwork_flow::{BoxError, BuildError};
use cogwork_text::ErrorText;

use crate::Refusal;

/// What a case found: where, what was expected, and what happened instead.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BrokenPromise {
    /// Where it happened.
    pub at: String,
    /// What the contract demands.
    pub expected: String,
    /// What happened.
    pub happened: String,
}

impl BrokenPromise {
    pub(crate) fn new(
        at: impl fmt::Display,
        expected: impl fmt::Display,
        happened: impl fmt::Display,
    ) -> Self {
        Self {
            at: at.to_string(),
            expected: expected.to_string(),
            happened: happened.to_string(),
        }
    }

    /// Prepends a place.
    pub(crate) fn inside(self, at: impl fmt::Display) -> Self {
        Self {
            at: format!("{at}, {}", self.at),
            ..self
        }
    }
}

impl fmt::Display for BrokenPromise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            at,
            expected,
            happened,
        } = self;
        write!(
            f,
            "{}: expected {}; got {}",
            ErrorText(at),
            ErrorText(expected),
            ErrorText(happened)
        )
    }
}

cogwork_text::debug_as_display!(BrokenPromise);

impl std::error::Error for BrokenPromise {}

impl From<BuildError> for BrokenPromise {
    fn from(error: BuildError) -> Self {
        Self::new("the flow of the case", "a flow that can be built", error)
    }
}

impl From<Refusal> for BrokenPromise {
    fn from(refusal: Refusal) -> Self {
        Self::new("a call of the subject", "success", refusal)
    }
}

impl From<BoxError> for BrokenPromise {
    fn from(error: BoxError) -> Self {
        Self::new("a call of the subject", "success", error)
    }
}

/// The result of a case.
pub(crate) type Checked = Result<(), BrokenPromise>;

/// Returns a problem unless the two are equal.
pub(crate) fn equal<T: PartialEq + fmt::Debug>(
    at: impl fmt::Display,
    expected: &T,
    happened: &T,
) -> Checked {
    if expected == happened {
        return Ok(());
    }

    Err(BrokenPromise::new(
        at,
        format_args!("{expected:?}"),
        format_args!("{happened:?}"),
    ))
}
