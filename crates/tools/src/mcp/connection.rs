//! A connection to a server.

use std::process::Command;

use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};
use rmcp::service::{Peer, RoleClient, RunningService, RunningServiceCancellationToken};
use rmcp::{ClientLifecycleMode, ClientServiceExt};
use tokio::time::timeout;

use super::listing::Listing;
use super::process::{self, Group};
use super::server::Place;
use super::{McpError, McpServer};

/// A connection, which is closed when it is dropped. A server that was started for it is told to
/// end, and is killed if it doesn't.
pub(super) struct Connection {
    peer: Peer<RoleClient>,
    stop: Option<RunningServiceCancellationToken>,
    pub(super) listing: Listing,
}

impl Connection {
    /// Connects, and asks for the tools.
    pub(super) async fn open(server: &McpServer) -> Result<Self, McpError> {
        // One limit for both, because no tool can be used before both are done.
        let opened = async {
            let mut connection = Self::connect(server).await?;
            connection.listing = connection.list(server).await?;
            Ok(connection)
        };

        let limit = server.start_timeout;
        timeout(limit, opened).await.unwrap_or_else(|_| {
            let problem = format!("wasn't ready within {limit:?} of its start");
            Err(McpError::new(server, problem))
        })
    }

    async fn connect(server: &McpServer) -> Result<Self, McpError> {
        let command = match &server.place {
            Place::Command(command) => command,
            #[cfg(feature = "mcp-http")]
            Place::Http(address) => {
                let service = super::http::connect(server, address).await?;
                return Ok(Self::new(service, None));
            }
        };

        match Self::start(server, command, newest()).await {
            // Servers with an old SDK end at any request before `initialize`.
            Err(error) if error.has_ended => {
                Self::start(server, command, ClientLifecycleMode::Initialize).await
            }
            started => started,
        }
    }

    /// Starts a server, and speaks a generation of the protocol.
    async fn start(
        server: &McpServer,
        command: &Command,
        lifecycle: ClientLifecycleMode,
    ) -> Result<Self, McpError> {
        let started = process::start(command).map_err(|problem| McpError::new(server, problem));
        let (process, group) = started?;

        match client().serve_with_lifecycle(process, lifecycle).await {
            Ok(service) => Ok(Self::new(service, Some(group))),
            Err(error) => Err(McpError::of_start(server, &error)),
        }
    }

    fn new(service: RunningService<RoleClient, ClientConfig>, group: Option<Group>) -> Self {
        let connection = Self {
            peer: service.peer().clone(),
            stop: Some(service.cancellation_token()),
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
