use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How much a model thinks before it replies.
///
/// Each model supports a part of the scale and has its own default. A level that a model doesn't
/// support is an error of kind [`InvalidRequest`](crate::LlmErrorKind::InvalidRequest), because
/// another level would change the cost and the quality of the reply.
///
/// | API | sent as |
/// |---|---|
/// | OpenAI Chat Completions | `reasoning_effort` |
/// | OpenAI Responses | `reasoning.effort` |
/// | Anthropic | `thinking.type: adaptive` and `output_config.effort`; for `None`, `thinking.type: disabled` |
/// | Ollama | `think` |
///
/// ```
/// use cogwork_llm::{ChatRequest, Effort, Message};
///
/// let request = ChatRequest::new([Message::user("Is 2^61 - 1 prime?")]).with_effort(Effort::High);
/// assert_eq!(request.effort(), Some(Effort::High));
/// assert_eq!("xhigh".parse(), Ok(Effort::XHigh));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// No thinking.
    None,
    /// As little thinking as possible.
    Minimal,
    /// Little thinking.
    Low,
    /// The middle of the scale.
    Medium,
    /// Much thinking.
    High,
    /// More than [`High`](Self::High), for models that support it.
    XHigh,
    /// As much thinking as possible.
    Max,
}

impl Effort {
    /// All levels, from the lowest to the highest.
    pub const ALL: [Self; 7] = [
        Self::None,
        Self::Minimal,
        Self::Low,
        Self::Medium,
        Self::High,
        Self::XHigh,
        Self::Max,
    ];

    /// Returns the level as APIs spell it, from `none` to `max`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::XHigh => "xhigh",
            Self::Max => "max",
        }
    }
}

impl fmt::Display for Effort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A text that isn't an [`Effort`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct UnknownEffort;

cogwork_text::debug_as_display!(UnknownEffort);

impl fmt::Display for UnknownEffort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let levels = Effort::ALL.map(Effort::as_str).join(", ");
        write!(f, "unknown effort; expected one of {levels}")
    }
}

impl std::error::Error for UnknownEffort {}

impl FromStr for Effort {
    type Err = UnknownEffort;

    fn from_str(text: &str) -> Result<Self, UnknownEffort> {
        let mut levels = Self::ALL.into_iter();
        levels
            .find(|level| level.as_str() == text)
            .ok_or(UnknownEffort)
    }
}
