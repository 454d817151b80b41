use cogwork_llm::LlmError;
use cogwork_text::{Name, OneLine};

/// The error of a hook.
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
    /// The hook refuses the request or the answer for this reason: the generation fails.
    #[error("{}", OneLine::new(.0).with_max_chars(500))]
    Refused(String),
    /// Any other error.
    #[error("{}", OneLine::new(.0))]
    Other(String),
}

cogwork_text::debug_as_display!(ThinkingError);

impl ThinkingError {
    /// Creates an error for a custom mode.
    pub fn new(message: impl Into<String>) -> Self {
        Self::Other(message.into())
    }

    /// Creates an error for a reply without the requested form.
    pub fn unexpected(found: &str, expected: &str) -> Self {
        let found = Name(found);
        Self::new(format!("the model replied `{found}`; expected {expected}"))
    }

    /// Creates an error that refuses the request or the answer for this reason.
    pub fn refused(reason: impl Into<String>) -> Self {
        Self::Refused(reason.into())
    }
}
