use std::sync::Arc;

use async_trait::async_trait;
use cogwork_llm::ToolDefinition;
use cogwork_text::check_by_schema;
use serde_json::Value;

use super::call::arguments;
use super::link::Link;
use super::listing::exposed_name;
use super::{McpError, McpServer};
use crate::{Tool, ToolError};

/// The tools of an MCP server. Clones share the server.
///
/// The server is stopped when the last clone and the last [`McpTool`] are dropped.
#[derive(Debug, Clone)]
pub struct McpTools(Arc<Link>);

/// A tool of an MCP server.
#[derive(Debug, Clone)]
pub struct McpTool {
    link: Arc<Link>,
    /// The name at the server.
    name: String,
    /// The definition when the tool was created.
    definition: ToolDefinition,
}

impl McpServer {
    /// Starts the server and asks for its tools.
    ///
    /// Both generations of the protocol are spoken: from 2024-11-05 to 2025-11-25, and 2026-07-28. A
    /// server that ends when it is asked for the new one is started again with the old one.
    ///
    /// # Errors
    ///
    /// Returns an error if the server can't be started, if it doesn't answer in time, or if it
    /// doesn't have one of the tools that were [named](Self::with_only).
    pub async fn connect(self) -> Result<McpTools, McpError> {
        let tools = self.unconnected();
        tools.connect().await?;
        Ok(tools)
    }

    /// Returns the tools of the server without starting it. Only the tools that were
    /// [named](Self::with_only) are known. They can be registered, but the server has to be
    /// [connected](McpTools::connect) before they are used.
    pub fn unconnected(self) -> McpTools {
        McpTools(Arc::new(Link::new(self)))
    }
}

impl McpTools {
    /// Starts the server, unless it is running, and asks for its tools.
    ///
    /// # Errors
    ///
    /// Returns an error in the same cases as [`McpServer::connect`].
    pub async fn connect(&self) -> Result<(), McpError> {
        self.0.connection().await.map(drop)
    }

    /// Returns the tools that the server had when it was last started, by name. Those that can't be
    /// used, because their name or schema is invalid or because they come after the first 128, are
    /// left out, with an event of `tracing`.
    pub fn tools(&self) -> Vec<McpTool> {
        match self.0.listing() {
            Some(listing) => {
                let tools = listing.iter();
                tools
                    .map(|(name, definition)| self.tool(name, definition.clone()))
                    .collect()
            }
            None => self.named(),
        }
    }

    /// Returns the tools that were named, whose definitions are still unknown.
    fn named(&self) -> Vec<McpTool> {
        let server = &self.0.server;
        let names = server.only.iter().flatten();
        names
            .filter_map(|name| {
                let shown = exposed_name(server, name).ok()?;
                // Replaced by that of the server once it is connected.
                let definition = ToolDefinition::new(shown, "", r#"{"type":"object"}"#);
                Some(self.tool(name, definition))
            })
            .collect()
    }

    fn tool(&self, name: &str, definition: ToolDefinition) -> McpTool {
        McpTool {
            link: Arc::clone(&self.0),
            name: name.to_owned(),
            definition,
        }
    }
}

#[async_trait]
impl Tool for McpTool {
    fn definition(&self) -> ToolDefinition {
        let listing = self.link.listing();
        // A server that was started again may describe its tools differently.
        let current = listing.as_ref().and_then(|listing| listing.get(&self.name));
        current.unwrap_or(&self.definition).clone()
    }

    fn ready(&self) -> Result<(), ToolError> {
        if self.link.listing().is_some() {
            return Ok(());
        }
        let server = &self.link.server.name;
        Err(ToolError::unavailable(format_args!(
            "the MCP server `{server}` isn't connected; connect it first"
        )))
    }

    /// Checks the input by the schema from the server, which may accept less by itself.
    fn check(&self, input: &Value) -> Result<(), ToolError> {
        let definition = self.definition();
        let schema = serde_json::from_str(definition.input_schema()).unwrap_or_default();
        let arguments = Value::Object(arguments(input.clone())?);
        check_by_schema(&schema, &arguments).map_err(ToolError::input)
    }

    async fn call(&self, input: Value) -> Result<String, ToolError> {
        self.link.call(&self.name, input).await
    }
}
