use cogwork_tools::Tools;
use rmcp::ServerHandler;

use super::handler::AddedHandler;
use crate::builder::ServerBuilder;

impl ServerBuilder {
    /// Adds tools of the program, which are listed after the built-in ones. They replace those of an
    /// earlier call.
    ///
    /// The text that a tool returns is the result of the call. Its error is a result that is marked
    /// as an error, which the model reads. The limits of [`Tools`] apply: by default, a call takes at
    /// most 30 seconds, and its result has at most 16 KiB. A call is dropped if the client cancels
    /// it. The tools are the same for all clients, and their definitions are read when the server is
    /// opened.
    ///
    /// ```
    /// use cogwork_mcp::Server;
    /// use cogwork_tools::schemars::{self, JsonSchema};
    /// use cogwork_tools::{Tools, function};
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Order {
    ///     /// The number of the order.
    ///     number: u64,
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let state = function("order_state", "Returns the state of an order.", |Order { number }| async move {
    ///     Ok(format!("order {number} was sent today"))
    /// });
    /// let server = Server::builder().with_tools(Tools::new().with(state)?).open()?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_tools(mut self, tools: Tools) -> Self {
        self.tools = tools;
        self
    }

    /// Sets a handler of the SDK [rmcp](https://docs.rs/rmcp) for everything that the server itself
    /// doesn't have: tools whose results are images or audio, that report progress, ask the user or
    /// start tasks, and resources, prompts and log messages. Its lists follow those of the server,
    /// and so do its instructions.
    ///
    /// All clients share the handler. Its requests are limited by
    /// [`ServerLimits::concurrent_requests`](crate::ServerLimits::concurrent_requests). If the server
    /// and the handler have a tool or a prompt of the same name, or a resource at the same address,
    /// that of the server is used. The handshake is that of the server: `initialize`, `discover` and
    /// `ping` of the handler aren't called.
    ///
    /// ```
    /// use cogwork_mcp::Server;
    /// use rmcp::model::{
    ///     ListResourcesResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ///     ReadResourceResult, Resource, ResourceContents, ServerCapabilities, ServerConfig,
    /// };
    /// use rmcp::service::{RequestContext, RoleServer};
    /// use rmcp::{ErrorData, ServerHandler};
    ///
    /// struct Orders;
    ///
    /// impl ServerHandler for Orders {
    ///     fn get_info(&self) -> ServerConfig {
    ///         ServerConfig::new(ServerCapabilities::builder().enable_resources().build())
    ///     }
    ///
    ///     async fn list_resources(
    ///         &self,
    ///         _: Option<PaginatedRequestParams>,
    ///         _: RequestContext<RoleServer>,
    ///     ) -> Result<ListResourcesResult, ErrorData> {
    ///         let open = Resource::new("orders://open", "open orders");
    ///         Ok(ListResourcesResult::with_all_items(vec![open]))
    ///     }
    ///
    ///     async fn read_resource(
    ///         &self,
    ///         request: ReadResourceRequestParams,
    ///         _: RequestContext<RoleServer>,
    ///     ) -> Result<ReadResourceResponse, ErrorData> {
    ///         let contents = ResourceContents::text("Order 7 is open.", request.uri);
    ///         Ok(ReadResourceResult::new(vec![contents]).into())
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), cogwork_mcp::ServerError> {
    /// let server = Server::builder().with_handler(Orders).open()?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_handler(mut self, handler: impl ServerHandler) -> Self {
        self.handler = Some(AddedHandler::new(handler));
        self
    }

    /// Sets which of the built-in tools the server has, by name. By default, it has all of them.
    ///
    /// A strategy is only a prompt if there is a tool to follow it. Without any built-in tool, there
    /// are no sessions and strategies as resources, either.
    ///
    /// ```
    /// use cogwork_mcp::Server;
    ///
    /// # fn main() -> Result<(), cogwork_mcp::ServerError> {
    /// let one = Server::builder().with_built_in_tools(["sequentialthinking"]).open()?;
    ///
    /// let none: [&str; 0] = [];
    /// let only_added = Server::builder().with_built_in_tools(none).open()?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_built_in_tools<N: Into<String>>(
        mut self,
        names: impl IntoIterator<Item = N>,
    ) -> Self {
        self.built_in_tools = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Sets the name and the version that clients see. The default is `cogwork` and the version of
    /// this crate.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.name = name.into();
        self.version = version.into();
        self
    }

    /// Sets what a model reads about the server before it uses a tool, in addition to the lines about
    /// the built-in tools. The default is none.
    #[must_use]
    pub fn with_instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }
}
