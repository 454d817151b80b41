use std::error::Error;
use std::iter::successors;

use cogwork_text::{MultiLine, Name};
use rmcp::ServiceError;
use rmcp::service::ClientInitializeError as StartError;

use super::McpServer;
use super::server::Place;
use crate::ToolError;

/// An error of an MCP server: it can't be started, or its tools can't be used.
#[derive(Clone, thiserror::Error)]
#[error("{}", MultiLine::new(.message))]
pub struct McpError {
    message: String,
    /// Whether a server that was started here has ended.
    pub(super) has_ended: bool,
}

cogwork_text::debug_as_display!(McpError);

impl McpError {
    pub(super) fn new(server: &McpServer, problem: impl Into<String>) -> Self {
        let name = Name(&server.name);
        // The server may have repeated the token.
        let problem = server.mask.hide(&problem.into());
        Self {
            message: format!("the MCP server `{name}` {problem}"),
            has_ended: false,
        }
    }

    /// Creates the error of a server that was started here, and has ended.
    fn ended(server: &McpServer, when: &str) -> Self {
        Self {
            has_ended: true,
            ..Self::new(server, format!("ended {when}"))
        }
    }

    /// Creates the error of a server that ended when it was started, or didn't answer as expected.
    pub(super) fn of_start(server: &McpServer, error: &StartError) -> Self {
        let problem = match error {
            StartError::ConnectionClosed(_) | StartError::TransportError { .. }
                if is_started(server) =>
            {
                let when = "as it started; its standard error may say why";
                return Self::ended(server, when);
            }
            StartError::LegacyFallbackFailed { fallback, .. } => {
                return Self::of_start(server, fallback);
            }
            StartError::JsonRpcError(error) => {
                let (code, message) = (error.code.0, &error.message);
                format!("refused the connection with the error {code}: {message}")
            }
            StartError::TransportError { error, .. } => unreachable("", error),
            _ => "didn't answer like an MCP server when it was started".to_owned(),
        };
        Self::new(server, problem)
    }

    /// Creates the error of a request that got no usable answer.
    pub(super) fn of_request(server: &McpServer, during: &str, error: &ServiceError) -> Self {
        let problem = match error {
            ServiceError::TransportClosed | ServiceError::TransportSend(_) => {
                if is_started(server) {
                    return Self::ended(server, during);
                }
                unreachable(&format!(" {during}"), error)
            }
            ServiceError::McpError(error) => {
                let (code, message) = (error.code.0, &error.message);
                format!("answered with the error {code} {during}: {message}")
            }
            ServiceError::UnexpectedResponse => {
                format!("sent an answer of an unknown form {during}")
            }
            error => format!("failed {during}: {error}"),
        };
        Self::new(server, problem)
    }
}

/// Returns whether a server is started here.
fn is_started(server: &McpServer) -> bool {
    matches!(server.place, Place::Command(_))
}

impl From<McpError> for ToolError {
    fn from(error: McpError) -> Self {
        Self::unavailable(error)
    }
}

/// Returns the problem of a server that can't be reached, with the innermost error, which says the
/// most.
fn unreachable<'e>(during: &str, error: &'e (dyn Error + 'static)) -> String {
    let next = |error: &&'e (dyn Error + 'static)| (*error).source();
    // Chains of errors are short, unless one of them contains itself.
    let innermost = successors(Some(error), next).take(16).last();
    let innermost = innermost.unwrap_or(error);
    format!("can't be reached{during}: {innermost}")
}
