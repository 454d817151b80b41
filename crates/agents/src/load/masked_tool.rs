//! A tool whose errors contain no values from the environment.

use cogwork_llm::{ToolDefinition, async_trait};
use cogwork_tools::{Tool, ToolError};
use serde_json::Value;

use super::masked::LoadedSecrets;

/// Hides secrets in the errors of a tool. A server may repeat its arguments and its environment.
pub(super) struct MaskedTool<T> {
    tool: T,
    secrets: LoadedSecrets,
}

impl<T> MaskedTool<T> {
    pub(super) fn new(tool: T, secrets: LoadedSecrets) -> Self {
        Self { tool, secrets }
    }

    fn masked(&self, error: ToolError) -> ToolError {
        let hide = |problem| self.secrets.hide(problem);

        match error {
            ToolError::Input { tool, problem } => ToolError::Input {
                tool,
                problem: hide(problem),
            },
            ToolError::Failed { tool, problem } => ToolError::Failed {
                tool,
                problem: hide(problem),
            },
            ToolError::Unavailable { tool, problem } => ToolError::Unavailable {
                tool,
                problem: hide(problem),
            },
            other => other,
        }
    }
}

#[async_trait]
impl<T: Tool> Tool for MaskedTool<T> {
    fn definition(&self) -> ToolDefinition {
        self.tool.definition()
    }

    fn ready(&self) -> Result<(), ToolError> {
        self.tool.ready().map_err(|error| self.masked(error))
    }

    async fn call(&self, input: Value) -> Result<String, ToolError> {
        let called = self.tool.call(input).await;
        called.map_err(|error| self.masked(error))
    }
}
