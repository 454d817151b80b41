use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    Effort, Message, Messages, ReplyFormat, ToolCall, ToolChoice, ToolDefinition, estimate,
};

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
    #[serde(default, skip_serializing_if = "no_tools")]
    tools: Arc<[ToolDefinition]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool_choice: Option<ToolChoice>,
}

fn no_tools(tools: &Arc<[ToolDefinition]>) -> bool {
    tools.is_empty()
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
    pub fn with_max_tokens(mut self, tokens: u32) -> Self {
        self.max_tokens = Some(tokens);
        self
    }

    /// Sets the sampling temperature; 0 selects the most likely reply. The default is the
    /// backend's.
    #[must_use]
    pub fn with_temperature(mut self, temperature: f32) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// Sets how much the model thinks before it replies. The default is the model's.
    #[must_use]
    pub fn with_effort(mut self, effort: Effort) -> Self {
        self.effort = Some(effort);
        self
    }

    /// Sets the random seed, for backends with reproducible sampling. By default, each call has a
    /// new seed.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
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

        estimate::tokens(messages.chain(tools).fold(0, usize::saturating_add))
    }

    /// Returns the request without the [data](crate::ProviderData) that servers want back, for
    /// people to look at.
    #[must_use]
    pub fn without_provider_data(&self) -> Self {
        let has_data = self
            .messages
            .iter()
            .any(|message| message.provider_data().is_some());
        if !has_data {
            return self.clone();
        }

        let messages = self.messages.iter().cloned();
        let messages = messages.map(Message::without_provider_data).collect();
        self.clone().with_messages(messages)
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

/// Hashes every field, so that requests that differ only in a setting have different hashes.
impl Hash for ChatRequest {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Destructured, so that a new field cannot be forgotten.
        let Self {
            messages,
            max_tokens,
            temperature,
            effort,
            seed,
            stop,
            format,
            tools,
            tool_choice,
        } = self;

        messages.hash(state);
        max_tokens.hash(state);
        temperature.map(bits).hash(state);
        effort.hash(state);
        seed.hash(state);
        stop.hash(state);
        format.hash(state);
        tools.hash(state);
        tool_choice.hash(state);
    }
}

/// Returns the size of a message for an estimate of its tokens.
fn estimated_bytes(message: &Message) -> usize {
    let calls = message.tool_calls().iter().map(ToolCall::bytes);
    let blocks = message.blocks().iter().map(|_| estimate::BLOCK_BYTES);

    calls
        .chain(blocks)
        .fold(message.text().len(), usize::saturating_add)
}

/// Returns the bits of a number, which are the same for 0 and -0 because the two are equal.
fn bits(number: f32) -> u32 {
    let is_zero = number == 0.0;
    if is_zero { 0 } else { number.to_bits() }
}

/// A request used as a key.
#[derive(Debug, Clone, PartialEq, Hash)]
pub(crate) struct RequestKey(ChatRequest);

impl RequestKey {
    /// Returns `None` for a request whose temperature is NaN. Such a request is unequal to itself,
    /// so it could be put into a map and never be found or removed.
    pub(crate) fn of(request: &ChatRequest) -> Option<Self> {
        let is_equal_to_itself = !request.temperature.is_some_and(f32::is_nan);

        is_equal_to_itself.then(|| Self(request.clone()))
    }

    pub(crate) fn bytes(&self) -> usize {
        self.0.bytes()
    }
}

impl Eq for RequestKey {}

impl From<Messages> for ChatRequest {
    fn from(messages: Messages) -> Self {
        Self {
            messages,
            ..Self::default()
        }
    }
}
