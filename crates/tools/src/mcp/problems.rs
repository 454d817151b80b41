//! What is wrong with a server, in words.

use std::error::Error;
use std::iter::successors;

use rmcp::service::ClientInitializeError;

use super::server::MAX_MESSAGE;
use super::{McpError, McpErrorKind, McpServer};

pub(super) fn too_late(server: &McpServer) -> McpError {
    let limit = server.start_timeout;
    let problem = format!("wasn't ready within {limit:?} of its start");
    McpError::new(&server.name, McpErrorKind::Timeout, problem)
}

pub(super) fn too_long_message() -> (McpErrorKind, String) {
    let problem =
        format!("sent a message of more than {MAX_MESSAGE} bytes, so the connection was closed");
    (McpErrorKind::Protocol, problem)
}

/// Returns whether a server ended instead of answering.
pub(super) fn has_ended(error: &ClientInitializeError) -> bool {
    match error {
        ClientInitializeError::ConnectionClosed(_)
        | ClientInitializeError::TransportError { .. } => true,
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => has_ended(fallback),
        _ => false,
    }
}

/// Returns the problem of a server that answered.
pub(super) fn start_problem(error: &ClientInitializeError) -> (McpErrorKind, String) {
    let problem = match error {
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => {
            return start_problem(fallback);
        }
        ClientInitializeError::JsonRpcError(error) => {
            let code = error.code.0;
            let message = &error.message;
            format!("refused the connection with the error {code}: {message}")
        }
        ClientInitializeError::NoCompatibleProtocolVersion { .. } => {
            "speaks no version of the protocol that is known here".to_owned()
        }
        ClientInitializeError::TransportError { error, .. } => {
            return (McpErrorKind::Start, unreachable("", error));
        }
        _ => "didn't answer like an MCP server when it was started".to_owned(),
    };

    (McpErrorKind::Protocol, problem)
}

/// Returns the problem of a server that can't be reached, with the innermost error, which says the
/// most.
pub(super) fn unreachable<'e>(during: &str, error: &'e (dyn Error + 'static)) -> String {
    let next = |error: &&'e (dyn Error + 'static)| (*error).source();
    let sources: Vec<_> = successors(Some(error), next).take(16).collect();

    #[cfg(feature = "mcp-http")]
    if sources.iter().any(|source| refuses_token(*source)) {
        return "refuses the token; expected another one".to_owned();
    }

    let innermost = sources.last().copied().unwrap_or(error);
    format!("can't be reached{during}: {innermost}")
}

/// Returns whether a server refused the token, or the lack of one.
#[cfg(feature = "mcp-http")]
fn refuses_token(error: &(dyn Error + 'static)) -> bool {
    use rmcp::transport::streamable_http_client::StreamableHttpError;

    match error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
        Some(StreamableHttpError::AuthRequired(_) | StreamableHttpError::InsufficientScope(_)) => {
            true
        }
        Some(StreamableHttpError::UnexpectedServerResponse(answer)) => {
            let statuses = ["HTTP 401 ", "HTTP 403 "];
            statuses.iter().any(|status| answer.starts_with(status))
        }
        _ => false,
    }
}
