//! A client that keeps the progress it is notified of, in both generations of the protocol.

use cogwork_mcp::Server;
use rmcp::ClientHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ProgressNotificationParam, ProtocolVersion,
};
use rmcp::service::{
    ClientLifecycleMode, ClientServiceExt, NotificationContext, RoleClient, RunningService,
};
use serde_json::Value;
use tokio::sync::mpsc;

/// A generation of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// With a handshake, up to 2025-11-25.
    Initialize,
    /// Without one, since 2026-07-28.
    Discover,
}

impl Era {
    pub(crate) const BOTH: [Self; 2] = [Self::Initialize, Self::Discover];

    fn lifecycle(self) -> ClientLifecycleMode {
        match self {
            Self::Initialize => ClientLifecycleMode::Initialize,
            Self::Discover => ClientLifecycleMode::Discover {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            },
        }
    }
}

/// A connected host.
pub(crate) struct Host {
    pub(crate) client: RunningService<RoleClient, Handler>,
    pub(crate) seen: mpsc::UnboundedReceiver<(f64, String)>,
}

pub(crate) struct Handler {
    /// The number of thoughts, and the line, of each notification of progress.
    seen: mpsc::UnboundedSender<(f64, String)>,
}

impl Host {
    pub(crate) async fn connect(server: &Server, era: Era) -> Self {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        tokio::spawn(server.serve(tokio::io::split(theirs)));

        let (sender, seen) = mpsc::unbounded_channel();
        let handler = Handler { seen: sender };
        let client = handler.serve_with_lifecycle(tokio::io::split(ours), era.lifecycle());
        Self {
            client: client.await.expect("the server answers"),
            seen,
        }
    }

    /// Calls `solve`, and returns its result.
    pub(crate) async fn solve(&self, arguments: Value) -> CallToolResult {
        let result = self.client.call_tool(call("solve", arguments)).await;
        result.expect("a result")
    }

    /// Returns the progress so far: the numbers of thoughts, and the lines.
    pub(crate) fn progress(&mut self) -> Vec<(f64, String)> {
        std::iter::from_fn(|| self.seen.try_recv().ok()).collect()
    }
}

/// Returns a request for a call.
pub(crate) fn call(tool: &'static str, arguments: Value) -> CallToolRequestParams {
    let Value::Object(arguments) = arguments else {
        panic!("the arguments are an object");
    };
    CallToolRequestParams::new(tool).with_arguments(arguments)
}

impl ClientHandler for Handler {
    async fn on_progress(
        &self,
        progress: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let line = progress.message.unwrap_or_default();
        let _ = self.seen.send((progress.progress, line));
    }
}
