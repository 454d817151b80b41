use std::ops::AddAssign;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::backend::{Adjustment, ProviderData, split_thinking};
use crate::{Message, ToolCall, token_estimate};

/// A model's response.
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
    pub(crate) text: String,
    #[serde(default)]
    pub(crate) finish_reason: FinishReason,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) usage: Option<Usage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reasoning: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) request_id: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) tool_calls: Vec<ToolCall>,
    #[serde(default, skip_serializing_if = "<[Adjustment]>::is_empty")]
    pub(crate) adjustments: Box<[Adjustment]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) provider_data: Option<Arc<ProviderData>>,
}

impl ChatResponse {
    /// Creates a complete response with this text.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// Replaces the text of the reply.
    #[must_use]
    pub fn with_text(mut self, text: impl Into<String>) -> Self {
        self.text = text.into();
        self.without_provider_data()
    }

    /// Sets why the model stopped. The default is [`FinishReason::Stop`].
    #[must_use]
    pub fn with_finish_reason(mut self, reason: FinishReason) -> Self {
        self.finish_reason = reason;
        self
    }

    /// Sets the token usage of the call. Unknown by default.
    #[must_use]
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Sets the name of the model as the server reports it. Unknown by default.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sets the reasoning before the reply, from backends that return it. None by default.
    #[must_use]
    pub fn with_reasoning(mut self, text: impl Into<String>) -> Self {
        self.reasoning = Some(text.into()).filter(|text| !text.is_empty());
        self
    }

    /// Sets the id that the server gave the response. Unknown by default.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Sets the server's id of this call, for support requests. Unknown by default.
    #[must_use]
    pub fn with_request_id(mut self, id: impl Into<String>) -> Self {
        self.request_id = Some(id.into());
        self
    }

    /// Sets the tool calls that the model requests. None by default.
    #[must_use]
    pub fn with_tool_calls(mut self, calls: impl IntoIterator<Item = ToolCall>) -> Self {
        self.tool_calls = calls.into_iter().collect();
        self.without_provider_data()
    }

    /// Sets the data that the server wants back with this reply in later requests. None by default.
    /// Changing the text or the calls afterwards removes it, because it belongs to the reply as the
    /// model wrote it.
    #[must_use]
    pub fn with_provider_data(mut self, data: ProviderData) -> Self {
        self.provider_data = Some(Arc::new(data));
        self
    }

    /// Removes the data that the server wants back.
    #[must_use]
    pub fn without_provider_data(mut self) -> Self {
        self.provider_data = None;
        self
    }

    /// Moves the thinking at the beginning of the text to the [reasoning](Self::reasoning).
    ///
    /// A closing tag without an opening tag counts only if text follows it, because it may be part
    /// of the answer. See [`split_thinking`](crate::backend::split_thinking).
    ///
    /// ```
    /// use cogwork_llm::ChatResponse;
    ///
    /// let response = ChatResponse::new("<think>Easy.</think>\n4").separate_thinking();
    /// assert_eq!((response.text(), response.reasoning()), ("4", Some("Easy.")));
    /// ```
    #[must_use]
    pub fn separate_thinking(self) -> Self {
        let Some(split) = split_thinking(&self.text) else {
            return self;
        };

        let answer = split.answer.trim_start();
        // Without an opening tag, the closing one may be what the answer is about.
        if answer.is_empty() && !split.is_opened {
            return self;
        }

        let answer = answer.to_owned();
        let reasoning = match &self.reasoning {
            Some(before) => format!("{before}\n{}", split.thinking),
            None => split.thinking.to_owned(),
        };

        // The server wants the reply back as it was, thinking included.
        Self {
            text: answer,
            ..self.with_reasoning(reasoning)
        }
    }

    /// Returns the number of bytes that the model wrote: text, reasoning and tool calls.
    pub fn bytes(&self) -> usize {
        let calls = self.tool_calls.iter().map(ToolCall::bytes);
        calls
            .chain(self.reasoning.as_ref().map(String::len))
            .fold(self.text.len(), usize::saturating_add)
    }

