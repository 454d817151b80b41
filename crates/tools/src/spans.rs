//! The `tracing` spans of calls.

use tracing::field::Empty;
use tracing::{Span, info_span};

use crate::ToolError;

/// Creates the span of a call, inside the current one.
pub(crate) fn call_span(tool: &str, id: Option<&str>) -> Span {
    info_span!(
        "execute_tool",
        "otel.name" = display(format_args!("execute_tool {tool}")),
        "otel.status_code" = Empty,
        "gen_ai.operation.name" = "execute_tool",
        "gen_ai.tool.name" = tool,
        "gen_ai.tool.type" = "function",
        "gen_ai.tool.call.id" = id,
        "openinference.span.kind" = "TOOL",
        "error.type" = Empty,
    )
}

/// Returns a name of the kind of error, which has few different values.
pub(crate) fn error_type(error: &ToolError) -> &'static str {
    match error {
        ToolError::Unknown { .. } => "unknown_tool",
        ToolError::Input { .. } => "wrong_input",
        ToolError::Timeout { .. } => "timeout",
        ToolError::Failed { .. } => "failed",
        ToolError::Unavailable { .. } => "unavailable",
        ToolError::Registry(_) => "_OTHER",
    }
}
