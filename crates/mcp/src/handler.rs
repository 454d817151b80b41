//! Requests of one client.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams,
    CompleteResult, CustomRequest, CustomResult, GetPromptRequestParams, GetPromptResponse,
    GetTaskParams, GetTaskResult, Implementation, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig,
    SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{RequestContext, RoleServer, SubscriptionContext};
use rmcp::{ErrorData, ServerHandler};

use tokio::sync::SemaphorePermit;

use crate::connection::Connection;
use crate::prompts;
use crate::resources::{self, Subscriptions};
use crate::server::Shared;
use crate::tool::{ToolCall, ToolFailure};

/// Teaches a model which tool to use.
const INSTRUCTIONS: &str = include_str!("instructions.md");

/// Handles the requests of one client.
#[derive(Clone)]
pub(crate) struct Handler {
    pub(crate) shared: Arc<Shared>,
    pub(crate) connection: Arc<Connection>,
    /// What requests share that don't belong to a connection.
    pub(crate) unconnected: Option<Arc<Connection>>,
    pub(crate) subscriptions: Subscriptions,
}

#[allow(deprecated, reason = "hosts with a handshake subscribe in this way")]
impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_completions()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_resources_list_changed()
            .enable_tasks()
            .build();
        let mut info = ServerConfig::new(capabilities);
        info.server_info = Implementation::new("cogwork", env!("CARGO_PKG_VERSION"));
        info.instructions = Some(self.instructions());
        info
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.shared.tools.iter().filter(|tool| tool.is_listed());
        let definitions = tools.map(|tool| tool.definition.clone());
        Ok(ListToolsResult::with_all_items(definitions.collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let _permit = self.permit().await?;

        let name = request.name;
        let mut tools = self.shared.tools.iter();
        let Some(tool) = tools.find(|tool| tool.definition.name == name) else {
            tracing::debug!("an unknown tool was called");
            return Ok(self.unknown_tool(&name).into_response());
        };

        let call = ToolCall {
            arguments: request.arguments.unwrap_or_default(),
            connection: self.connection(&context),
            context: &context,
        };
        // Without an answer, the client would wait forever.
        let result = AssertUnwindSafe(tool.tool.call(call)).catch_unwind().await;
        tracing::debug!(tool = %tool.definition.name, "the tool was called");
        match result {
            Ok(result) => Ok(result.unwrap_or_else(ToolFailure::into_response)),
            Err(_) => Err(ErrorData::internal_error("the tool panicked", None)),
        }
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if request.method == "initialize" && is_of_newer_generation(&context) {
            return Err(crate::unknown_request::unknown_method(&request.method));
        }
        Err(crate::unknown_request::error(&request))
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let _permit = self.permit().await?;
        self.begin_notifications(&context);
        resources::list(&self.shared.store, self.connection.owner(), request).await
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(resources::templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let _permit = self.permit().await?;
        let owner = self.connection.owner();
        let Shared { store, views, .. } = &*self.shared;
        let result = resources::read(store, views, owner, request.uri).await?;
        Ok(result.into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let strategies = self.shared.store.strategies();
        Ok(prompts::list(strategies, self.has_solve()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let prompt = prompts::get(&self.shared.store, self.has_solve(), request)?;
        Ok(prompt.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let _permit = self.permit().await?;
        let owner = self.connection.owner();
        prompts::complete(&self.shared.store, owner, self.has_solve(), request).await
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.begin_notifications(&context);
        let most = self.shared.limits.subscriptions;
        self.subscriptions.add(request.uri, most)
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscriptions.remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let most = self.shared.limits.subscriptions;
        Some(resources::accepted(requested, most))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        resources::listen(&self.shared.store, self.connection.owner(), &context).await;
        Ok(())
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
}

impl Handler {
    /// Returns the instructions without the lines about tools that this server doesn't have.
    fn instructions(&self) -> String {
        let is_listed = |line: &&str| match line.strip_prefix("- `") {
            Some(line) => self.shared.tools.iter().any(|tool| {
                let rest = line.strip_prefix(tool.definition.name.as_ref());
                tool.is_listed() && rest.is_some_and(|rest| rest.starts_with('`'))
            }),
            None => true,
        };
        let lines: Vec<_> = INSTRUCTIONS.trim().lines().filter(is_listed).collect();
        lines.join("\n")
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

    /// Returns whether there is a model for the tool `solve`.
    fn has_solve(&self) -> bool {
        let mut tools = self.shared.tools.iter().filter(|tool| tool.is_listed());
        tools.any(|tool| tool.definition.name == "solve")
    }

    /// Notifies a client with a handshake of changes, once it has used resources. Others listen.
    fn begin_notifications(&self, context: &RequestContext<RoleServer>) {
        let version = context.protocol_version();
        if version.is_some_and(|version| version < ProtocolVersion::V_2026_07_28) {
            let owner = self.connection.owner();
            let peer = context.peer.clone();
            self.subscriptions.begin(&self.shared.store, owner, peer);
        }
    }

    fn unknown_tool(&self, name: &str) -> ToolFailure {
        let name = cogwork_text::Name(name);
        let tools = self.shared.tools.iter().filter(|tool| tool.is_listed());
        let known = cogwork_text::NameList::or(tools.map(|tool| &tool.definition.name));
        ToolFailure::message(format_args!("there is no tool `{name}`; expected {known}"))
    }
}

/// Whether a request comes without a handshake and a session of the protocol.
fn is_of_newer_generation(context: &RequestContext<RoleServer>) -> bool {
    let version = context.meta.protocol_version();
    version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}
