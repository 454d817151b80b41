//! A connection to a server.

use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};
use rmcp::service::{
    ClientInitializeError, Peer, RoleClient, RunningService, RunningServiceCancellationToken,
};
use rmcp::{ClientLifecycleMode, ClientServiceExt, ServiceError};
use tokio::time::timeout;

use super::error::has_ended;
use super::listing::{self, ListError, Listing};
use super::process::{self, Group, Stderr};
use super::server::{CommandLine, Place};
use super::{McpError, McpServer};

/// A connection, which is closed when it is dropped. A server that was started for it is told to
/// end, and is killed if it doesn't.
pub(super) struct Connection {
    peer: Peer<RoleClient>,
    stop: Option<RunningServiceCancellationToken>,
    /// `None` if the server was not started here.
    stderr: Option<Stderr>,
}

impl Connection {
    /// Connects, and asks for the tools. `is_old` is whether the server only understands the old
    /// generation of the protocol, because it ended when it was asked for the new one.
    pub(super) async fn open(
        server: &McpServer,
        is_old: &AtomicBool,
    ) -> Result<(Self, Listing), McpError> {
        let mut stderr = None;
        let limit = server.start_timeout;
        let opened = timeout(limit, Self::opened(server, is_old, &mut stderr)).await;

        match opened {
            Ok(opened) => opened,
            Err(_) => {
                let problem = format!("wasn't ready within {limit:?} of its start");
                let lines = stderr.map(|stderr| stderr.lines());
                Err(McpError::new(server, problem).with_stderr(lines.unwrap_or_default()))
            }
        }
    }

    async fn opened(
        server: &McpServer,
        is_old: &AtomicBool,
        stderr: &mut Option<Stderr>,
    ) -> Result<(Self, Listing), McpError> {
        let connection = match &server.place {
            Place::Command(line) => Self::started(server, line, is_old, stderr).await?,
            #[cfg(feature = "mcp-http")]
            Place::Http(address) => {
                let service = super::http::connect(server, address).await?;
                Self::new(service, None, None)
            }
        };

        match listing::ask(server, &connection.peer).await {
            Ok(listing) => Ok((connection, listing)),
            Err(ListError::Unexpected(problem)) => Err(McpError::new(server, problem)),
            Err(ListError::Service(error)) => {
                let during = "when it was asked for its tools";
                Err(connection.failed(server, during, &error).await)
            }
        }
    }

    /// Starts a server.
    async fn started(
        server: &McpServer,
        line: &CommandLine,
        is_old: &AtomicBool,
        stderr: &mut Option<Stderr>,
    ) -> Result<Self, McpError> {
        if !is_old.load(Ordering::Relaxed) {
            // Servers with an old SDK end at any request before `initialize`.
            match Self::spoken(server, line, newest(), stderr).await {
                Err(error) if error.has_ended => {}
                started => return started,
            }
        }

        let started = Self::spoken(server, line, ClientLifecycleMode::Initialize, stderr).await?;
        is_old.store(true, Ordering::Relaxed);
        Ok(started)
    }

    /// Starts a server, and speaks a generation of the protocol.
    async fn spoken(
        server: &McpServer,
        line: &CommandLine,
        lifecycle: ClientLifecycleMode,
        stderr: &mut Option<Stderr>,
    ) -> Result<Self, McpError> {
        let started = process::start(line).map_err(|problem| McpError::new(server, problem));
        let (process, group, lines) = started?;
        *stderr = Some(lines.clone());

        match client().serve_with_lifecycle(process, lifecycle).await {
            Ok(service) => Ok(Self::new(service, Some(group), Some(lines))),
            Err(error) => Err(start_error(server, &error, &lines).await),
        }
    }

    fn new(
        service: RunningService<RoleClient, ClientConfig>,
        group: Option<Group>,
        stderr: Option<Stderr>,
    ) -> Self {
        let peer = service.peer().clone();
        let stop = Some(service.cancellation_token());

        // Whatever a server has left running is killed once it has ended.
        tokio::spawn(async move {
            let _ = service.waiting().await;
            drop(group);
        });
        Self { peer, stop, stderr }
    }

    pub(super) fn peer(&self) -> &Peer<RoleClient> {
        &self.peer
    }

    pub(super) fn is_closed(&self) -> bool {
        self.peer.is_transport_closed()
    }

    /// Returns the error of a request that got no answer.
    pub(super) async fn failed(
        &self,
        server: &McpServer,
        during: &str,
        error: &ServiceError,
    ) -> McpError {
        let error = McpError::of_request(server, during, error);
        match &self.stderr {
            Some(stderr) if error.has_ended => {
                let ended = McpError::ended(server, format!("ended {during}"));
                ended.with_stderr(stderr.last_lines().await)
            }
            Some(stderr) => error.with_stderr(stderr.lines()),
            None => error,
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            stop.cancel();
        }
    }
}

async fn start_error(
    server: &McpServer,
    error: &ClientInitializeError,
    stderr: &Stderr,
) -> McpError {
    if has_ended(error) {
        let ended = McpError::ended(server, "ended as it started");
        return ended.with_stderr(stderr.last_lines().await);
    }

    McpError::of_start(server, error).with_stderr(stderr.lines())
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
