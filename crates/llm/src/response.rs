use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// What a model answered.
///
/// ```
/// use cogwork_llm::{ChatResponse, FinishReason, Usage};
///
/// let response = ChatResponse::new("4")
///     .with_finish_reason(FinishReason::Stop)
///     .with_usage(Usage::new(12, 1));
/// assert_eq!(response.text(), "4");
/// assert_eq!(response.usage().map(|usage| usage.total_tokens()), Some(13));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatResponse {
    text: String,
    #[serde(default)]
    finish_reason: FinishReason,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    usage: Option<Usage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
}

impl ChatResponse {
    /// A whole reply with this text.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Why the model stopped. Unset: [`FinishReason::Stop`].
    #[must_use]
    pub fn with_finish_reason(mut self, reason: FinishReason) -> Self {
        self.finish_reason = reason;
        self
    }

    /// The tokens the call took. Unset: not known.
    #[must_use]
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// The model that answered, as the server names it. Unset: not known.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// The text of the reply.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text of the reply, without a copy.
    pub fn into_text(self) -> String {
        self.text
    }

    /// Why the model stopped.
    pub fn finish_reason(&self) -> &FinishReason {
        &self.finish_reason
    }

    /// The tokens the call took, if the backend says.
    pub fn usage(&self) -> Option<Usage> {
        self.usage
    }

    /// The model that answered, if the backend says.
    pub fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }
}

/// Why a model stopped writing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FinishReason {
    /// It was done, or met a stop text.
    #[default]
    Stop,
    /// It reached the limit of tokens: the reply is cut off.
    Length,
    /// A filter withheld the reply or a part of it.
    ContentFilter,
    /// Anything else, in the backend's own word.
    Other(String),
}

/// Tokens of a call, or of several added up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Usage {
    /// Tokens read: the conversation.
    pub prompt_tokens: u64,
    /// Tokens written: the reply.
    pub completion_tokens: u64,
    /// Those of `prompt_tokens` that the server had in its cache. 0 where it does not say.
    #[serde(default)]
    pub cached_tokens: u64,
}

impl Usage {
    /// Usage of one call, nothing cached.
    pub fn new(prompt_tokens: u64, completion_tokens: u64) -> Self {
        Self { prompt_tokens, completion_tokens, cached_tokens: 0 }
    }

    /// Sets how many of the prompt's tokens came from the server's cache.
    #[must_use]
    pub fn with_cached_tokens(mut self, tokens: u64) -> Self {
        self.cached_tokens = tokens;
        self
    }

    /// Tokens read and written.
    pub fn total_tokens(&self) -> u64 {
        self.prompt_tokens.saturating_add(self.completion_tokens)
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.prompt_tokens = self.prompt_tokens.saturating_add(other.prompt_tokens);
        self.completion_tokens = self.completion_tokens.saturating_add(other.completion_tokens);
        self.cached_tokens = self.cached_tokens.saturating_add(other.cached_tokens);
    }
}
