use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::backend::ProviderData;
use crate::{Block, ToolCall};

/// The author of a [`Message`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Role {
    /// Instructions for the whole conversation.
    System,
    /// The program, on behalf of its user.
    User,
    /// The model.
    Assistant,
    /// A tool that the model called.
    Tool,
}

impl Role {
    /// Returns the role as chat APIs spell it: `system`, `user`, `assistant` or `tool`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A message of a conversation. Cloning it copies no text.
///
/// ```
/// use cogwork_llm::{Message, Role};
///
/// let message = Message::user("What is 2 + 2?");
/// assert_eq!(message.role(), Role::User);
/// assert_eq!(message.text(), "What is 2 + 2?");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Message {
    role: Role,
    content: Arc<str>,
    #[serde(default, skip_serializing_if = "<[Block]>::is_empty")]
    blocks: Arc<[Block]>,
    #[serde(default, skip_serializing_if = "<[ToolCall]>::is_empty")]
    tool_calls: Arc<[ToolCall]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    result_of: Option<Arc<ResultOf>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    provider_data: Option<Arc<ProviderData>>,
}

/// The call whose result a tool message contains.
#[derive(Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct ResultOf {
    id: String,
    name: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    failed: bool,
}

impl Message {
    /// Creates a message with this role.
    pub fn new(role: Role, text: impl Into<Arc<str>>) -> Self {
        Self {
            role,
            content: text.into(),
            blocks: Arc::default(),
            tool_calls: Arc::default(),
            result_of: None,
            provider_data: None,
        }
    }

    /// Creates a message with instructions for the model.
    pub fn system(text: impl Into<Arc<str>>) -> Self {
        Self::new(Role::System, text)
    }

    /// Creates a message from the user.
    pub fn user(text: impl Into<Arc<str>>) -> Self {
        Self::new(Role::User, text)
    }

    /// Creates a message from the model.
    pub fn assistant(text: impl Into<Arc<str>>) -> Self {
        Self::new(Role::Assistant, text)
    }

    /// Creates a message with the result of a tool call.
    pub fn tool_result(call: &ToolCall, text: impl Into<Arc<str>>) -> Self {
        Self::result(call, text, false)
    }

    /// Creates a message with the error of a tool call, for the model to read.
    pub fn tool_failure(call: &ToolCall, text: impl Into<Arc<str>>) -> Self {
        Self::result(call, text, true)
    }

    fn result(call: &ToolCall, text: impl Into<Arc<str>>, failed: bool) -> Self {
        let result_of = ResultOf {
            id: call.id().to_owned(),
            name: call.name().to_owned(),
            failed,
        };

        Self {
            result_of: Some(Arc::new(result_of)),
            ..Self::new(Role::Tool, text)
        }
    }

    /// Sets the images and files of the message, which are sent before its text. None by default.
    #[must_use]
    pub fn with_blocks(mut self, blocks: impl IntoIterator<Item = Block>) -> Self {
        self.blocks = blocks.into_iter().collect();
        // The data belongs to the message as the model wrote it.
        self.without_provider_data()
    }

    /// Sets the tool calls of the model's message. None by default.
    #[must_use]
    pub fn with_tool_calls(mut self, calls: impl IntoIterator<Item = ToolCall>) -> Self {
        self.tool_calls = calls.into_iter().collect();
        self.without_provider_data()
    }

    /// Sets the data that the server wants back with this message. None by default. Changing the
    /// message afterwards removes it, because it belongs to the message as the model wrote it.
    #[must_use]
    pub fn with_provider_data(mut self, data: ProviderData) -> Self {
        self.provider_data = Some(Arc::new(data));
        self
    }

    /// Removes the data that the server wants back with this message.
    #[must_use]
    pub fn without_provider_data(mut self) -> Self {
        self.provider_data = None;
        self
    }

    /// Returns the role.
    pub fn role(&self) -> Role {
        self.role
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.content
    }

    pub(crate) fn bytes(&self) -> usize {
        let calls = self.tool_calls.iter().map(ToolCall::bytes);
        let data = self.provider_data().map(|data| data.content().len());

        calls
            .chain(self.blocks.iter().map(Block::bytes))
            .chain(data)
            .fold(self.content.len(), usize::saturating_add)
    }

    /// Returns the images and files.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Returns the tool calls that the model requests in this message.
    pub fn tool_calls(&self) -> &[ToolCall] {
        &self.tool_calls
    }

    /// Returns the [id](ToolCall::id) of the tool call that this message is the result of.
    pub fn tool_call_id(&self) -> Option<&str> {
        self.result_of.as_deref().map(|call| call.id.as_str())
    }

    /// Returns the name of the tool that this message is the result of.
    pub fn tool_name(&self) -> Option<&str> {
        self.result_of.as_deref().map(|call| call.name.as_str())
    }

    /// Returns whether this message is the error of a tool call.
    pub fn is_tool_failure(&self) -> bool {
        self.result_of.as_deref().is_some_and(|call| call.failed)
    }

    /// Returns the data that the server wants back with this message, if it sent any.
    pub fn provider_data(&self) -> Option<&ProviderData> {
        self.provider_data.as_deref()
    }
}
