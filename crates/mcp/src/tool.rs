//! The interface between the server and its tools.

use std::sync::Arc;

use async_trait::async_trait;
use cogwork_tools::schemars::JsonSchema;
use cogwork_tools::schemars::generate::SchemaSettings;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, JsonObject, Tool};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;

use crate::connection::Connection;
use crate::store::StoreError;

/// A tool of the server.
#[async_trait]
pub(crate) trait ServerTool: Send + Sync {
    /// Returns the name, the description and the schemas. Called once.
    fn definition(&self) -> Tool;

    /// Returns whether clients see the tool. One that isn't listed explains why when it is called.
    fn is_listed(&self) -> bool {
        true
    }

    /// Returns the result of a call.
    ///
    /// # Errors
    ///
    /// Returns a [`ToolFailure`], which the model reads.
    async fn call(&self, call: ToolCall<'_>) -> Result<CallToolResponse, ToolFailure>;
}

/// A tool with its definition.
pub(crate) struct ListedTool {
    pub(crate) definition: Tool,
    pub(crate) tool: Box<dyn ServerTool>,
}

impl ListedTool {
    pub(crate) fn new(tool: Box<dyn ServerTool>) -> Self {
        let definition = tool.definition();
        Self { definition, tool }
    }

    /// Returns whether clients see the tool.
    pub(crate) fn is_listed(&self) -> bool {
        self.tool.is_listed()
    }
}

/// A call of a tool.
pub(crate) struct ToolCall<'a> {
    /// The arguments, which are not checked yet.
    pub(crate) arguments: JsonObject,
    /// The connection to the caller.
    pub(crate) connection: &'a Connection,
    /// The request, for progress notifications and cancellation.
    pub(crate) context: &'a RequestContext<RoleServer>,
}

/// The failure of a call.
#[derive(Debug)]
pub(crate) enum ToolFailure {
    /// The model can correct it: a result with `isError`.
    Message(String),
    /// The same, with data in addition to the text.
    Described {
        /// The text.
        message: String,
        /// The data, which repeats the message.
        data: Value,
    },
}

impl ToolFailure {
    pub(crate) fn message(message: impl std::fmt::Display) -> Self {
        Self::Message(message.to_string())
    }

    /// Returns the result to send.
    pub(crate) fn into_response(self) -> CallToolResponse {
        match self {
            Self::Message(message) => CallToolResult::error(vec![ContentBlock::text(message)]),
            Self::Described { message, data } => {
                let mut result = CallToolResult::error(vec![ContentBlock::text(message)]);
                result.structured_content = Some(data);
                result
            }
        }
        .into()
    }
}

impl From<StoreError> for ToolFailure {
    fn from(error: StoreError) -> Self {
        Self::message(error)
    }
}

/// Returns the JSON Schema of the data in a result, without references, which not every host follows.
pub(crate) fn schema_of<T: JsonSchema>() -> Arc<JsonObject> {
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let schema = settings.into_generator().into_root_schema_for::<T>();
    match schema.to_value() {
        Value::Object(schema) => Arc::new(schema),
        _ => Arc::default(),
    }
}
