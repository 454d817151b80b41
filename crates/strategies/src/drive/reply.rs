use std::collections::BTreeMap;

use cogwork_llm::ToolCall;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A reply that has what was asked for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StageReply {
    /// The thought: the text without the fields.
    pub text: String,
    /// The fields, each of the type that was asked for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, Value>,
    /// The stage that is to be next, where that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// The calls that the model asks for; with some there may be no fields.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
}

impl StageReply {
    /// A field that is a text; empty where it is none.
    pub fn field(&self, name: &str) -> &str {
        self.fields
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }
}
