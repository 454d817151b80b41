use std::path::PathBuf;

use cogwork_strategies::Strategies;
use cogwork_tools::Tools;

use crate::ServerLimits;
use crate::solve::SolveSettings;

/// Creates a [`Server`](crate::Server).
#[derive(Debug, Clone)]
pub struct ServerBuilder {
    pub(crate) data: Option<PathBuf>,
    pub(crate) is_strict: bool,
    pub(crate) has_thought_log: bool,
    pub(crate) limits: ServerLimits,
    pub(crate) strategies: Strategies,
    pub(crate) has_think_strategies: bool,
    pub(crate) solve: SolveSettings,
    pub(crate) tools: Tools,
    /// The names of the built-in tools to be served; all of them if it is missing.
    pub(crate) built_in_tools: Option<Vec<String>>,
    pub(crate) name: String,
    pub(crate) version: String,
}

impl ServerBuilder {
    pub(crate) fn new() -> Self {
        Self {
            data: None,
            is_strict: false,
            has_thought_log: false,
            limits: ServerLimits::default(),
            strategies: Strategies::default(),
            has_think_strategies: false,
            solve: SolveSettings::default(),
            tools: Tools::default(),
            built_in_tools: None,
            name: "cogwork".to_owned(),
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

    /// Sets whether `sequentialthinking` refuses to revise, or to branch from, a thought that doesn't
    /// exist. By default, it accepts them, as the original does.
    #[must_use]
    pub fn with_strict(mut self, is_strict: bool) -> Self {
        self.is_strict = is_strict;
        self
    }

    /// Sets whether each thought of `sequentialthinking` is written to the standard error output, as
    /// one line of at most 1,000 characters of it. By default, they aren't.
    #[must_use]
    pub fn with_thought_log(mut self, has_thought_log: bool) -> Self {
        self.has_thought_log = has_thought_log;
        self
    }

    /// Sets the limits.
    #[must_use]
    pub fn with_limits(mut self, limits: ServerLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Adds strategies to the nine that are built in, for all tools that follow a strategy. It
    /// replaces those of an earlier call.
    ///
    /// Sessions record which rules they follow. If the stages or the parameters of a strategy have
    /// changed since a session began, opening the session is an error. Descriptions and prompts may
    /// change.
    #[must_use]
    pub fn with_strategies(mut self, strategies: Strategies) -> Self {
        self.strategies = strategies;
        self
    }

    /// Sets whether the tools of the server think-strategies are listed in addition: their names
    /// and arguments, on the sessions of `think`. The default is `false`, since every tool takes
    /// room in the context of a model, and `think` and `think_session` understand most of these
    /// arguments as well.
    ///
    /// | `think-strategies` | meaning here |
    /// |---|---|
    /// | `thought`, `totalThoughts`, `nextThoughtNeeded`, `needsMoreThoughts` | the same |
    /// | `strategy`, `sessionPurpose` | of the session that the first thought begins; later, another `strategy` changes it |
    /// | `thoughtNumber` | 1 begins a new session; otherwise, thoughts are numbered by the server |
    /// | `branchFromThought`, `branchId` | `branchFrom` and `branch` of `think` |
    /// | `revisesThought` | `revises` of `think` |
    /// | `action`, `observation` and others, such as `approachId` | parameters of the stage, in snake case |
    /// | `plannedActions` | the parameters `plan` and `tool_calls`, or `action` and `action_input` |
    /// | `actionResults` | the parameter `evidence` or `observation` |
    /// | `finalAnswer` | added to the text; the thought is in a final stage if one may follow |
    /// | `qualityRating`, `isRevision` | ignored |
    ///
    /// The stage follows from the arguments: it is the only one that may follow, or the one whose
    /// parameters are given. Otherwise, the answer asks for a `stage`. Sessions may end early.
    ///
    /// | `think-tools` | meaning here |
    /// |---|---|
    /// | `create-branch` | a fork, with a first `thought` if there is one |
    /// | `server-status` | no servers |
    /// | `connect-server`, `execute-actions` | refused: the first one starts any command that a model writes, and the assistant calls tools itself |
    ///
    /// | `think-session-manager` | meaning here |
    /// |---|---|
    /// | `list`, `get`, `resume`, `search` | the operations of `think_session` (`get` is `show`) |
    /// | `sortBy` | `timestamp`, `thoughtCount` or `duration`; there is no complexity or quality |
    /// | `completionStatus` | `open` or `complete` |
    /// | `includeTopics`, `minScore` | ignored |
    #[must_use]
    pub fn with_think_strategies(mut self, is_listed: bool) -> Self {
        self.has_think_strategies = is_listed;
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
}
