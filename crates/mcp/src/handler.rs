//! Requests of one client.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams,
    CompleteResult, CustomRequest, CustomResult, GetPromptRequestParams, GetPromptResponse,
    GetTaskParams, GetTaskResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResponse, ServerConfig, Tool, UpdateTaskParams,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler};
use tokio::sync::SemaphorePermit;

use crate::connection::Connection;
use crate::shared::Shared;
use crate::tool::{ListedTool, ToolCall, ToolFailure};
use crate::{prompts, resources, unknown_request};

/// Handles the requests of one client.
#[derive(Clone)]
pub(crate) struct Handler {
    pub(crate) shared: Arc<Shared>,
    pub(crate) connection: Arc<Connection>,
    /// What requests share that don't belong to a connection.
    pub(crate) unconnected: Option<Arc<Connection>>,
}

impl Handler {
    /// Calls a tool of the server.
    async fn call(
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

    /// Returns whether there are tools with sessions, which are resources.
    fn has_sessions(&self) -> bool {
        self.shared.tools.has_built_in_ones()
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

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        self.shared.info.clone()
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let definitions = self.shared.tools.listed().cloned();
        Ok(ListToolsResult::with_all_items(definitions.collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let tool = self.shared.tools.find(name);
        tool.map(|tool| tool.definition.clone())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let _permit = self.permit().await?;
        match self.shared.tools.find(&request.name) {
            Some(tool) => self.call(tool, request, &context).await,
            None => {
                tracing::debug!("an unknown tool was called");
                Ok(self.unknown_tool(&request.name).into_response())
            }
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        if !self.has_sessions() {
            return Ok(ListResourcesResult::default());
        }
        let _permit = self.permit().await?;
        resources::list(&self.shared.store, self.connection.owner(), request).await
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        if !self.has_sessions() {
            return Ok(ListResourceTemplatesResult::default());
        }
        Ok(resources::templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let _permit = self.permit().await?;
        let owner = self.connection.owner();
        let result = resources::read(&self.shared.store, owner, request.uri).await?;
        Ok(result.into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let Shared { store, tools, .. } = &*self.shared;
        Ok(prompts::list(store.strategies(), &tools.ways()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let Shared { store, tools, .. } = &*self.shared;
        let prompt = prompts::get(store, &tools.ways(), request)?;
        Ok(prompt.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let _permit = self.permit().await?;
        let Shared { store, tools, .. } = &*self.shared;
        prompts::complete(store, self.connection.owner(), &tools.ways(), request).await
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let tasks = self.shared.tasks.of(self.connection(&context).owner());
        tasks.get_task(&request.task_id).map(GetTaskResult::new)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let tasks = self.shared.tasks.of(self.connection(&context).owner());
        tasks.update_task(&request.task_id, request.input_responses)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let tasks = self.shared.tasks.of(self.connection(&context).owner());
        tasks.cancel_task(&request.task_id)
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if request.method == "initialize" && is_of_newer_generation(&context) {
            return Err(unknown_request::unknown_method(&request.method));
        }
        Err(unknown_request::error(&request))
    }
}
