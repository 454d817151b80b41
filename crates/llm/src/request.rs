use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Message, Messages, ToolCall, ToolChoice, ToolDefinition, token_estimate};

/// A request to a model: a conversation and optional settings.
///
/// ```
/// use cogwork_llm::{ChatRequest, Message};
///
/// let request = ChatRequest::new([Message::system("Be brief."), Message::user("Hello")])
///     .with_max_tokens(200)
///     .with_temperature(0.2);
/// assert_eq!(request.messages().len(), 2);
/// assert_eq!(request.max_tokens(), Some(200));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ChatRequest {
    messages: Messages,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    effort: Option<Effort>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    stop: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    format: Option<ReplyFormat>,
    #[serde(default, skip_serializing_if = "<[ToolDefinition]>::is_empty")]
    tools: Arc<[ToolDefinition]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool_choice: Option<ToolChoice>,
}

impl ChatRequest {
    /// Creates a request with this conversation and no settings.
    pub fn new(messages: impl IntoIterator<Item = Message>) -> Self {
        Self::from(messages.into_iter().collect::<Messages>())
    }

    /// Replaces the conversation.
    #[must_use]
    pub fn with_messages(mut self, messages: Messages) -> Self {
        self.messages = messages;
        self
    }

    /// Sets the maximum number of tokens of the reply. The default is the backend's.
    #[must_use]
    pub fn with_max_tokens(mut self, tokens: impl Into<Option<u32>>) -> Self {
        self.max_tokens = tokens.into();
        self
    }

    /// Sets the sampling temperature; 0 selects the most likely reply. The default is the
    /// backend's.
    #[must_use]
    pub fn with_temperature(mut self, temperature: impl Into<Option<f32>>) -> Self {
        self.temperature = temperature.into();
        self
    }

    /// Sets how much the model thinks before it replies. The default is the model's.
    #[must_use]
    pub fn with_effort(mut self, effort: impl Into<Option<Effort>>) -> Self {
        self.effort = effort.into();
        self
    }

    /// Sets the random seed, for backends with reproducible sampling. By default, each call has a
    /// new seed.
    #[must_use]
    pub fn with_seed(mut self, seed: impl Into<Option<u64>>) -> Self {
        self.seed = seed.into();
        self
    }

