use serde::{Deserialize, Serialize};

/// An answer to the problem.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Answer {
    /// The answer.
    pub text: String,
    /// How sure it is, from 0 to 1, in strategies that can tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
}

impl Answer {
    /// An answer without a confidence.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            confidence: None,
        }
    }

    /// With a confidence from 0 to 1; what is outside is brought to the nearer end.
    #[must_use]
    pub fn with_confidence(mut self, confidence: f64) -> Self {
        self.confidence =
            Some(confidence.clamp(0.0, 1.0)).filter(|confidence| !confidence.is_nan());
        self
    }
}
