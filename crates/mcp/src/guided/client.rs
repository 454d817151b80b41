//! The model and the tools of the host, as a client and tools of Cogwork.

use async_trait::async_trait;
use cogwork_cot::{ReplyProblem, Reporter};
use cogwork_llm::{ChatRequest, ChatResponse, LlmClient, LlmError, ToolDefinition, Usage};
use cogwork_tools::{Tool, ToolError};
use serde_json::Value;

use super::board::Board;

/// The model of the host. A call is a question, and waits for its reply.
///
/// It has no capabilities: nothing enforces the form of a reply. So replies are requested as lines
/// or as YAML, which need no escapes in the argument of a tool, and JSON is accepted as well.
pub(super) struct HostClient(pub(super) Board);

#[async_trait]
impl LlmClient for HostClient {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let asking = self.0.ask_model(&request);
        let read = asking.question().asked.tokens();

        let reply = asking.await;
        let response = ChatResponse::new(reply.text);
        let written = response.estimated_tokens();
        Ok(response.with_usage(Usage::new(read, written)))
    }
}

/// A tool of the host. A call is a question, and waits for the output.
pub(super) struct HostTool {
    pub(super) board: Board,
    pub(super) definition: ToolDefinition,
}

#[async_trait]
impl Tool for HostTool {
    fn definition(&self) -> ToolDefinition {
        self.definition.clone()
    }

    async fn call(&self, input: Value) -> Result<String, ToolError> {
        let name = self.definition.name().to_owned();
        let reply = self.board.ask_tool(name, input).await;

        if reply.failed {
            return Err(ToolError::failed(reply.text));
        }
        Ok(reply.text)
    }
}

/// Passes on why a reply cannot be used.
pub(super) struct ProblemReporter(pub(super) Board);

impl Reporter for ProblemReporter {
    fn asking_again(&self, _: u32, problem: &ReplyProblem) {
        self.0.report_problem(problem.to_string());
    }
}
