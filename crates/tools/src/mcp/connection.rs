//! A connection to a server.

use std::sync::Weak;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::model::ProtocolVersion;
use rmcp::service::{Peer, RoleClient, RunningService};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{ClientLifecycleMode, ClientServiceExt};
use tokio::sync::Mutex;
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout_at};

use super::handler::{Handler, listen};
use super::limited_reader::{LimitedReader, TooLong};
use super::link::Link;
use super::listing::{ListError, Listing};
use super::problems::{has_ended, start_problem, too_late, too_long_message, unreachable};
use super::process::Process;
use super::server::{CommandLine, MAX_MESSAGE, Place};
use super::{McpError, McpErrorKind, McpServer};

/// A connection, which is closed when it is dropped. If the server was started for it, the server is
/// killed then.
pub(super) struct Connection {
    service: RunningService<RoleClient, Handler>,
    process: Option<Mutex<Process>>,
    too_long: TooLong,
    listening: Option<AbortHandle>,
}

/// Whether a server only understands the old generation of the protocol, because it ended when it
/// was asked for the new one.
#[derive(Default)]
pub(super) struct IsOld(AtomicBool);

impl Connection {
    /// Connects, and asks for the tools.
    pub(super) async fn open(
        server: &McpServer,
        link: &Weak<Link>,
        is_old: &IsOld,
    ) -> Result<(Self, Listing), McpError> {
        let deadline = Instant::now() + server.start_timeout;
        let mut connection = Self::of(server, link, is_old, deadline).await?;

        let asked = Listing::ask(server, connection.peer());
        let listing = match timeout_at(deadline, asked).await {
            Ok(Ok(listing)) => listing,
            Err(_) => {
                let error = too_late(server);
                return Err(error.with_stderr(connection.stderr().await));
            }
            Ok(Err(ListError::Unexpected(problem))) => {
                let error = McpError::new(&server.name, McpErrorKind::Protocol, problem);
                return Err(error.with_stderr(connection.stderr().await));
            }
            Ok(Err(ListError::Service(error))) => {
                let during = "when it was asked for its tools";
                return Err(connection.failed(server, during, &error).await);
            }
        };

        connection.listen(link);
        Ok((connection, listing))
    }

    async fn of(
        server: &McpServer,
        link: &Weak<Link>,
        is_old: &IsOld,
        deadline: Instant,
    ) -> Result<Self, McpError> {
        let start = match &server.place {
            Place::Command(line) => Start {
                server,
                line,
                link,
                deadline,
            },
            #[cfg(feature = "mcp-http")]
            Place::Http(address) => {
                let connected = super::http::connect(server, address, handler(link));
                let connected = timeout_at(deadline, connected).await;
                let service = connected.map_err(|_| too_late(server))??;
                return Ok(Self::new(service, None, TooLong::default()));
            }
        };

        if is_old.0.load(Ordering::Relaxed) {
            return start.with(ClientLifecycleMode::Initialize).await;
        }

        // Servers with an old SDK end at any request before `initialize`.
        match start.with(newest()).await {
            Err(error) if error.kind() == McpErrorKind::Ended => {}
            started => return started,
        }

        let started = start.with(ClientLifecycleMode::Initialize).await?;
        is_old.0.store(true, Ordering::Relaxed);
        Ok(started)
    }

    fn new(
        service: RunningService<RoleClient, Handler>,
        process: Option<Process>,
        too_long: TooLong,
    ) -> Self {
        Self {
            service,
            process: process.map(Mutex::new),
            too_long,
            listening: None,
        }
    }

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
        let (kind, problem) = match error {
            _ if self.too_long.is_set() => too_long_message(),
            rmcp::ServiceError::TransportClosed | rmcp::ServiceError::TransportSend(_) => {
                self.ending(during, error).await
            }
            rmcp::ServiceError::McpError(error) => {
                let code = error.code.0;
                let message = &error.message;
                let problem = format!("answered with the error {code} {during}: {message}");
                (McpErrorKind::Protocol, problem)
            }
            rmcp::ServiceError::UnexpectedResponse => {
                let problem = format!("sent an answer of an unknown form {during}");
                (McpErrorKind::Protocol, problem)
            }
            error => {
                let problem = format!("failed {during}: {error}");
                (McpErrorKind::Protocol, problem)
            }
        };

        let error = McpError::new(&server.name, kind, server.without_token(problem));
        error.with_stderr(self.stderr().await)
    }

    async fn ending(&self, during: &str, error: &rmcp::ServiceError) -> (McpErrorKind, String) {
        let problem = match &self.process {
            Some(process) => {
                let mut process = process.lock().await;
                let status = status(&mut process).await;
                format!("ended {during}{status}")
            }
            None => unreachable(&format!(" {during}"), error),
        };
        (McpErrorKind::Ended, problem)
    }

    async fn stderr(&self) -> String {
        match &self.process {
            Some(process) => process.lock().await.stderr(),
            None => String::new(),
        }
    }
}

/// How to start a server.
struct Start<'s> {
    server: &'s McpServer,
    line: &'s CommandLine,
    link: &'s Weak<Link>,
    deadline: Instant,
}

impl Start<'_> {
    async fn with(&self, lifecycle: ClientLifecycleMode) -> Result<Connection, McpError> {
        let server = self.server;
        let started = Process::start(self.line);
        let (mut process, pipes) =
            started.map_err(|problem| McpError::new(&server.name, McpErrorKind::Start, problem))?;

        let too_long = TooLong::default();
        let reader = LimitedReader::new(pipes.stdout, MAX_MESSAGE, too_long.clone());
        let transport =
            AsyncRwTransport::new_client(reader, pipes.stdin).with_max_line_length(usize::MAX);

        let served = handler(self.link).serve_with_lifecycle(transport, lifecycle);
        let error = match timeout_at(self.deadline, served).await {
            Ok(Ok(service)) => return Ok(Connection::new(service, Some(process), too_long)),
            Ok(Err(error)) => error,
            Err(_) => return Err(too_late(server).with_stderr(process.stderr())),
        };

        let has_ended = has_ended(&error);
        let (kind, problem) = match error {
            _ if too_long.is_set() => too_long_message(),
            _ if has_ended => {
                let status = status(&mut process).await;
                (McpErrorKind::Ended, format!("ended as it started{status}"))
            }
            error => start_problem(&error),
        };
        let error = McpError::new(&server.name, kind, problem);
        Err(error.with_stderr(process.stderr()))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(listening) = &self.listening {
            listening.abort();
        }
    }
}

fn handler(link: &Weak<Link>) -> Handler {
    Handler {
        link: Weak::clone(link),
    }
}

/// Returns how the process ended.
async fn status(process: &mut Process) -> String {
    match process.ended().await {
        Some(status) => format!(" ({status})"),
        None => String::new(),
    }
}

/// Asks for the newest protocol, and falls back to an older one.
pub(super) fn newest() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::LATEST],
        legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
    }
}
