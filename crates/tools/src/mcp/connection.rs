//! A connection to a server.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use rmcp::model::ProtocolVersion;
use rmcp::service::{Peer, RoleClient, RunningService};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{ClientLifecycleMode, ClientServiceExt};
use tokio::sync::Mutex;
use tokio::task::AbortHandle;
use tokio::time::timeout;

use super::error::has_ended;
use super::handler::{Handler, listen};
use super::limited_reader::LimitedReader;
use super::link::Link;
use super::listing::{ListError, Listing};
use super::process::{Process, Stderr};
use super::server::{CommandLine, MAX_MESSAGE, Place};
use super::{McpError, McpServer};

/// A connection, which is closed when it is dropped. If the server was started for it, the server is
/// killed then.
pub(super) struct Connection {
    service: RunningService<RoleClient, Handler>,
    process: Option<Mutex<Process>>,
    stderr: Stderr,
    /// Whether a message was too long.
    is_too_long: Arc<AtomicBool>,
    listening: Option<AbortHandle>,
}

impl Connection {
    /// Connects, and asks for the tools. `is_old` is whether the server only understands the old
    /// generation of the protocol, because it ended when it was asked for the new one.
    pub(super) async fn open(
        server: &McpServer,
        link: &Weak<Link>,
        is_old: &AtomicBool,
    ) -> Result<(Self, Listing), McpError> {
        let stderr = Stderr::default();
        let limit = server.start_timeout;
        let opened = timeout(limit, Self::opened(server, link, is_old, &stderr)).await;

        let opened = opened.unwrap_or_else(|_| {
            let problem = format!("wasn't ready within {limit:?} of its start");
            Err(McpError::new(server, problem))
        });
        opened.map_err(|error| error.with_stderr(stderr.lines()))
    }

    async fn opened(
        server: &McpServer,
        link: &Weak<Link>,
        is_old: &AtomicBool,
        stderr: &Stderr,
    ) -> Result<(Self, Listing), McpError> {
        let mut connection = match &server.place {
            Place::Command(line) => Self::started(server, line, link, is_old, stderr).await?,
            #[cfg(feature = "mcp-http")]
            Place::Http(address) => Self {
                service: super::http::connect(server, address, handler(link)).await?,
                process: None,
                stderr: stderr.clone(),
                is_too_long: Arc::default(),
                listening: None,
            },
        };

        let listing = match Listing::ask(server, connection.peer()).await {
            Ok(listing) => listing,
            Err(ListError::Unexpected(problem)) => return Err(McpError::new(server, problem)),
            Err(ListError::Service(error)) => {
                let during = "when it was asked for its tools";
                return Err(connection.failed(server, during, &error).await);
            }
        };
        connection.listen(link);
        Ok((connection, listing))
    }

    /// Starts a server.
    async fn started(
        server: &McpServer,
        line: &CommandLine,
        link: &Weak<Link>,
        is_old: &AtomicBool,
        stderr: &Stderr,
    ) -> Result<Self, McpError> {
        if !is_old.load(Ordering::Relaxed) {
            // Servers with an old SDK end at any request before `initialize`.
            match Self::spoken(server, line, link, newest(), stderr).await {
                Err(error) if error.has_ended => {}
                started => return started,
            }
        }

        let started = Self::spoken(server, line, link, ClientLifecycleMode::Initialize, stderr);
        let started = started.await?;
        is_old.store(true, Ordering::Relaxed);
        Ok(started)
    }

    /// Starts a server, and speaks a generation of the protocol.
    async fn spoken(
        server: &McpServer,
        line: &CommandLine,
        link: &Weak<Link>,
        lifecycle: ClientLifecycleMode,
        stderr: &Stderr,
    ) -> Result<Self, McpError> {
        stderr.clear();
        let started = Process::start(line, stderr.clone());
        let (mut process, stdin, stdout) =
            started.map_err(|problem| McpError::new(server, problem))?;

        let is_too_long = Arc::<AtomicBool>::default();
        let reader = LimitedReader::new(stdout, MAX_MESSAGE, Arc::clone(&is_too_long));
        let transport =
            AsyncRwTransport::new_client(reader, stdin).with_max_line_length(usize::MAX);

        match handler(link)
            .serve_with_lifecycle(transport, lifecycle)
            .await
        {
            Ok(service) => Ok(Self {
                service,
                process: Some(Mutex::new(process)),
                stderr: stderr.clone(),
                is_too_long,
                listening: None,
            }),
            Err(_) if is_too_long.load(Ordering::Acquire) => Err(too_long(server)),
            Err(error) if has_ended(&error) => {
                let status = process.ended().await;
                Err(McpError::ended(
                    server,
                    format!("ended as it started{status}"),
                ))
            }
            Err(error) => Err(McpError::of_start(server, &error)),
        }
    }

    /// Listens for changes of the list of tools, if the server reports them only to those who listen.
    fn listen(&mut self, link: &Weak<Link>) {
        let peer = self.peer().clone();
        let Some(info) = peer.peer_info() else {
            return;
        };

        let tools = info.capabilities.tools.as_ref();
        let reports = tools.is_some_and(|tools| tools.list_changed == Some(true));
        if reports && !info.protocol_version.has_initialize() {
            let task = tokio::spawn(listen(Weak::clone(link), peer));
            self.listening = Some(task.abort_handle());
        }
    }

    pub(super) fn peer(&self) -> &Peer<RoleClient> {
        self.service.peer()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.peer().is_transport_closed()
    }

    /// Returns the error of a request that got no answer.
    pub(super) async fn failed(
        &self,
        server: &McpServer,
        during: &str,
        error: &rmcp::ServiceError,
    ) -> McpError {
        let error = McpError::of_request(server, during, error);
        let error = match &self.process {
            _ if self.is_too_long.load(Ordering::Acquire) => too_long(server),
            Some(process) if error.has_ended => {
                let status = process.lock().await.ended().await;
                McpError::ended(server, format!("ended {during}{status}"))
            }
            _ => error,
        };
        error.with_stderr(self.stderr.lines())
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(listening) = &self.listening {
            listening.abort();
        }
    }
}

fn too_long(server: &McpServer) -> McpError {
    let problem =
        format!("sent a message of more than {MAX_MESSAGE} bytes, so the connection was closed");
    McpError::new(server, problem)
}

fn handler(link: &Weak<Link>) -> Handler {
    Handler {
        link: Weak::clone(link),
    }
}

/// Asks for the newest protocol, and falls back to an older one.
pub(super) fn newest() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::LATEST],
        legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
    }
}