    /// Returns an estimate of the number of tokens that the model wrote: one per four bytes of
    /// text, reasoning and tool calls. See
    /// [`ChatRequest::estimated_tokens`](crate::ChatRequest::estimated_tokens).
    pub fn estimated_tokens(&self) -> u64 {
        token_estimate::tokens(self.bytes())
    }

    /// Returns the text of the reply.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text of the reply without copying it.
    pub fn into_text(self) -> String {
        self.text
    }

    /// Returns the tool calls that the model requests.
    pub fn tool_calls(&self) -> &[ToolCall] {
        &self.tool_calls
    }

    /// Returns the reply as a message of the conversation, with the text, the tool calls and the
    /// data that the server wants back.
    pub fn message(&self) -> Message {
        let message =
            Message::assistant(self.text.as_str()).with_tool_calls(self.tool_calls.iter().cloned());

        match &self.provider_data {
            Some(data) => message.with_provider_data(ProviderData::clone(data)),
            None => message,
        }
    }

    /// Returns the changes that the client made to the request, because the server refused it as it
    /// was.
    pub fn adjustments(&self) -> &[Adjustment] {
        &self.adjustments
    }

    /// Returns the data that the server wants back with this reply in later requests, if any.
    pub fn provider_data(&self) -> Option<&ProviderData> {
        self.provider_data.as_deref()
    }

    /// Returns why the model stopped.
    pub fn finish_reason(&self) -> &FinishReason {
        &self.finish_reason
    }

    /// Returns the token usage of the call, if the backend reports it.
    pub fn usage(&self) -> Option<Usage> {
        self.usage
    }

    /// Returns the name of the model, if the backend reports it.
    pub fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// Returns the reasoning before the reply, if the backend returns it. It isn't part of the
    /// [text](Self::text).
    pub fn reasoning(&self) -> Option<&str> {
        self.reasoning.as_deref()
    }

    /// Returns the id that the server gave the response, such as `chatcmpl-7`, if the backend
    /// reports it.
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Returns the server's id of this call, if it has one.
    pub fn request_id(&self) -> Option<&str> {
        self.request_id.as_deref()
    }
}

/// The reason why a model stopped writing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FinishReason {
    /// The reply is complete, or reached a stop sequence.
    #[default]
    Stop,
    /// The reply reached the token limit and is truncated.
    Length,
    /// The model waits for the results of its tool calls.
    ToolCalls,
    /// A filter withheld some or all of the reply.
    ContentFilter,
    /// Any other reason, as the backend spells it.
    Other(String),
}

/// The token usage of one or more calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// The number of tokens read.
    pub prompt_tokens: u64,
    /// The number of tokens written.
    pub completion_tokens: u64,
    /// How many of `prompt_tokens` the server read from its cache. 0 if the server doesn't report
    /// it.
    #[serde(default)]
    pub cached_tokens: u64,
    /// How many of `prompt_tokens` the server wrote to its cache, for later requests. 0 if the server
    /// doesn't report it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_written_tokens: u64,
    /// How many of `completion_tokens` are thinking. 0 if the server doesn't report it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reasoning_tokens: u64,
}

/// Returns whether the count is zero, and thus left out when it is serialized.
fn is_zero(tokens: &u64) -> bool {
    *tokens == 0
}

impl Usage {
    /// Creates the usage of one call without caching or thinking.
    pub fn new(prompt_tokens: u64, completion_tokens: u64) -> Self {
        Self {
            prompt_tokens,
            completion_tokens,
            ..Self::default()
        }
    }

    /// Returns the number of tokens read and written.
    pub fn total_tokens(&self) -> u64 {
        self.prompt_tokens.saturating_add(self.completion_tokens)
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        let add = |total: &mut u64, more: u64| *total = total.saturating_add(more);

        add(&mut self.prompt_tokens, other.prompt_tokens);
        add(&mut self.completion_tokens, other.completion_tokens);
        add(&mut self.cached_tokens, other.cached_tokens);
        add(&mut self.cache_written_tokens, other.cache_written_tokens);
        add(&mut self.reasoning_tokens, other.reasoning_tokens);
    }
}
