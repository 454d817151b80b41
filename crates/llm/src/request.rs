use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Message, Messages, ReplyFormat, ToolChoice, ToolDefinition, guess};

/// What is asked of a model: a conversation, and settings that are left to the backend when unset.
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
    /// A request with this conversation and no settings.
    pub fn new(messages: impl IntoIterator<Item = Message>) -> Self {
        Self::from(messages.into_iter().collect::<Messages>())
    }

    /// The same settings with another conversation.
    #[must_use]
    pub fn with_messages(mut self, messages: Messages) -> Self {
        self.messages = messages;
        self
    }

    /// The most tokens the reply may take. Unset: the backend's own limit.
    #[must_use]
    pub fn with_max_tokens(mut self, tokens: u32) -> Self {
        self.max_tokens = Some(tokens);
        self
    }

    /// The sampling temperature, 0 for the likeliest reply. Unset: the backend's own.
    #[must_use]
    pub fn with_temperature(mut self, temperature: f32) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// The seed of the sampling, for backends that can repeat themselves. Unset: a new one a call.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Texts at which the reply ends. Unset: none.
    #[must_use]
    pub fn with_stop<T: Into<String>>(mut self, stop: impl IntoIterator<Item = T>) -> Self {
        self.stop = stop.into_iter().map(Into::into).collect();
        self
    }

    /// The form that the reply is held to. Unset: free text. A backend that cannot do it may pass it
    /// over; ask its [capabilities](crate::LlmClient::capabilities) first. This crate's clients send it
    /// or fail.
    #[must_use]
    pub fn with_format(mut self, format: ReplyFormat) -> Self {
        self.format = Some(format);
        self
    }

    /// The tools that the model may call. Unset: none. A backend that cannot do it may pass them over; ask
    /// its [capabilities](crate::LlmClient::capabilities) first. This crate's clients send them or fail.
    #[must_use]
    pub fn with_tools(mut self, tools: impl IntoIterator<Item = ToolDefinition>) -> Self {
        self.tools = tools.into_iter().collect();
        self
    }

    /// Whether the model calls a tool. Unset: the backend's own choice, which is [`ToolChoice::Auto`] with
    /// all that are known. Without tools it is not sent.
    #[must_use]
    pub fn with_tool_choice(mut self, choice: ToolChoice) -> Self {
        self.tool_choice = Some(choice);
        self
    }

    /// How many bytes the conversation, the tools and the texts of its settings take.
    pub(crate) fn bytes(&self) -> usize {
        let messages = self.messages.iter().map(Message::bytes);
        let tools = self.tools.iter().map(ToolDefinition::bytes);
        let stop = self.stop.iter().map(String::len);

        messages
            .chain(tools)
            .chain(stop)
            .fold(0, usize::saturating_add)
    }

    /// Returns an estimate of the tokens that the model reads: one for every four bytes of the
    /// conversation and of the tools, and a thousand for each image or file.
    ///
    /// The estimate is a little high for English and a little low for code. It serves for limits, not
    /// for bills.
    pub fn estimated_tokens(&self) -> u64 {
        guess::of_request(self)
    }

    /// Adds a message at the end of the conversation.
    pub fn push(&mut self, message: Message) {
        self.messages.push(message);
    }

    /// The conversation.
    pub fn messages(&self) -> &Messages {
        &self.messages
    }

    /// The most tokens the reply may take, if set.
    pub fn max_tokens(&self) -> Option<u32> {
        self.max_tokens
    }

    /// The sampling temperature, if set.
    pub fn temperature(&self) -> Option<f32> {
        self.temperature
    }

    /// The seed of the sampling, if set.
    pub fn seed(&self) -> Option<u64> {
        self.seed
    }

    /// The form that the reply is held to, if set.
    pub fn format(&self) -> Option<&ReplyFormat> {
        self.format.as_ref()
    }

    /// The tools that the model may call.
    pub fn tools(&self) -> &[ToolDefinition] {
        &self.tools
    }

    /// Whether the model calls a tool, if set.
    pub fn tool_choice(&self) -> Option<&ToolChoice> {
        self.tool_choice.as_ref()
    }

    /// Texts at which the reply ends.
    pub fn stop(&self) -> &[String] {
        &self.stop
    }
}

/// Covers every field, so that requests that differ in a setting alone hash differently.
impl Hash for ChatRequest {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Taken apart, so that a new field cannot be forgotten.
        let Self {
            messages,
            max_tokens,
            temperature,
            seed,
            stop,
            format,
            tools,
            tool_choice,
        } = self;

        messages.hash(state);
        max_tokens.hash(state);
        temperature.map(bits).hash(state);
        seed.hash(state);
        stop.hash(state);
        format.hash(state);
        tools.hash(state);
        tool_choice.hash(state);
    }
}

/// The bits of a number, the same for 0 and -0, which are equal.
fn bits(number: f32) -> u32 {
    let is_zero = number == 0.0;
    if is_zero { 0 } else { number.to_bits() }
}

/// A request to look something up by.
#[derive(Debug, Clone, PartialEq, Hash)]
pub(crate) struct RequestKey(ChatRequest);

impl RequestKey {
    /// Returns nothing for a request whose temperature is NaN: it is unequal to itself, so it could be
    /// put into a map and never be found or removed.
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
