use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The form that a backend is asked to hold a reply to, where it
/// [can](crate::Capability). Without one, a reply is free text.
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
    /// JSON of any shape. Servers want the conversation to speak of JSON as well.
    Json,
    /// JSON of this shape.
    Schema {
        /// A name for the shape, as servers want one: letters, digits, `_` and `-`.
        name: Arc<str>,
        /// The JSON Schema, as text.
        schema: Arc<str>,
    },
}

impl ReplyFormat {
    /// JSON of the shape that this JSON Schema tells.
    pub fn schema(name: impl Into<Arc<str>>, schema: impl Into<Arc<str>>) -> Self {
        Self::Schema {
            name: name.into(),
            schema: schema.into(),
        }
    }
}