    /// Sets the stop sequences, at which the reply ends. None by default.
    #[must_use]
    pub fn with_stop<T: Into<String>>(mut self, stop: impl IntoIterator<Item = T>) -> Self {
        self.stop = stop.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the format of the reply. The default is free text.
    ///
    /// A backend that doesn't support the format may ignore it, so check its
    /// [capabilities](crate::LlmClient::capabilities) first. The clients of this crate send it or
    /// fail.
    #[must_use]
    pub fn with_format(mut self, format: ReplyFormat) -> Self {
        self.format = Some(format);
        self
    }

    /// Removes the [format](Self::with_format) of the reply.
    #[must_use]
    pub fn without_format(mut self) -> Self {
        self.format = None;
        self
    }

    /// Sets the tools that the model may call. None by default.
    ///
    /// A backend that doesn't support tools may ignore them, so check its
    /// [capabilities](crate::LlmClient::capabilities) first. The clients of this crate send them or
    /// fail.
    #[must_use]
    pub fn with_tools(mut self, tools: impl IntoIterator<Item = ToolDefinition>) -> Self {
        self.tools = tools.into_iter().collect();
        self
    }

    /// Sets whether the model calls a tool. The default is the backend's, usually
    /// [`ToolChoice::Auto`]. It isn't sent if the request doesn't contain tools.
    #[must_use]
    pub fn with_tool_choice(mut self, choice: ToolChoice) -> Self {
        self.tool_choice = Some(choice);
        self
    }

    /// Returns the number of bytes of the conversation, the tools and the text settings.
    pub fn bytes(&self) -> usize {
        let messages = self.messages.iter().map(Message::bytes);
        let tools = self.tools.iter().map(ToolDefinition::bytes);
        let stop = self.stop.iter().map(String::len);

        messages
            .chain(tools)
            .chain(stop)
            .fold(0, usize::saturating_add)
    }

    /// Returns an estimate of the number of tokens that the model reads: one per four bytes of the
    /// conversation and the tools, and a thousand per image or file.
    ///
    /// The estimate is slightly high for English and slightly low for code. Use it for limits, not
    /// for billing.
    pub fn estimated_tokens(&self) -> u64 {
        let messages = self.messages.iter().map(estimated_bytes);
        let tools = self.tools.iter().map(ToolDefinition::bytes);

        token_estimate::tokens(messages.chain(tools).fold(0, usize::saturating_add))
    }

    /// Returns the request without the [data](crate::backend::ProviderData) that servers want back, for
    /// people to look at.
    #[must_use]
    pub fn without_provider_data(&self) -> Self {
        let mut messages = self.messages.iter();
        // Most requests have none, and can go on sharing their messages.
        if messages.all(|message| message.provider_data().is_none()) {
            return self.clone();
        }

        let messages = self.messages.iter().cloned();
        let messages = messages.map(Message::without_provider_data).collect();
        self.clone().with_messages(messages)
    }

    /// Returns a text that is the same for equal requests only.
    pub(crate) fn key(&self) -> String {
        // Cannot fail: all fields are serializable.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Appends a message to the conversation.
    pub fn push(&mut self, message: Message) {
        self.messages.push(message);
    }

    /// Returns the conversation.
    pub fn messages(&self) -> &Messages {
        &self.messages
    }

    /// Returns the maximum number of tokens of the reply, if set.
    pub fn max_tokens(&self) -> Option<u32> {
        self.max_tokens
    }

    /// Returns the sampling temperature, if set.
    pub fn temperature(&self) -> Option<f32> {
        self.temperature
    }

    /// Returns how much the model thinks before it replies, if set.
    pub fn effort(&self) -> Option<Effort> {
        self.effort
    }

    /// Returns the random seed, if set.
    pub fn seed(&self) -> Option<u64> {
        self.seed
    }

    /// Returns the format of the reply, if set.
    pub fn format(&self) -> Option<&ReplyFormat> {
        self.format.as_ref()
    }

    /// Returns the tools that the model may call.
    pub fn tools(&self) -> &[ToolDefinition] {
        &self.tools
    }

    /// Returns whether the model calls a tool, if set.
    pub fn tool_choice(&self) -> Option<&ToolChoice> {
        self.tool_choice.as_ref()
    }

    /// Returns the stop sequences.
    pub fn stop(&self) -> &[String] {
        &self.stop
    }
}

/// Equal requests are saved as the same text.
impl Hash for ChatRequest {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

fn estimated_bytes(message: &Message) -> usize {
    let calls = message.tool_calls().iter().map(ToolCall::bytes);
    let blocks = message.blocks().iter().map(|_| token_estimate::BLOCK_BYTES);

    calls
        .chain(blocks)
        .fold(message.text().len(), usize::saturating_add)
}

impl From<Messages> for ChatRequest {
    fn from(messages: Messages) -> Self {
        Self {
            messages,
            ..Self::default()
        }
    }
}

/// The format that a backend [with the capability](crate::backend::Capability) enforces for a reply.
///
/// ```
/// use cogwork_llm::{ChatRequest, Message, ReplyFormat};
///
/// let schema = r#"{"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]}"#;
/// let request = ChatRequest::new([Message::user("2 + 2? Answer in JSON.")])
///     .with_format(ReplyFormat::schema("sum", schema));
/// assert!(request.format().is_some());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReplyFormat {
    /// JSON of any shape. Most servers require that the conversation mention JSON.
    Json,
    /// JSON that matches a schema.
    Schema {
        /// The name of the schema: letters, digits, `_` and `-`.
        name: Arc<str>,
        /// The JSON Schema as text.
        schema: Arc<str>,
    },
}

impl ReplyFormat {
    /// Creates a format from a JSON Schema.
    pub fn schema(name: impl Into<Arc<str>>, schema: impl Into<Arc<str>>) -> Self {
        Self::Schema {
            name: name.into(),
            schema: schema.into(),
        }
    }
}

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
/// assert_eq!(Effort::XHigh.as_str(), "xhigh");
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
