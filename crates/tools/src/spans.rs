//! The `tracing` spans of calls.

use serde_json::Value;
use tracing::field::{Empty, display};
use tracing::{Instrument, Span, info_span};

use crate::ToolError;

/// The span of one call.
pub(crate) struct CallSpan(Span);

impl CallSpan {
    /// Opens the span inside the current one.
    pub(crate) fn open(tool: &str, id: Option<&str>) -> Self {
        Self(info_span!(
            "execute_tool",
            "otel.name" = display(format_args!("execute_tool {tool}")),
            "otel.status_code" = Empty,
            "gen_ai.operation.name" = "execute_tool",
            "gen_ai.tool.name" = tool,
            "gen_ai.tool.type" = "function",
            "gen_ai.tool.call.id" = id,
            "gen_ai.tool.call.arguments" = Empty,
            "gen_ai.tool.call.result" = Empty,
            "openinference.span.kind" = "TOOL",
            "error.type" = Empty,
        ))
    }

    /// Makes the call inside the span, and records its error.
    pub(crate) async fn around(
        &self,
        call: impl Future<Output = Result<String, ToolError>>,
    ) -> Result<String, ToolError> {
        let result = call.instrument(self.0.clone()).await;

        if let Err(error) = &result {
            self.0.record("otel.status_code", "ERROR");
            self.0.record("error.type", error_type(error));
        }

        result
    }

    pub(crate) fn record_arguments(&self, input: &Value) {
        self.0.record("gen_ai.tool.call.arguments", display(input));
    }

    pub(crate) fn record_result(&self, result: &str) {
        self.0.record("gen_ai.tool.call.result", result);
    }
}

/// Returns a name of the kind of error, which has few different values.
fn error_type(error: &ToolError) -> &'static str {
    match error {
        ToolError::Unknown { .. } => "unknown_tool",
        ToolError::Input { .. } => "wrong_input",
        ToolError::Timeout { .. } => "timeout",
        ToolError::Failed { .. } => "failed",
        ToolError::Unavailable { .. } => "unavailable",
        _ => "_OTHER",
    }
}
