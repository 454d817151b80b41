use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use cogwork_llm::ToolDefinition;
use cogwork_text::check_by_schema;
use serde_json::Value;
use tokio::sync::Mutex;

use super::connection::Connection;
use super::listing::exposed_name;
use super::{McpError, McpServer};
use crate::{Tool, ToolError};

/// The tools of an MCP server. Clones share the server.
///
/// The server is stopped when the last clone and the last [`McpTool`] are dropped.
#[derive(Clone)]
pub struct McpTools(Arc<Shared>);

struct Shared {
    server: McpServer,
    /// `None` before the first connection.
    connection: RwLock<Option<Arc<Connection>>>,
    /// Held while the server starts, so that calls at the same time start it once.
    starting: Mutex<()>,
}

/// A tool of an MCP server.
#[derive(Debug, Clone)]
pub struct McpTool {
    tools: McpTools,
    /// The name at the server.
    name: String,
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
        McpTools(Arc::new(Shared {
            server: self,
            connection: RwLock::default(),
            starting: Mutex::default(),
        }))
    }
}

impl McpTools {
    /// Starts the server, unless it is running, and asks for its tools.
    ///
    /// # Errors
    ///
    /// Returns an error in the same cases as [`McpServer::connect`].
    pub async fn connect(&self) -> Result<(), McpError> {
        self.running().await.map(drop)
    }

    /// Returns the tools that the server had when it was last started, by name. Those that can't be
    /// used, because their name or schema is invalid or because they come after the first 128, are
    /// left out, with an event of `tracing`.
    pub fn tools(&self) -> Vec<McpTool> {
        let connection = self.last_connection();
        let names: Vec<&String> = match &connection {
            Some(connection) => connection.listing.keys().collect(),
            None => {
                let named = self.server().only.iter().flatten();
                named
                    .filter(|name| exposed_name(self.server(), name).is_ok())
                    .collect()
            }
        };

        let tools = names.into_iter().map(|name| McpTool {
            tools: self.clone(),
            name: name.clone(),
        });
        tools.collect()
    }

    fn server(&self) -> &McpServer {
        &self.0.server
    }

    /// Returns the connection. If there is none, or if it has ended, the server is started.
    async fn running(&self) -> Result<Arc<Connection>, McpError> {
        let _starting = self.0.starting.lock().await;
        let last = self.last_connection();
        if let Some(connection) = last.filter(|last| !last.is_closed()) {
            return Ok(connection);
        }

        let connection = Arc::new(Connection::open(self.server()).await?);
        // Another lock, so that the tools can be listed while the server starts.
        let current = self.0.connection.write();
        *current.unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&connection));
        Ok(connection)
    }

    /// Returns the last connection, which may have ended, or `None` before the first one.
    fn last_connection(&self) -> Option<Arc<Connection>> {
        let connection = self.0.connection.read();
        connection.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl Tool for McpTool {
    fn definition(&self) -> ToolDefinition {
        let connection = self.tools.last_connection();
        // A server that was started again may describe its tools differently.
        let current = connection
            .as_ref()
            .and_then(|it| it.listing.get(&self.name));
        current.cloned().unwrap_or_else(|| {
            let shown = exposed_name(self.tools.server(), &self.name);
            ToolDefinition::new(shown.unwrap_or_default(), "", r#"{"type":"object"}"#)
        })
    }

    fn ready(&self) -> Result<(), ToolError> {
        if self.tools.last_connection().is_some() {
            return Ok(());
        }
        let server = &self.tools.server().name;
        Err(ToolError::unavailable(format_args!(
            "the MCP server `{server}` isn't connected; connect it first"
        )))
    }

    /// Checks the input by the schema from the server, which may accept less by itself.
    fn check(&self, input: &Value) -> Result<(), ToolError> {
        let definition = self.definition();
        let schema = serde_json::from_str(definition.input_schema()).unwrap_or_default();
        // No arguments are those of an empty object.
        let arguments = match input {
            Value::Null => &serde_json::json!({}),
            input => input,
        };
        check_by_schema(&schema, arguments).map_err(ToolError::input)
    }

    async fn call(&self, input: Value) -> Result<String, ToolError> {
        let server = self.tools.server();
        let called = async {
            let connection = self.tools.running().await?;
            connection.call(server, &self.name, input).await
        };

        // Dropping the call cancels it at the server.
        let called = tokio::time::timeout(server.timeout, called).await;
        called.unwrap_or_else(|_| {
            Err(ToolError::Timeout {
                tool: String::new(),
                limit: server.timeout,
            })
        })
    }
}

impl fmt::Debug for McpTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("McpTools").field(self.server()).finish()
    }
}
