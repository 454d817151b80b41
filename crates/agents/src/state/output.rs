use cogwork_llm::{Block, Usage};
use cogwork_thinking::Report;
use cogwork_typed::ask::ToolUse;
use serde::{Deserialize, Serialize};

/// The input of a flow, or the output of a node.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Output {
    /// The text.
    pub text: String,
    /// Attached images and files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<Block>,
    /// The tool calls that were made for it, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolUse>,
    /// The report on thinking and memory, if either was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Report>,
    /// Whether it was cut off by the token limit or a filter. This is also set for the answer of a
    /// subflow that includes an output that was cut off.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// Why it isn't a complete answer, if a limit ended a chain of thought, or a strategy was
    /// stopped. This is also set for an output that includes such an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_short: Option<String>,
    /// The number of calls to the model, including failed ones.
    #[serde(default, skip_serializing_if = "is_default")]
    pub calls: u32,
    /// The tokens, as reported by clients. They are included in the total of the state.
    #[serde(default, skip_serializing_if = "is_default")]
    pub usage: Usage,
}

pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Output {
    /// Creates an output that consists only of a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// Marks the output as no more complete than a part of it.
    pub(crate) fn include(&mut self, part: &Self) {
        self.truncated |= part.truncated;
        if self.cut_short.is_none() {
            self.cut_short.clone_from(&part.cut_short);
        }
    }

    /// Adds images and files. The default is none.
    #[must_use]
    pub fn with_blocks(mut self, blocks: impl IntoIterator<Item = Block>) -> Self {
        self.blocks = blocks.into_iter().collect();
        self
    }
}
