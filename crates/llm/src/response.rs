use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use crate::{Delta, Message, ToolCall, guess, split_thinking};

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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reasoning: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<ToolCall>,
}

impl ChatResponse {
    /// A whole reply with this text.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
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

    /// What the model thought before it replied, from backends that show it. Unset: none.
    #[must_use]
    pub fn with_reasoning(mut self, text: impl Into<String>) -> Self {
        self.reasoning = Some(text.into()).filter(|text| !text.is_empty());
        self
    }

    /// The server's name of this call, for its people to find it by. Unset: not known.
    #[must_use]
    pub fn with_request_id(mut self, id: impl Into<String>) -> Self {
        self.request_id = Some(id.into());
        self
    }

    /// The calls of tools that the model asks for. Unset: none.
    #[must_use]
    pub fn with_tool_calls(mut self, calls: impl IntoIterator<Item = ToolCall>) -> Self {
        self.tool_calls = calls.into_iter().collect();
        self
    }

    /// Moves what the model thought aloud at the beginning of the text to the
    /// [reasoning](Self::reasoning).
    ///
    /// A closing tag without an opening one counts only if text follows it; otherwise it may be a word
    /// of the answer. See [`split_thinking`](crate::split_thinking).
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
        if answer.is_empty() && !split.is_opened {
            return self;
        }

        let answer = answer.to_owned();
        let reasoning = match &self.reasoning {
            Some(before) => format!("{before}\n{}", split.thinking),
            None => split.thinking.to_owned(),
        };
        self.with_texts(answer, reasoning)
    }

    /// The same with what a server may have told beside the reply.
    #[cfg(feature = "http")]
    pub(crate) fn with_told(self, usage: Option<Usage>, model: Option<String>) -> Self {
        Self {
            usage,
            model,
            ..self
        }
    }

    /// The same with these texts.
    pub(crate) fn with_texts(self, text: String, reasoning: String) -> Self {
        Self {
            text,
            ..self.with_reasoning(reasoning)
        }
    }

    /// The whole response as the deltas of a stream.
    pub(crate) fn into_deltas(self) -> impl Iterator<Item = Delta> + Send {
        let reasoning = self.reasoning.clone().map(Delta::Reasoning);
        let text = Some(self.text.clone())
            .filter(|text| !text.is_empty())
            .map(Delta::Text);
        let calls: Vec<_> = self
            .tool_calls
            .iter()
            .cloned()
            .map(Delta::ToolCall)
            .collect();

        reasoning
            .into_iter()
            .chain(text)
            .chain(calls)
            .chain([Delta::End(self)])
    }

    /// How many bytes the model wrote.
    pub(crate) fn bytes(&self) -> usize {
        let calls = self.tool_calls.iter().map(ToolCall::bytes);
        calls
            .chain(self.reasoning.as_ref().map(String::len))
            .fold(self.text.len(), usize::saturating_add)
    }

    /// Returns an estimate of the tokens that the model wrote: one for every four bytes of text,
    /// reasoning and tool calls. See [`ChatRequest::estimated_tokens`](crate::ChatRequest::estimated_tokens).
    pub fn estimated_tokens(&self) -> u64 {
        guess::of_bytes(self.bytes())
    }

    /// The text of the reply.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text of the reply, without a copy.
    pub fn into_text(self) -> String {
        self.text
    }

    /// The calls of tools that the model asks for.
    pub fn tool_calls(&self) -> &[ToolCall] {
        &self.tool_calls
    }

    /// What the model said, text and calls, as a message of the conversation.
    pub fn message(&self) -> Message {
        Message::assistant(self.text.as_str()).with_tool_calls(self.tool_calls.iter().cloned())
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

    /// What the model thought before it replied, if the backend shows it. It is no part of the
    /// [text](Self::text).
    pub fn reasoning(&self) -> Option<&str> {
        self.reasoning.as_deref()
    }

    /// The server's name of this call, if it has one.
    pub fn request_id(&self) -> Option<&str> {
        self.request_id.as_deref()
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
    /// It waits for what the tools give that it called.
    ToolCalls,
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
    /// Those of `completion_tokens` that went into reasoning. 0 where the server does not say.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reasoning_tokens: u64,
}

/// Keeps usage without reasoning in the form it had before there was any.
fn is_zero(tokens: &u64) -> bool {
    *tokens == 0
}

impl Usage {
    /// Usage of one call, nothing cached, no reasoning.
    pub fn new(prompt_tokens: u64, completion_tokens: u64) -> Self {
        Self {
            prompt_tokens,
            completion_tokens,
            ..Self::default()
        }
    }

    /// Sets how many of the prompt's tokens came from the server's cache.
    #[must_use]
    pub fn with_cached_tokens(mut self, tokens: u64) -> Self {
        self.cached_tokens = tokens;
        self
    }

    /// Sets how many of the completion's tokens went into reasoning.
    #[must_use]
    pub fn with_reasoning_tokens(mut self, tokens: u64) -> Self {
        self.reasoning_tokens = tokens;
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
        self.completion_tokens = self
            .completion_tokens
            .saturating_add(other.completion_tokens);
        self.cached_tokens = self.cached_tokens.saturating_add(other.cached_tokens);
        self.reasoning_tokens = self.reasoning_tokens.saturating_add(other.reasoning_tokens);
    }
}
