use serde::{Deserialize, Serialize};

/// An answer to the problem.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Answer {
    /// The answer.
    pub text: String,
    /// The confidence in the answer, from 0 to 1, if the strategy provides one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
}

impl Answer {
    /// Creates an answer without a confidence.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            confidence: None,
        }
    }
}

impl<T: Into<String>> From<T> for Answer {
    fn from(text: T) -> Self {
        Self::new(text)
    }
}
