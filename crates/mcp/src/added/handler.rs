//! A handler of a program, for all that the server itself doesn't have.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResponse, ClientNotification, ClientRequest,
    GetPromptRequest, GetPromptRequestParams, GetPromptResponse, ReadResourceRequest,
    ReadResourceRequestParams, ReadResourceResponse, ServerConfig, ServerResult,
    SubscriptionFilter, Tool,
};
use rmcp::service::{
    DynService, NotificationContext, RequestContext, RoleServer, SubscriptionContext,
};
use rmcp::{ErrorData, ServerHandler};

/// A handler whose type is forgotten.
trait AnyHandler: DynService<RoleServer> {
    fn tool(&self, name: &str) -> Option<Tool>;

    fn accepted(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter>;

    fn listen(&self, context: SubscriptionContext) -> BoxFuture<'_, Result<(), ErrorData>>;
}

impl<H: ServerHandler> AnyHandler for H {
    fn tool(&self, name: &str) -> Option<Tool> {
        self.get_tool(name)
    }

    fn accepted(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.accepted_subscription_filter(requested)
    }

    fn listen(&self, context: SubscriptionContext) -> BoxFuture<'_, Result<(), ErrorData>> {
        ServerHandler::listen(self, context).boxed()
    }
}

/// A handler of a program. Clones share it.
#[derive(Clone)]
pub(crate) struct AddedHandler(Arc<dyn AnyHandler>);

impl AddedHandler {
    pub(super) fn new(handler: impl ServerHandler) -> Self {
        Self(Arc::new(handler))
    }

    /// Returns the capabilities and the instructions.
    pub(crate) fn info(&self) -> ServerConfig {
        self.0.get_info()
    }

    /// Returns the definition of a tool, if the handler knows it before it is asked.
    pub(crate) fn tool(&self, name: &str) -> Option<Tool> {
        self.0.tool(name)
    }

    /// Returns which notifications the handler sends.
    pub(crate) fn accepted(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.0.accepted(requested)
    }

    /// Sends notifications until the client cancels the request.
    pub(crate) async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.0.listen(context).await
    }

    pub(crate) async fn notify(
        &self,
        notification: impl Into<ClientNotification>,
        context: NotificationContext<RoleServer>,
    ) {
        // Notifications aren't answered, so nobody would read the error.
        let _ = self
            .0
            .handle_notification(notification.into(), context)
            .await;
    }

    /// Returns the result of a request.
    pub(crate) async fn ask(
        &self,
        request: impl Into<ClientRequest>,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let result = self.0.handle_request(request.into(), context);
        // Without an answer, the client would wait forever.
        let result = AssertUnwindSafe(result).catch_unwind().await;
        result.unwrap_or_else(|_| Err(ErrorData::internal_error("the handler panicked", None)))
    }

    pub(crate) async fn call_tool(
        &self,
        params: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match self.ask(CallToolRequest::new(params), context).await? {
            ServerResult::CallToolResult(result) => Ok(result.into()),
            ServerResult::InputRequiredResult(result) => Ok(result.into()),
            ServerResult::CreateTaskResult(result) => Ok(CallToolResponse::Task(result)),
            _ => Err(unexpected()),
        }
    }

    pub(crate) async fn read_resource(
        &self,
        params: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        match self.ask(ReadResourceRequest::new(params), context).await? {
            ServerResult::ReadResourceResult(result) => Ok(result.into()),
            ServerResult::InputRequiredResult(result) => Ok(result.into()),
            _ => Err(unexpected()),
        }
    }

    pub(crate) async fn get_prompt(
        &self,
        params: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        match self.ask(GetPromptRequest::new(params), context).await? {
            ServerResult::GetPromptResult(result) => Ok(result.into()),
            ServerResult::InputRequiredResult(result) => Ok(result.into()),
            _ => Err(unexpected()),
        }
    }
}

impl fmt::Debug for AddedHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AddedHandler").finish_non_exhaustive()
    }
}

/// Returns the error for a result of another kind than that of the request.
pub(crate) fn unexpected() -> ErrorData {
    ErrorData::internal_error("the handler returned a result of another request", None)
}

/// Returns the result of this kind, or an error.
macro_rules! of_kind {
    ($result:expr, ServerResult::$kind:ident) => {
        match $result {
            ServerResult::$kind(result) => Ok(result),
            _ => Err($crate::added::unexpected()),
        }
    };
}
pub(crate) use of_kind;
