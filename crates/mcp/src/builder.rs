use std::path::PathBuf;

use cogwork_strategies::Strategies;
use cogwork_tools::Tools;

use crate::ServerLimits;
use crate::solve::SolveSettings;

/// Creates a [`Server`](crate::Server).
#[derive(Debug, Clone)]
pub struct ServerBuilder {
    pub(crate) data: Option<PathBuf>,
    pub(crate) limits: ServerLimits,
    pub(crate) strategies: Strategies,
    pub(crate) solve: SolveSettings,
    pub(crate) tools: Tools,
    /// The names of the built-in tools to be served.
    pub(crate) built_in_tools: Option<Vec<String>>,
    pub(crate) name: String,
    pub(crate) version: String,
}

impl ServerBuilder {
    pub(crate) fn new() -> Self {
        Self {
            data: None,
            limits: ServerLimits::default(),
            strategies: Strategies::default(),
            solve: SolveSettings::default(),
            tools: Tools::default(),
            built_in_tools: None,
            name: "cogwork".to_owned(),
            // Clients show it in lists of servers.
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// Sets the folder in which sessions are kept. It is created if it doesn't exist, for the
    /// current user only. By default, sessions are kept in memory.
    #[must_use]
    pub fn with_data(mut self, folder: impl Into<PathBuf>) -> Self {
        self.data = Some(folder.into());
        self
    }

    /// Sets the limits.
    #[must_use]
    pub fn with_limits(mut self, limits: ServerLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Adds strategies to the nine that are built in, for the tool `think` and as resources. It
    /// replaces those of an earlier call.
    ///
    /// A session keeps the stages and parameters of its strategy, even if they change later.
    #[must_use]
    pub fn with_strategies(mut self, strategies: Strategies) -> Self {
        self.strategies = strategies;
        self
    }

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

    /// Sets which of the built-in tools the server has, by name: `sequentialthinking`, `reason`,
    /// `think`, `think_session` and `solve`. By default, it has the first two, and `solve` if there
    /// is a flow.
    ///
    /// Each tool takes room in every conversation. A strategy is only a prompt if there is a tool to
    /// follow it. Without any built-in tool, there are no sessions and strategies as resources,
    /// either.
    ///
    /// ```
    /// use cogwork_mcp::Server;
    ///
    /// # fn main() -> Result<(), cogwork_mcp::ServerError> {
    /// let thinking = Server::builder().with_built_in_tools(["think", "think_session"]).open()?;
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
}
