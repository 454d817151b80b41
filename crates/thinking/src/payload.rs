use std::sync::Arc;

use cogwork_llm::{Block, ChatResponse, Message, ToolCall};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The data that a hook works on: the user's message before a generation, the draft after it.
///
/// To change one part, a hook changes a clone, which keeps the rest:
///
/// ```
/// use cogwork_llm::Block;
/// use cogwork_thinking::Payload;
///
/// let seen = Payload::new("what is this").with_blocks([Block::image("image/png", "iVBORw0KGgo=")]);
/// let asked = seen.clone().with_text("What is in the picture?");
/// assert_eq!(asked.blocks(), seen.blocks());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Payload {
    text: Arc<str>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    blocks: Vec<Block>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<ToolCall>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    metadata: Map<String, Value>,
}

impl Payload {
    /// Creates a payload that contains only this text.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    pub(crate) fn of_message(message: &Message) -> Self {
        Self {
            text: message.text().into(),
            blocks: message.blocks().to_vec(),
            tool_calls: message.tool_calls().to_vec(),
            metadata: Map::new(),
        }
    }

    pub(crate) fn of_response(response: &ChatResponse, metadata: Map<String, Value>) -> Self {
        let tool_calls = response.tool_calls().to_vec();
        Self {
            text: response.text().into(),
            blocks: Vec::new(),
            tool_calls,
            metadata,
        }
    }

    /// Replaces the text.
    #[must_use]
    pub fn with_text(mut self, text: impl Into<Arc<str>>) -> Self {
        self.text = text.into();
        self
    }

    /// Replaces the images and files. None by default.
    #[must_use]
    pub fn with_blocks(mut self, blocks: impl IntoIterator<Item = Block>) -> Self {
        self.blocks = blocks.into_iter().collect();
        self
    }

    /// Replaces the tool calls. None by default.
    #[must_use]
    pub fn with_tool_calls(mut self, calls: impl IntoIterator<Item = ToolCall>) -> Self {
        self.tool_calls = calls.into_iter().collect();
        self
    }

    /// Sets a metadata value.
    #[must_use]
    pub fn with_metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }

    /// Appends `text` after an empty line.
    #[must_use]
    pub(crate) fn appended(self, text: &str) -> Self {
        let joined = match self.text.is_empty() {
            true => text.into(),
            false => format!("{}\n\n{text}", self.text).into(),
        };
        Self {
            text: joined,
            ..self
        }
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn shared_text(&self) -> Arc<str> {
        self.text.clone()
    }

    /// Returns the images and files: of the user's message, or those that a hook has added to the
    /// draft.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Returns the tool calls of the draft. Empty before a generation.
    pub fn tool_calls(&self) -> &[ToolCall] {
        &self.tool_calls
    }

    /// Returns the metadata that hooks pass to each other and to the program, starting with the
    /// hooks before the generation. It is never sent to a model.
    pub fn metadata(&self) -> &Map<String, Value> {
        &self.metadata
    }
}
