use std::time::Duration;

use cogwork_llm::{LlmError, LlmErrorKind};
use cogwork_text::{Name, OneLine};

/// Why a hook gave no verdict. What then holds is said by the mode's [`OnFailure`](crate::OnFailure).
///
/// A failed call becomes one by `?`; [`ThinkingError::new`] is for the rest.
///
/// ```
/// use cogwork_thinking::ThinkingError;
///
/// let error = ThinkingError::unexpected("well …", "a number from 1 to 3");
/// assert_eq!(error.to_string(), "the model answered `well …`; expected a number from 1 to 3");
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ThinkingError {
    /// A call to a model failed.
    #[error(transparent)]
    Call(#[from] LlmError),
    /// The model answered, without a text.
    #[error("the model answered nothing")]
    Empty,
    /// The answer reached the limit of tokens.
    #[error("the answer was cut off after {bytes} bytes")]
    CutOff {
        /// How much of it came.
        bytes: usize,
    },
    /// A filter withheld the answer, or a part of it.
    #[error("a filter withheld the answer")]
    Withheld,
    /// The answer is longer than the [limit](crate::ModeLimits::with_answer_bytes).
    #[error("the answer has {bytes} bytes; expected at most {most}")]
    TooLong {
        /// How long it is.
        bytes: usize,
        /// The limit.
        most: usize,
    },
    /// The answer is not of the form that was asked for.
    #[error(
        "the model answered `{}`; expected {}",
        Name(found),
        OneLine::new(expected)
    )]
    Unexpected {
        /// What it said.
        found: String,
        /// What would have been accepted.
        expected: String,
    },
    /// Hooks and memory took longer than the [limit](crate::ModeLimits::with_time).
    #[error("thinking took longer than {0:?}")]
    Timeout(Duration),
    /// The hook, or the memory, panicked with this message.
    #[error("it panicked: {}", OneLine::new(.0).with_max_chars(200))]
    Panic(String),
    /// The hook answered what it may not answer there.
    #[error("{}", OneLine::new(.0))]
    Misplaced(String),
    /// Anything else.
    #[error("{}", OneLine::new(.0))]
    Other(String),
}

impl ThinkingError {
    /// Anything else that goes wrong in a mode of your own.
    pub fn new(message: impl Into<String>) -> Self {
        Self::Other(message.into())
    }

    /// The model answered something else than was asked for.
    pub fn unexpected(found: impl Into<String>, expected: impl Into<String>) -> Self {
        Self::Unexpected {
            found: found.into(),
            expected: expected.into(),
        }
    }

    /// The error of the whole generation. A call that failed keeps its kind, so that a `Retry` outside
    /// decides as it would have for the call itself.
    pub(crate) fn into_llm_error(self, mode: &str, hook: crate::Hook) -> LlmError {
        let failed = format!(
            "the thinking mode `{}` failed {hook} the generation",
            Name(mode)
        );
        let mut error = match &self {
            Self::Call(error) => {
                LlmError::new(error.kind(), format!("{failed}: {}", error.message()))
            }
            Self::Timeout(_) => LlmError::new(LlmErrorKind::Timeout, format!("{failed}: {self}")),
            _ => LlmError::new(LlmErrorKind::Other, format!("{failed}: {self}")),
        };

        if let Self::Call(call) = &self {
            if let Some(status) = call.status() {
                error = error.with_status(status);
            }
            if let Some(wait) = call.retry_after() {
                error = error.with_retry_after(wait);
            }
        }

        error.with_source(self)
    }
}
