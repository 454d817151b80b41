//! Tools of a program.

use std::sync::Arc;

use async_trait::async_trait;
use cogwork_llm::ToolDefinition;
use cogwork_tools::Tools;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, JsonObject, Tool};
use serde_json::Value;

use crate::ServerError;
use crate::tool::{ServerTool, ToolCall, ToolFailure};

/// A tool of a registry.
pub(crate) struct AddedTool {
    definition: Tool,
    tools: Arc<Tools>,
}

impl AddedTool {
    /// Returns all tools of a registry.
    ///
    /// # Errors
    ///
    /// Returns an error if a tool isn't ready, or if the schema of its input isn't one of an object.
    pub(crate) fn all(tools: &Tools) -> Result<Vec<Self>, ServerError> {
        tools.ready().map_err(ServerError::of)?;

        let tools = Arc::new(tools.clone());
        let added = tools.definitions().map(|definition| {
            Ok(Self {
                definition: listed(&definition)?,
                tools: Arc::clone(&tools),
            })
        });
        added.collect()
    }
}

/// Returns the definition for clients.
fn listed(definition: &ToolDefinition) -> Result<Tool, ServerError> {
    let name = definition.name().to_owned();
    let description = definition.description().to_owned();

    let schema = serde_json::from_str::<JsonObject>(definition.input_schema());
    let mut schema = schema.map_err(|error| {
        ServerError::of(format_args!(
            "the input schema of the tool `{name}`: {error}"
        ))
    })?;
    let schema_type = schema.entry("type").or_insert_with(|| "object".into());
    if schema_type != "object" {
        return Err(ServerError::of(format_args!(
            "the input schema of the tool `{name}` has the type {schema_type}; expected \"object\""
        )));
    }

    Ok(Tool::new(name, description, schema))
}

#[async_trait]
impl ServerTool for AddedTool {
    fn definition(&self) -> Tool {
        self.definition.clone()
    }

    async fn call(&self, call: ToolCall<'_>) -> Result<CallToolResponse, ToolFailure> {
        let input = Value::Object(call.arguments);
        let output = tokio::select! {
            output = self.tools.call_with(&self.definition.name, input) => output,
            () = call.context.ct.cancelled() => {
                return Err(ToolFailure::message("the call was cancelled"));
            }
        };

        let text = output.map_err(ToolFailure::message)?;
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}
