use std::collections::BTreeMap;

use cogwork_llm::{ProviderData, ToolCall};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::form::THOUGHT;
use crate::ThoughtDraft;

/// A usable reply to a question.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StageReply {
    /// The thought: the text without the fields.
    pub text: String,
    /// The fields, each of the expected type.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, Value>,
    /// The stage that the model chose as the next one, if it had a choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// The tools that the model calls. If there are any, fields may be missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// What the server wants back with the reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_data: Option<ProviderData>,
}

impl StageReply {
    /// Returns the fields as a value of the type that [asked](super::Ask::of) for them, with the text
    /// as its `thought`.
    ///
    /// # Errors
    ///
    /// Returns what doesn't fit the type.
    pub(crate) fn value<T: DeserializeOwned>(&self) -> Result<T, String> {
        let fields = self.fields.iter();
        let fields = fields.map(|(name, value)| (name.clone(), value.clone()));
        let thought = (THOUGHT.to_owned(), Value::from(self.text.as_str()));

        let value: Map<String, Value> = fields.chain([thought]).collect();
        serde_json::from_value(value.into()).map_err(|error| error.to_string())
    }

    /// Returns the thought with the fields as parameters, and with another text.
    pub(crate) fn draft(&self, stage: &str, text: &str) -> ThoughtDraft {
        let draft = ThoughtDraft::at(stage, text);
        self.fields.iter().fold(draft, |draft, (name, value)| {
            draft.with(name.as_str(), value.clone())
        })
    }

    /// Returns whether a field is true.
    pub(crate) fn is_true(&self, name: &str) -> bool {
        self.fields.get(name) == Some(&Value::Bool(true))
    }

    /// Returns a text field. It is empty if the field is missing or isn't a text.
    pub fn field(&self, name: &str) -> &str {
        self.fields
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }
}
