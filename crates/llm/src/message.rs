use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Block, ToolCall};

/// Who speaks in a [`Message`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Role {
    /// Standing instructions.
    System,
    /// The program, on behalf of its user.
    User,
    /// The model.
    Assistant,
    /// A tool that the model called.
    Tool,
}

impl Role {
    /// The role as chat protocols spell it: `system`, `user`, `assistant` or `tool`.
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

/// One message of a conversation. Cloning it copies no text.
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
    #[serde(default, skip_serializing_if = "is_empty")]
    blocks: Arc<[Block]>,
    #[serde(default, skip_serializing_if = "is_empty")]
    tool_calls: Arc<[ToolCall]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    result_of: Option<Arc<ResultOf>>,
}

/// The call that a tool's message answers.
#[derive(Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct ResultOf {
    id: String,
    name: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    failed: bool,
}

fn is_empty<T>(list: &Arc<[T]>) -> bool {
    list.is_empty()
}

impl Message {
    /// A message in any role.
    pub fn new(role: Role, text: impl Into<Arc<str>>) -> Self {
        let blocks = Arc::default();
        let tool_calls = Arc::default();
        Self {
            role,
            content: text.into(),
            blocks,
            tool_calls,
            result_of: None,
        }
    }

    /// Standing instructions to the model.
    pub fn system(text: impl Into<Arc<str>>) -> Self {
        Self::new(Role::System, text)
    }

    /// What the program asks.
    pub fn user(text: impl Into<Arc<str>>) -> Self {
        Self::new(Role::User, text)
    }

    /// What the model said.
    pub fn assistant(text: impl Into<Arc<str>>) -> Self {
        Self::new(Role::Assistant, text)
    }

    /// What a tool gave back for a call.
    pub fn tool_result(call: &ToolCall, text: impl Into<Arc<str>>) -> Self {
        let result_of = ResultOf {
            id: call.id().to_owned(),
            name: call.name().to_owned(),
            failed: false,
        };
        Self {
            result_of: Some(Arc::new(result_of)),
            ..Self::new(Role::Tool, text)
        }
    }

    /// What went wrong with the call of a tool, for the model to read.
    pub fn tool_failure(call: &ToolCall, text: impl Into<Arc<str>>) -> Self {
        let result_of = ResultOf {
            id: call.id().to_owned(),
            name: call.name().to_owned(),
            failed: true,
        };
        Self {
            result_of: Some(Arc::new(result_of)),
            ..Self::new(Role::Tool, text)
        }
    }

    /// Adds images and files, which stand before the text. Unset: none.
    #[must_use]
    pub fn with_blocks(mut self, blocks: impl IntoIterator<Item = Block>) -> Self {
        self.blocks = blocks.into_iter().collect();
        self
    }

    /// Adds the calls of tools that the model asked for beside its text. Unset: none.
    #[must_use]
    pub fn with_tool_calls(mut self, calls: impl IntoIterator<Item = ToolCall>) -> Self {
        self.tool_calls = calls.into_iter().collect();
        self
    }

    /// Who speaks.
    pub fn role(&self) -> Role {
        self.role
    }

    /// What is said.
    pub fn text(&self) -> &str {
        &self.content
    }

    pub(crate) fn bytes(&self) -> usize {
        let calls = self.tool_calls.iter().map(ToolCall::bytes);
        calls
            .chain(self.blocks.iter().map(Block::bytes))
            .fold(self.content.len(), usize::saturating_add)
    }

    /// The images and files of the message.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The calls that the model asks for in the message.
    pub fn tool_calls(&self) -> &[ToolCall] {
        &self.tool_calls
    }

    /// The [id](ToolCall::id) of the call that the message answers, if it is a tool's.
    pub fn tool_call_id(&self) -> Option<&str> {
        self.result_of.as_deref().map(|call| call.id.as_str())
    }

    /// The name of the tool that speaks, if one does.
    pub fn tool_name(&self) -> Option<&str> {
        self.result_of.as_deref().map(|call| call.name.as_str())
    }

    /// Whether the message says that the call of a tool failed.
    pub fn is_tool_failure(&self) -> bool {
        self.result_of.as_deref().is_some_and(|call| call.failed)
    }
}
