use std::fmt;
use std::future::Future;
use std::sync::Arc;

use cogwork_strategies::Strategies;
use rmcp::ServiceExt;
use rmcp::service::{QuitReason, ServerInitializeError};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::ServerError;
use crate::builder::ServerBuilder;
use crate::connection::Connection;
use crate::handler::{Handler, Shared};
use crate::lines::Lines;
use crate::store::{Owner, SessionStore};
use crate::tools::ServerTools;

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

impl Server {
    /// Returns a builder for a server that keeps its sessions in memory.
    pub fn builder() -> ServerBuilder {
        ServerBuilder::new()
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
    /// [`stop`](Self::stop). Each message is a line. Lines that are too long or no message are
    /// answered with an error. The client has access to the sessions of the local user.
    ///
    /// When the client has disconnected, requests in progress have 5 seconds to finish, and runs that
    /// are cancelled then record their end.
    ///
    /// # Errors
    ///
    /// Returns an error if the client doesn't speak the protocol.
    pub fn serve<R, W>(
        &self,
        pipes: (R, W),
    ) -> impl Future<Output = Result<(), ServerError>> + Send + use<R, W>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let (reader, writer) = pipes;
        // A message without an end would fill the memory.
        let transport = Lines::new(reader, writer, self.shared.store.limits.message_bytes);
        let handler = self.handler(Owner::local());
        let runs = handler.connection.runs.clone();
        let stop = self.shared.stop.child_token();

        async move {
            let service = match handler.serve_with_ct(transport, stop).await {
                Ok(service) => service,
                // The client left, or the server was stopped, before the first answer.
                Err(
                    ServerInitializeError::ConnectionClosed(_)
                    | ServerInitializeError::TransportError { .. }
                    | ServerInitializeError::Cancelled,
                ) => return Ok(()),
                Err(error) => return Err(ServerError::of(error)),
            };

            let ended = service.waiting().await;
            // The program may end next.
            runs.close();
            runs.wait().await;
            match ended {
                Ok(QuitReason::JoinError(error)) => Err(ServerError::of(error)),
                Ok(_) => Ok(()),
                Err(error) => Err(ServerError::of(error)),
            }
        }
    }

    /// Ends all connections. Requests in progress have 2 seconds to finish, and runs are cancelled.
    /// New clients aren't served any more.
    pub fn stop(&self) {
        self.shared.stop.cancel();
    }

    /// Returns the handler of one client.
    pub(crate) fn handler(&self, owner: Owner) -> Handler {
        Handler {
            shared: Arc::clone(&self.shared),
            connection: Arc::new(Connection::new(owner)),
            unconnected: None,
        }
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("limits", &self.shared.store.limits)
            .finish_non_exhaustive()
    }
}

impl ServerBuilder {
    /// Opens the database of sessions and returns the server. May block.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder can't be created, if the database can't be opened, isn't
    /// one of sessions, or is of another version, if a strategy or a tool has the name of a built-in
    /// one, if a built-in tool to be served doesn't exist or has no model, or if an added tool isn't
    /// [ready](cogwork_tools::Tool::ready).
    pub fn open(self) -> Result<Server, ServerError> {
        let mut strategies = Strategies::built_in();
        // Refuses a name that is taken, because sessions refer to strategies by name.
        let added = strategies.extend(self.strategies.clone());
        added.map_err(ServerError::of)?;

        let store = SessionStore::open(self.data.as_deref(), self.limits, strategies);
        let store = store.map_err(ServerError::of)?;
        // Whatever is wrong with a tool is reported now, and not in a conversation.
        let tools = ServerTools::new(&store, &self)?;
        Ok(Server {
            shared: Arc::new(Shared::new(&self, store, tools)),
        })
    }
}
