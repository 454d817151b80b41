//! A connection to a server.

use std::process::Command;

use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};
use rmcp::service::{Peer, RoleClient, RunningService, RunningServiceCancellationToken};
use rmcp::{ClientLifecycleMode, ClientServiceExt, ServiceError};
use tokio::time::timeout;

use super::listing::Listing;
use super::process::{self, Group, Stderr};
use super::server::Place;
use super::{McpError, McpServer};

/// A connection, which is closed when it is dropped. A server that was started for it is told to
/// end, and is killed if it doesn't.
pub(super) struct Connection {
    peer: Peer<RoleClient>,
    stop: Option<RunningServiceCancellationToken>,
    /// `None` if the server was not started here.
    stderr: Option<Stderr>,
    pub(super) listing: Listing,
}

impl Connection {
    /// Connects, and asks for the tools.
    pub(super) async fn open(server: &McpServer) -> Result<Self, McpError> {
        // Outside of what has the limit, so that a server that hangs still shows what it wrote.
        let mut stderr = None;
        let limit = server.start_timeout;

        // One limit for both, because no tool can be used before both are done.
        let opened = async {
            let mut connection = Self::connect(server, &mut stderr).await?;
            connection.listing = connection.list(server).await?;
            Ok(connection)
        };

        match timeout(limit, opened).await {
            Ok(opened) => opened,
            Err(_) => {
                let problem = format!("wasn't ready within {limit:?} of its start");
                let error = McpError::new(server, problem);
                Err(error.with_stderr(stderr.as_ref()).await)
            }
        }
    }

    /// Connects to a server. What a started one writes to its standard error goes to `stderr`.
    async fn connect(server: &McpServer, stderr: &mut Option<Stderr>) -> Result<Self, McpError> {
        let command = match &server.place {
            Place::Command(command) => command,
            #[cfg(feature = "mcp-http")]
            Place::Http(address) => {
                // A server over HTTP isn't started, and has no standard error.
                let service = super::http::connect(server, address).await?;
                return Ok(Self::new(service, None, None));
            }
        };

        match Self::start(server, command, newest(), stderr).await {
            // Servers with an old SDK end at any request before `initialize`.
            Err(error) if error.has_ended => {
                Self::start(server, command, ClientLifecycleMode::Initialize, stderr).await
            }
            started => started,
        }
    }

    /// Starts a server, and speaks a generation of the protocol.
    async fn start(
        server: &McpServer,
        command: &Command,
        lifecycle: ClientLifecycleMode,
        stderr: &mut Option<Stderr>,
    ) -> Result<Self, McpError> {
        let started = process::start(command).map_err(|problem| McpError::new(server, problem));
        let (process, group, lines) = started?;
        *stderr = Some(lines.clone());

        match client().serve_with_lifecycle(process, lifecycle).await {
            Ok(service) => Ok(Self::new(service, Some(group), Some(lines))),
            Err(error) => {
                let error = McpError::of_start(server, &error);
                Err(error.with_stderr(Some(&lines)).await)
            }
        }
    }

    fn new(
        service: RunningService<RoleClient, ClientConfig>,
        group: Option<Group>,
        stderr: Option<Stderr>,
    ) -> Self {
        let connection = Self {
            peer: service.peer().clone(),
            stop: Some(service.cancellation_token()),
            stderr,
            listing: Listing::new(),
        };

        // Whatever a server has left running is killed once it has ended.
        tokio::spawn(async move {
            let _ = service.waiting().await;
            drop(group);
        });
        connection
    }

    pub(super) fn peer(&self) -> &Peer<RoleClient> {
        &self.peer
    }

    pub(super) fn is_closed(&self) -> bool {
        self.peer.is_transport_closed()
    }

    /// Returns the error of a request that got no usable answer.
    pub(super) async fn failed(
        &self,
        server: &McpServer,
        during: &str,
        error: &ServiceError,
    ) -> McpError {
        let error = McpError::of_request(server, during, error);
        error.with_stderr(self.stderr.as_ref()).await
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // The transport closes the standard input of the server, and later ends it.
            stop.cancel();
        }
    }
}

/// Returns what this client tells servers. It has no capabilities, so that they ask it for nothing.
pub(super) fn client() -> ClientConfig {
    let client = Implementation::new("cogwork", env!("CARGO_PKG_VERSION"));
    ClientConfig::new(ClientCapabilities::default(), client)
}

/// Asks for the newest protocol, and falls back to an older one.
pub(super) fn newest() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::LATEST],
        legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
    }
}
