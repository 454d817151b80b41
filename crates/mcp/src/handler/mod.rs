//! Requests of one client.

mod requests;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ListResourcesResult, PaginatedRequestParams,
    ProtocolVersion, ServerCapabilities,
};
use rmcp::service::{RequestContext, RoleServer};
use tokio::sync::SemaphorePermit;

use crate::added::AddedHandler;
use crate::connection::Connection;
use crate::resources::{self, Address};
use crate::shared::Shared;
use crate::tool::{ListedTool, ToolCall, ToolFailure};

/// Handles the requests of one client. What the server doesn't have, a handler of the program may.
#[derive(Clone)]
pub(crate) struct Handler {
    pub(crate) shared: Arc<Shared>,
    pub(crate) connection: Arc<Connection>,
    /// What requests share that don't belong to a connection.
    pub(crate) unconnected: Option<Arc<Connection>>,
}

impl Handler {
    /// Calls a tool of the server.
    async fn call_own(
        &self,
        tool: &ListedTool,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let call = ToolCall {
            arguments: request.arguments.unwrap_or_default(),
            connection: self.connection(context),
            context,
        };
        // Without an answer, the client would wait forever.
        let result = AssertUnwindSafe(tool.tool.call(call)).catch_unwind().await;
        tracing::debug!(tool = %tool.definition.name, "the tool was called");
        match result {
            Ok(result) => Ok(result.unwrap_or_else(ToolFailure::into_response)),
            Err(_) => Err(ErrorData::internal_error("the tool panicked", None)),
        }
    }

    /// Returns the strategies and a page of the sessions.
    async fn own_resources(
        &self,
        request: Option<PaginatedRequestParams>,
    ) -> Result<ListResourcesResult, ErrorData> {
        if !self.has_sessions() {
            return Ok(ListResourcesResult::default());
        }
        resources::list(&self.shared.store, self.connection.owner(), request).await
    }

    /// Returns whether there are tools with sessions, which are resources.
    fn has_sessions(&self) -> bool {
        self.shared.tools.has_built_in_ones()
    }

    /// Returns the handler of the program, if it can do something.
    fn with(&self, can: impl Fn(&ServerCapabilities) -> bool) -> Option<&AddedHandler> {
        let added = self.shared.added.as_ref();
        added.filter(|added| can(&added.info().capabilities))
    }

    /// Returns the handler of the program, if the resource isn't one of the server.
    fn for_resource(&self, uri: &str) -> Option<&AddedHandler> {
        let is_own = self.has_sessions() && Address::read(uri).is_some();
        self.with(|added| added.resources.is_some() && !is_own)
    }

    /// Returns the handler of the program, if the task isn't one of the server.
    fn for_task<T>(&self, own: &Result<T, ErrorData>) -> Option<&AddedHandler> {
        self.with(|added| added.supports_tasks() && own.is_err())
    }

    /// Sets what requests share that don't belong to a connection.
    #[cfg(feature = "http")]
    pub(crate) fn with_unconnected(mut self, unconnected: Arc<Connection>) -> Self {
        self.unconnected = Some(unconnected);
        self
    }

    /// Returns the connection of a request.
    fn connection(&self, context: &RequestContext<RoleServer>) -> &Connection {
        match &self.unconnected {
            Some(unconnected) if is_of_newer_generation(context) => unconnected,
            _ => &self.connection,
        }
    }

    /// Waits until the number of requests at the same time allows another one.
    async fn permit(&self) -> Result<SemaphorePermit<'_>, ErrorData> {
        let permit = self.shared.requests.acquire().await;
        permit.map_err(|_| ErrorData::internal_error("the server is stopping", None))
    }

    fn unknown_tool(&self, name: &str) -> ToolFailure {
        let name = cogwork_text::Name(name);
        let known = self.shared.tools.listed().map(|tool| &tool.name);
        let known = cogwork_text::NameList::or(known);
        ToolFailure::message(format_args!("there is no tool `{name}`; expected {known}"))
    }
}

/// Whether a request comes without a handshake and a session of the protocol.
fn is_of_newer_generation(context: &RequestContext<RoleServer>) -> bool {
    let version = context.meta.protocol_version();
    version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}
