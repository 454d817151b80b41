use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A tool that the model may call, as it is told of it.
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
    /// A tool. `name` is of letters, digits, `_` and `-`, as servers want it; `input_schema` is the JSON
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

    /// By what the model calls it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it does and when it is of use, for the model.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The JSON Schema of its input, as text.
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
    /// It may.
    #[default]
    Auto,
    /// It must not.
    None,
    /// It must, and chooses which.
    Required,
    /// It must call this one.
    Tool(String),
}

/// A call that the model asks for. Cloning it copies no text.
///
/// Everything in it is the model's own words: the tool may be one that there is not, and the arguments
/// may be no JSON.
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
    /// A call. `id` tells it from other calls of the conversation; `arguments` are JSON, as text.
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

    /// What tells it from other calls of the conversation.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The name of the tool.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The arguments as the model wrote them: JSON, if all is well.
    pub fn arguments(&self) -> &str {
        &self.arguments
    }

    pub(crate) fn bytes(&self) -> usize {
        self.id.len() + self.name.len() + self.arguments.len()
    }
}
