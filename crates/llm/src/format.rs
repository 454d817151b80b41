use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The format that a backend [with the capability](crate::Capability) enforces for a reply.
///
/// ```
/// use cogwork_llm::{ChatRequest, Message, ReplyFormat};
///
/// let schema = r#"{"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]}"#;
/// let request = ChatRequest::new([Message::user("2 + 2? Answer in JSON.")])
///     .with_format(ReplyFormat::schema("sum", schema));
/// assert!(request.format().is_some());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReplyFormat {
    /// JSON of any shape. Most servers require that the conversation mention JSON.
    Json,
    /// JSON that matches a schema.
    Schema {
        /// The name of the schema: letters, digits, `_` and `-`.
        name: Arc<str>,
        /// The JSON Schema as text.
        schema: Arc<str>,
    },
}

impl ReplyFormat {
    /// Creates a format from a JSON Schema.
    pub fn schema(name: impl Into<Arc<str>>, schema: impl Into<Arc<str>>) -> Self {
        Self::Schema {
            name: name.into(),
            schema: schema.into(),
        }
    }
}
