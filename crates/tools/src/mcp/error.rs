use std::fmt;

use cogwork_text::{MultiLine, Name};

use crate::ToolError;

/// An error of an MCP server: it can't be started, or its tools can't be used.
///
/// `Display` ends with the last lines that the server wrote to its standard error, if any.
#[derive(Clone, thiserror::Error)]
pub struct McpError {
    server: String,
    kind: McpErrorKind,
    problem: String,
    stderr: String,
}

/// The kind of an [`McpError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum McpErrorKind {
    /// A setting is wrong, such as an address that can't be parsed.
    Settings,
    /// The server can't be started or reached.
    Start,
    /// The server took too long to start.
    Timeout,
    /// The server ended.
    Ended,
    /// The server sent something unexpected.
    Protocol,
    /// The server doesn't have a tool that was [named](super::McpServer::with_only).
    MissingTool,
}

impl McpError {
    pub(super) fn new(server: &str, kind: McpErrorKind, problem: impl Into<String>) -> Self {
        Self {
            server: server.to_owned(),
            kind,
            problem: problem.into(),
            stderr: String::new(),
        }
    }

    /// Adds the last lines on standard error.
    pub(super) fn with_stderr(mut self, lines: String) -> Self {
        self.stderr = lines;
        self
    }

    /// Returns the name of the server.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> McpErrorKind {
        self.kind
    }

    /// Returns the last lines that the server wrote to its standard error, as they are. Empty if
    /// there are none.
    pub fn stderr(&self) -> &str {
        &self.stderr
    }
}

impl fmt::Display for McpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let server = Name(&self.server);
        let problem = MultiLine::new(&self.problem);
        write!(f, "the MCP server `{server}` {problem}")?;

        if self.stderr.is_empty() {
            return Ok(());
        }
        let lines = MultiLine::new(&self.stderr);
        write!(f, "\nits last lines on standard error:\n{lines}")
    }
}

cogwork_text::debug_as_display!(McpError);

impl From<McpError> for ToolError {
    fn from(error: McpError) -> Self {
        Self::unavailable(error)
    }
}
