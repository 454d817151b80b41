use std::sync::Arc;

use serde::{Deserialize, Serialize};

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
