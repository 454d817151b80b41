//! Reports of calls to models.

use serde::{Deserialize, Serialize};

use super::cut::CutTexts;
use super::message_ids::MessageIds;

/// A report of the source `chat`: a message, or a call to a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChatReport {
    /// A message of a request. Each distinct message is recorded once, before the first call that
    /// sends it.
    Message(RecordedMessage),
    /// The tools that a request offers. Each distinct list is recorded once, before the first call
    /// that offers it.
    Tools(RecordedTools),
    /// A call that returned a reply.
    Chat(RecordedChat),
    /// A call that failed.
    ChatFailed(RecordedFailure),
    /// The verdict on a reply.
    Judged(RecordedJudgement),
    /// A call to an embedding model.
    Embedded(RecordedEmbedding),
}

/// A message of a request.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RecordedMessage {
    /// The number of the message in the record.
    pub id: u64,
    /// `system`, `user`, `assistant` or `tool`.
    pub role: String,
    /// The text.
    pub content: String,
    /// The images and files in it, without their data.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<RecordedBlock>,
    /// The tool calls that an assistant requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<RecordedToolCall>,
    /// The id of the tool call that this is the result of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// The name of the tool that this is the result of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// Whether the tool failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// The texts that were cut.
    #[serde(default, skip_serializing_if = "CutTexts::is_empty")]
    pub cut: CutTexts,
}

/// An image or a file in a message, without its data.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RecordedBlock {
    /// `image`, `image_url` or `file`.
    pub kind: String,
    /// The media type, such as `image/png`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// The name of a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The size of the data as it is sent, in bytes.
    #[serde(default)]
    pub bytes: u64,
}

/// A tool call that a model requested.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RecordedToolCall {
    /// The id of the call.
    #[serde(default)]
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments as the model wrote them, usually a JSON object.
    #[serde(default)]
    pub arguments: String,
}

/// A call to a model that returned a reply.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RecordedChat {
    /// The number of the call in the record.
    pub call: u64,
    /// The name of the question, which distinguishes it from others that are asked at the same
    /// time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The model as the server names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The ids of the messages that were sent.
    #[serde(default)]
    pub messages: MessageIds,
    /// The settings of the request.
    #[serde(default)]
    pub settings: RecordedSettings,
    /// How long the call took, in seconds.
    #[serde(default)]
    pub took: f64,
    /// The text of the reply, as it came.
    #[serde(default)]
    pub reply: String,
    /// The reasoning before the reply, if the server returns it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<String>,
    /// The tool calls that the model requests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<RecordedToolCall>,
    /// Why the model stopped: `stop`, `length`, `tool_calls`, `content_filter`, or the server's own
    /// word.
    #[serde(default)]
    pub finish: String,
    /// The tokens, if the server counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<RecordedUsage>,
    /// The cost, in the currency of the price table; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// The id of the response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What the client changed in the request, because the server refused it as it was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub adjustments: Vec<String>,
    /// The texts that were cut.
    #[serde(default, skip_serializing_if = "CutTexts::is_empty")]
    pub cut: CutTexts,
}

/// A call to a model that failed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RecordedFailure {
    /// The number of the call in the record.
    pub call: u64,
    /// The name of the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The ids of the messages that were sent.
    #[serde(default)]
    pub messages: MessageIds,
    /// The settings of the request.
    #[serde(default)]
    pub settings: RecordedSettings,
    /// How long the call took, in seconds.
    #[serde(default)]
    pub took: f64,
    /// The error, in one line.
    pub error: String,
    /// The part of the reply that arrived.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reply: String,
    /// The texts that were cut.
    #[serde(default, skip_serializing_if = "CutTexts::is_empty")]
    pub cut: CutTexts,
}

/// A call to an embedding model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RecordedEmbedding {
    /// The number of the call in the record.
    pub call: u64,
    /// The name of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The model.
    #[serde(default)]
    pub model: String,
    /// The first texts, at most eight.
    #[serde(default)]
    pub texts: Vec<String>,
    /// The number of all texts.
    #[serde(default)]
    pub count: u64,
    /// The number of bytes of all texts.
    #[serde(default)]
    pub bytes: u64,
    /// How long the call took, in seconds.
    #[serde(default)]
    pub took: f64,
    /// The tokens, if the server counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<RecordedUsage>,
    /// The cost, in the currency of the price table; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// The error, in one line, if the call failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The texts that were cut.
    #[serde(default, skip_serializing_if = "CutTexts::is_empty")]
    pub cut: CutTexts,
}

/// The verdict on a reply.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RecordedJudgement {
    /// The number of the call.
    pub call: u64,
    /// `usable`, `continue` (a step towards a usable reply), `questioned` (usable, but the model is
    /// asked about it) or `unusable`.
    pub verdict: String,
    /// What is wrong with the reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// The changes that made the reply readable.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<RecordedRepair>,
    /// The texts that were cut.
    #[serde(default, skip_serializing_if = "CutTexts::is_empty")]
    pub cut: CutTexts,
}

/// A change to a reply that made it readable.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RecordedRepair {
    /// The kind, such as `indentation`.
    pub kind: String,
    /// What was changed.
    pub what: String,
    /// The line of the raw reply, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Where the changed part of the raw reply begins, in bytes of its UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<u64>,
    /// Where it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<u64>,
}

/// The settings of a request. Absent ones are up to the server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RecordedSettings {
    /// The temperature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// How much the model should think, from `none` to `max`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// The maximum number of tokens of the reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// The seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The stop sequences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// The form that the server enforces: `json` or `schema`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// The number of the [list of tools](RecordedTools) that the model may call; `None` if there are no
    /// tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<u64>,
}

/// The tools that a request offers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RecordedTools {
    /// The number of the list in the record.
    pub id: u64,
    /// The tools, in the order of the request.
    #[serde(default)]
    pub tools: Vec<RecordedTool>,
    /// The texts that were cut.
    #[serde(default, skip_serializing_if = "CutTexts::is_empty")]
    pub cut: CutTexts,
}

/// The definition of a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RecordedTool {
    /// The name.
    pub name: String,
    /// The description for the model.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The JSON Schema of the input, as text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub input_schema: String,
    /// The texts that were cut.
    #[serde(default, skip_serializing_if = "CutTexts::is_empty")]
    pub cut: CutTexts,
}

/// The tokens of a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RecordedUsage {
    /// Tokens read, including `cache_read`.
    #[serde(default)]
    pub input: u64,
    /// Tokens written, including `reasoning`.
    #[serde(default)]
    pub output: u64,
    /// How many tokens of `input` came from the server's cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_read: u64,
    /// How many tokens of `input` the server wrote to its cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write: u64,
    /// How many tokens of `output` are reasoning.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reasoning: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}
