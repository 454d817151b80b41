use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::backend::ProviderData;

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

/// Content of a [`Message`](crate::Message) that isn't text. Cloning it copies no data.
///
/// A client that cannot send a block returns an error of kind
/// [`InvalidRequest`](crate::LlmErrorKind::InvalidRequest). Nothing is left out silently.
///
/// ```
/// use cogwork_llm::{Block, Message};
///
/// let png = "iVBORw0KGgo="; // the file, in base64
/// let message = Message::user("What is in the picture?").with_blocks([Block::image("image/png", png)]);
/// assert_eq!(message.blocks().len(), 1);
/// assert_eq!(format!("{:?}", message.blocks()), "[Image(12 characters)]");
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Block {
    /// An embedded image.
    Image {
        /// The media type, such as `image/png`.
        media_type: Arc<str>,
        /// The content in base64.
        data: Arc<str>,
    },
    /// An image that the server fetches.
    ImageUrl {
        /// The URL.
        url: Arc<str>,
    },
    /// An embedded file.
    File {
        /// The file name without its directory.
        name: Arc<str>,
        /// The media type, such as `application/pdf`.
        media_type: Arc<str>,
        /// The content in base64.
        data: Arc<str>,
    },
}

impl Block {
    /// Creates an embedded image from base64 data.
    pub fn image(media_type: impl Into<Arc<str>>, data: impl Into<Arc<str>>) -> Self {
        Self::Image {
            media_type: media_type.into(),
            data: data.into(),
        }
    }

    /// Creates an image that the server fetches.
    pub fn image_url(url: impl Into<Arc<str>>) -> Self {
        Self::ImageUrl { url: url.into() }
    }

    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Image { data, .. } | Self::File { data, .. } => data.len(),
            Self::ImageUrl { url } => url.len(),
        }
    }
}

impl fmt::Debug for Block {
    /// Omits the content, which may be megabytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self {
            Self::Image { .. } => "Image",
            Self::ImageUrl { .. } => "ImageUrl",
            Self::File { .. } => "File",
        };
        write!(f, "{kind}({} characters)", self.bytes())
    }
}

/// A tool that the model may call.
///
/// ```
/// use cogwork_llm::{ChatRequest, Message, ToolDefinition};
///
/// let input = r#"{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}"#;
/// let request = ChatRequest::new([Message::user("Do I need an umbrella in Bergen?")])
///     .with_tools([ToolDefinition::new("weather", "The weather in a city, now.", input)]);
/// assert_eq!(request.tools().len(), 1);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ToolDefinition {
    name: Arc<str>,
    description: Arc<str>,
    input_schema: Arc<str>,
}

impl ToolDefinition {
    /// Creates a tool. `name` consists of letters, digits, `_` and `-`; `input_schema` is the JSON
    /// Schema of an object, as text.
    pub fn new(
        name: impl Into<Arc<str>>,
        description: impl Into<Arc<str>>,
        input_schema: impl Into<Arc<str>>,
    ) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            input_schema: input_schema.into(),
        }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the description for the model: what the tool does and when to use it.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Returns the JSON Schema of the input, as text.
    pub fn input_schema(&self) -> &str {
        &self.input_schema
    }

    pub(crate) fn bytes(&self) -> usize {
        self.name.len() + self.description.len() + self.input_schema.len()
    }
}

/// Whether the model calls a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolChoice {
    /// The model may call tools.
    #[default]
    Auto,
    /// The model must not call a tool.
    None,
    /// The model must call at least one tool.
    Required,
    /// The model must call this tool.
    Tool(String),
}

/// A tool call that the model requests. Cloning it copies no text.
///
/// Its content is the model's output: the tool may not exist, and the arguments may be invalid
/// JSON.
///
/// ```
/// use cogwork_llm::{Message, ToolCall};
///
/// let call = ToolCall::new("call_1", "weather", r#"{"city": "Bergen"}"#);
/// let asked = Message::assistant("").with_tool_calls([call.clone()]);
/// let answer = Message::tool_result(&call, "Rain.");
/// assert_eq!(answer.tool_call_id(), Some(asked.tool_calls()[0].id()));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ToolCall {
    id: Arc<str>,
    name: Arc<str>,
    arguments: Arc<str>,
}

impl ToolCall {
    /// Creates a tool call. `id` is unique in the conversation; `arguments` are JSON, as text.
    pub fn new(
        id: impl Into<Arc<str>>,
        name: impl Into<Arc<str>>,
        arguments: impl Into<Arc<str>>,
    ) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            arguments: arguments.into(),
        }
    }

    /// Returns the id, which is unique in the conversation.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the name of the tool.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the arguments as the model wrote them, usually valid JSON.
    pub fn arguments(&self) -> &str {
        &self.arguments
    }

    pub(crate) fn bytes(&self) -> usize {
        self.id.len() + self.name.len() + self.arguments.len()
    }
}
