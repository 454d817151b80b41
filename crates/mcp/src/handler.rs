//! Requests of one client.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use cogwork_text::{Name, NameList};
use futures_util::FutureExt;
use rmcp::model::{
    CallToolRequestMethod, CallToolRequestParams, CallToolResponse, CallToolResult, ConstString,
    ContentBlock, CustomRequest, CustomResult, ErrorCode, GetPromptRequestParams,
    GetPromptResponse, Implementation, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_util::sync::CancellationToken;

use crate::builder::ServerBuilder;
use crate::connection::Connection;
use crate::store::SessionStore;
use crate::tool::Caller;
use crate::tools::ServerTools;
use crate::{prompts, resources};

/// The maximum number of requests that are handled at the same time.
const REQUESTS: usize = 64;

/// What all connections share.
pub(crate) struct Shared {
    pub(crate) store: SessionStore,
    pub(crate) stop: CancellationToken,
    tools: ServerTools,
    info: ServerConfig,
    requests: Semaphore,
}

impl Shared {
    pub(crate) fn new(settings: &ServerBuilder, store: SessionStore, tools: ServerTools) -> Self {
        Self {
            info: info(settings, &tools),
            store,
            tools,
            stop: CancellationToken::new(),
            requests: Semaphore::new(REQUESTS),
        }
    }
}

/// Returns what clients read about the server first.
fn info(settings: &ServerBuilder, tools: &ServerTools) -> ServerConfig {
    // Clients ask for everything that is announced, and show empty lists.
    let capabilities = if tools.has_built_in_ones() {
        ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .build()
    } else {
        ServerCapabilities::builder().enable_tools().build()
    };

    let mut info = ServerConfig::new(capabilities);
    info.server_info = Implementation::new(&settings.name, &settings.version);
    info
}

/// Handles the requests of one client.
#[derive(Clone)]
pub(crate) struct Handler {
    pub(crate) shared: Arc<Shared>,
    pub(crate) connection: Arc<Connection>,
    /// What requests share that don't belong to a connection.
    pub(crate) unconnected: Option<Arc<Connection>>,
}

impl Handler {
    /// Returns the connection of a request. Those of the newer generation have none.
    fn connection(&self, request: &RequestContext<RoleServer>) -> Arc<Connection> {
        let version = request.meta.protocol_version();
        // Only the newer generation sends its version with each request.
        let is_newer = version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        let unconnected = self.unconnected.as_ref().filter(|_| is_newer);
        Arc::clone(unconnected.unwrap_or(&self.connection))
    }

    /// Waits until the number of requests at the same time allows another one.
    async fn permit(&self) -> Result<SemaphorePermit<'_>, ErrorData> {
        let permit = self.shared.requests.acquire().await;
        permit.map_err(|_| ErrorData::internal_error("the server is stopping", None))
    }

    fn unknown_tool(&self, name: &str) -> CallToolResult {
        let known = self.shared.tools.definitions().map(|tool| &tool.name);
        let message = format!(
            "there is no tool `{}`; expected {}",
            Name(name),
            NameList::or(known)
        );
        CallToolResult::error(vec![ContentBlock::text(message)])
    }
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
        let definitions = self.shared.tools.definitions().cloned();
        Ok(ListToolsResult::with_all_items(definitions.collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let tool = self.shared.tools.find(name);
        tool.map(|tool| tool.definition.clone())
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        request: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let _permit = self.permit().await?;
        let Some(tool) = self.shared.tools.find(&call.name) else {
            tracing::debug!("an unknown tool was called");
            // A result rather than an error of the protocol, because models read only results.
            return Ok(self.unknown_tool(&call.name).into());
        };

        let caller = Caller {
            connection: self.connection(&request),
            request,
        };
        let called = tool.call(call.arguments.unwrap_or_default(), caller);
        let result = AssertUnwindSafe(called).catch_unwind().await;
        tracing::debug!(tool = %tool.definition.name, "the tool was called");
        // Without an answer, the client would wait forever.
        let result = result.map_err(|_| ErrorData::internal_error("the tool panicked", None));
        Ok(result?.into())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        // A call whose parameters can't be read has no other type.
        if request.method == CallToolRequestMethod::VALUE {
            let message = "expected the `name` of a tool, and `arguments` that are an object";
            return Err(ErrorData::invalid_params(message, None));
        }

        let unknown = ErrorCode::METHOD_NOT_FOUND;
        Err(ErrorData::new(unknown, request.method, None))
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        if !self.shared.tools.has_built_in_ones() {
            return Ok(ListResourcesResult::default());
        }
        let _permit = self.permit().await?;
        resources::list(&self.shared.store, &self.connection.owner, request).await
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(match self.shared.tools.has_built_in_ones() {
            true => resources::templates(),
            false => ListResourceTemplatesResult::default(),
        })
    }

    async fn read_resource(
        &self,
        read: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let _permit = self.permit().await?;
        let read = resources::read(&self.shared.store, &self.connection.owner, read.uri);
        Ok(read.await?.into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let Shared { store, tools, .. } = &*self.shared;
        Ok(prompts::list(&store.strategies, tools))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let Shared { store, tools, .. } = &*self.shared;
        let prompt = prompts::get(&store.strategies, tools, request)?;
        Ok(prompt.into())
    }
}
