use std::fmt;

use cogwork_llm::LlmError;
use cogwork_text::{Name, OneLine, ReplyExcerpt};

/// The error of a hook.
///
/// `{}` is one line; `{:#}` adds the start of an unexpected reply.
///
/// The error of a call converts with `?`; use [`ThinkingError::new`] for other errors.
///
/// ```
/// use cogwork_thinking::ThinkingError;
///
/// let error = ThinkingError::unexpected("well …", "a number from 1 to 3");
/// assert_eq!(error.to_string(), "the model replied `well …`; expected a number from 1 to 3");
/// ```
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ThinkingError {
    /// A call to a model failed.
    #[error(transparent)]
    Call(#[from] LlmError),
    /// The reply doesn't have the requested form.
    #[error(fmt = unexpected)]
    Unexpected {
        /// The reply.
        found: String,
        /// What would have been accepted.
        expected: String,
    },
    /// The hook refuses the request or the answer for this reason: the generation fails.
    #[error("{}", OneLine::new(.0).with_max_chars(500))]
    Refused(String),
    /// Any other error.
    #[error("{}", OneLine::new(.0))]
    Other(String),
}

cogwork_text::debug_as_display!(ThinkingError);

/// Writes one line, or with `{:#}` also more of the reply.
fn unexpected(found: &str, expected: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let name = Name(found);
    let expected = OneLine::new(expected);
    write!(f, "the model replied `{name}`; expected {expected}")?;

    if f.alternate() {
        fmt::Display::fmt(&ReplyExcerpt(found), f)?;
    }
    Ok(())
}

impl ThinkingError {
    /// Creates an error for a custom mode.
    pub fn new(message: impl Into<String>) -> Self {
        Self::Other(message.into())
    }

    /// Creates an error for a reply without the requested form.
    pub fn unexpected(found: impl Into<String>, expected: impl Into<String>) -> Self {
        Self::Unexpected {
            found: found.into(),
            expected: expected.into(),
        }
    }

    /// Creates an error that refuses the request or the answer for this reason.
    pub fn refused(reason: impl Into<String>) -> Self {
        Self::Refused(reason.into())
    }
}
