use std::path::PathBuf;

use cogwork_strategies::Strategies;
use cogwork_tools::Tools;

use crate::ServerLimits;
use crate::added::AddedHandler;
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
    pub(crate) handler: Option<AddedHandler>,
    /// The names of the built-in tools to be served; all of them if it is missing.
    pub(crate) built_in_tools: Option<Vec<String>>,
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) instructions: Option<String>,
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
            handler: None,
            built_in_tools: None,
            name: "cogwork".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            instructions: None,
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
}
