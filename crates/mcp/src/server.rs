use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;

use cogwork_strategies::Strategies;
use rmcp::ServiceExt;
use rmcp::service::{QuitReason, ServerInitializeError};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::connection::Connection;
use crate::handler::Handler;
use crate::resources::{Subscriptions, Views};
use crate::solve::{SolveSettings, Tasks};
use crate::store::{Owner, SessionStore};
use crate::tool::ListedTool;
use crate::wire::LineTransport;
use crate::{ServerError, ServerLimits};

/// A server for the Model Context Protocol.
///
/// Cloning a server is cheap. All clones share the sessions.
///
/// ```no_run
/// use cogwork_mcp::Server;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = Server::builder().with_data("/var/lib/cogwork").open()?;
/// server.serve_stdio().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Server {
    pub(crate) shared: Arc<Shared>,
}

/// What all connections share.
pub(crate) struct Shared {
    pub(crate) tools: Vec<ListedTool>,
    pub(crate) requests: Semaphore,
    pub(crate) limits: ServerLimits,
    pub(crate) store: SessionStore,
    pub(crate) stop: CancellationToken,
    pub(crate) tasks: Tasks,
    pub(crate) views: Views,
}

impl Server {
    /// Returns a builder for a server that keeps its sessions in memory.
    pub fn builder() -> ServerBuilder {
        ServerBuilder {
            data: None,
            is_strict: false,
            has_thought_log: false,
            limits: ServerLimits::default(),
            strategies: Strategies::default(),
            has_think_strategies: false,
            solve: SolveSettings::default(),
        }
    }

    /// Serves one client over the standard input and output, until it disconnects or until
    /// [`stop`](Self::stop).
    ///
    /// Nothing but the protocol may be written to the standard output in the meantime.
    ///
    /// # Errors
    ///
    /// Returns an error if the client doesn't speak the protocol.
    pub async fn serve_stdio(&self) -> Result<(), ServerError> {
        self.serve(rmcp::transport::io::stdio_pipes()).await
    }

    /// Serves one client over a pair of a reader and a writer, until it disconnects or until
    /// [`stop`](Self::stop). Each message is a line. The client has access to the sessions of the
    /// local user.
    ///
    /// When the client has disconnected, requests in progress have 5 seconds to finish.
    ///
    /// # Errors
    ///
    /// Returns an error if the client doesn't speak the protocol.
    pub fn serve<R, W>(
        &self,
        (reader, writer): (R, W),
    ) -> impl Future<Output = Result<(), ServerError>> + Send + use<R, W>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let limits = self.shared.limits;
        let handler = self.handler(Owner::local());
        let stop = self.shared.stop.child_token();

        async move {
            let transport = LineTransport::new(reader, writer, limits);
            let service = match handler.serve_with_ct(transport, stop).await {
                Ok(service) => service,
                // The client left, or the server was stopped, before the first request.
                Err(ServerInitializeError::ConnectionClosed(_))
                | Err(ServerInitializeError::Cancelled) => return Ok(()),
                Err(error) => return Err(ServerError::of(error)),
            };

            match service.waiting().await {
                Ok(QuitReason::JoinError(error)) => Err(ServerError::of(error)),
                Ok(_) => Ok(()),
                Err(error) => Err(ServerError::of(error)),
            }
        }
    }

    /// Ends all connections. Requests in progress have 2 seconds to finish. New clients aren't
    /// served any more.
    pub fn stop(&self) {
        self.shared.stop.cancel();
    }

    /// Returns the handler of one client.
    pub(crate) fn handler(&self, owner: Owner) -> Handler {
        Handler {
            shared: Arc::clone(&self.shared),
            connection: Arc::new(Connection::new(owner)),
            unconnected: None,
            subscriptions: Subscriptions::default(),
        }
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("limits", &self.shared.limits)
            .finish_non_exhaustive()
    }
}

/// Creates a [`Server`].
#[derive(Debug, Clone)]
pub struct ServerBuilder {
    pub(crate) data: Option<PathBuf>,
    pub(crate) is_strict: bool,
    pub(crate) has_thought_log: bool,
    pub(crate) limits: ServerLimits,
    pub(crate) strategies: Strategies,
    pub(crate) has_think_strategies: bool,
    pub(crate) solve: SolveSettings,
}

impl ServerBuilder {
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

    /// Opens the database of sessions and returns the server. May block.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder can't be created, if the database can't be opened, isn't
    /// one of sessions, or is of another version, or if a strategy has the name of a built-in one.
    pub fn open(self) -> Result<Server, ServerError> {
        let mut strategies = Strategies::built_in();
        let added = strategies.extend(self.strategies.clone());
        added.map_err(ServerError::of)?;

        let store = SessionStore::open(self.data.as_deref(), self.limits);
        let store = store.map_err(ServerError::of)?;
        let store = store.with_strategies(strategies);

        let tasks = Tasks::default();
        let tools = crate::tools::all(&store, &self, &tasks);
        let shared = Shared {
            tools: tools.into_iter().map(ListedTool::new).collect(),
            requests: Semaphore::new(self.limits.concurrent_requests),
            limits: self.limits,
            views: Views::new(&store),
            store,
            stop: CancellationToken::new(),
            tasks,
        };
        Ok(Server {
            shared: Arc::new(shared),
        })
    }
}
