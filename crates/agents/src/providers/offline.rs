use cogwork_llm::{ChatResponse, FinishReason, ScriptedClient, ToolCall};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value as Json};

/// A reply that is written in a file: a text, or a mapping with more.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Reply {
    Text(String),
    Whole(WholeReply),
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WholeReply {
    /// The text of the reply. Default: none.
    #[serde(default)]
    text: String,
    /// The tools that the reply calls. Default: none.
    #[serde(default)]
    tool_calls: Vec<Call>,
    /// Whether the reply ends as one that is cut off at the limit of tokens. Default: false.
    #[serde(default)]
    cut_off: bool,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Call {
    /// The name of the tool.
    name: String,
    /// Its arguments. Default: none.
    #[serde(default)]
    arguments: Map<String, Json>,
}

impl Reply {
    pub(super) fn response(&self) -> ChatResponse {
        let reply = match self {
            Self::Text(text) => return ChatResponse::new(text.as_str()),
            Self::Whole(reply) => reply,
        };
        let calls: Vec<_> = (1..)
            .zip(&reply.tool_calls)
            .map(|(number, call)| {
                let arguments = Json::Object(call.arguments.clone()).to_string();
                ToolCall::new(format!("call_{number}"), call.name.as_str(), arguments)
            })
            .collect();

        // Agents look at the reason to see whether a reply is whole.
        let reason = match (reply.cut_off, calls.is_empty()) {
            (true, _) => FinishReason::Length,
            (false, true) => FinishReason::Stop,
            (false, false) => FinishReason::ToolCalls,
        };
        ChatResponse::new(reply.text.as_str())
            .with_tool_calls(calls)
            .with_finish_reason(reason)
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Script {
    /// The replies, in order. A call after the last is an error.
    #[schemars(length(min = 1))]
    replies: Vec<Reply>,
}

impl Script {
    pub(super) fn client(self) -> Result<ScriptedClient, String> {
        Ok(ScriptedClient::new(
            self.replies.iter().map(Reply::response),
        ))
    }
}
