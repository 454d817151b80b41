//! A client that is connected to a server in the same process.

use std::ops::Deref;

use cogwork_mcp::{Server, ServerBuilder};
use rmcp::ClientHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ProgressNotificationParam,
    ProtocolVersion, ReadResourceRequestParams, ResourceContents,
};
use rmcp::service::{
    ClientLifecycleMode, ClientServiceExt, NotificationContext, RoleClient, RunningService,
};
use serde_json::{Value, json};
use tokio::sync::mpsc;

/// A generation of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// With a handshake, up to 2025-11-25.
    Initialize,
    /// Without one, since 2026-07-28.
    Discover,
    /// Whichever of them the server speaks.
    Auto,
}

impl Era {
    pub(crate) const BOTH: [Self; 2] = [Self::Initialize, Self::Discover];
    pub(crate) const ALL: [Self; 3] = [Self::Initialize, Self::Discover, Self::Auto];

    pub(crate) fn lifecycle(self) -> ClientLifecycleMode {
        let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
        match self {
            Self::Initialize => ClientLifecycleMode::Initialize,
            Self::Discover => ClientLifecycleMode::Discover { preferred_versions },
            Self::Auto => ClientLifecycleMode::Auto {
                preferred_versions,
                legacy_version: None,
            },
        }
    }
}

/// A connected client, which keeps the progress that it is notified of.
pub(crate) struct Client {
    pub(crate) service: RunningService<RoleClient, Handler>,
    seen: mpsc::UnboundedReceiver<(f64, String)>,
}

/// Keeps the number of thoughts, and the line, of each notification of progress.
pub(crate) struct Handler(mpsc::UnboundedSender<(f64, String)>);

impl ClientHandler for Handler {
    async fn on_progress(
        &self,
        progress: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let line = progress.message.unwrap_or_default();
        let _ = self.0.send((progress.progress, line));
    }
}

impl Deref for Client {
    type Target = RunningService<RoleClient, Handler>;

    fn deref(&self) -> &Self::Target {
        &self.service
    }
}

impl Client {
    /// Connects to a new server.
    pub(crate) async fn new(builder: ServerBuilder) -> Self {
        Self::of(&builder.open().expect("the server opens")).await
    }

    /// Connects to a server.
    pub(crate) async fn of(server: &Server) -> Self {
        Self::in_era(server, Era::Initialize).await
    }

    pub(crate) async fn in_era(server: &Server, era: Era) -> Self {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        tokio::spawn(server.serve(tokio::io::split(theirs)));
        Self::over(tokio::io::split(ours), era).await
    }

    /// Connects by a transport.
    pub(crate) async fn over<E, A>(
        transport: impl rmcp::transport::IntoTransport<RoleClient, E, A>,
        era: Era,
    ) -> Self
    where
        E: std::error::Error + Send + Sync + 'static,
    {
        let (sender, seen) = mpsc::unbounded_channel();
        let service = Handler(sender).serve_with_lifecycle(transport, era.lifecycle());
        let service = service.await.expect("the server answers");
        Self { service, seen }
    }

    /// Calls a tool.
    pub(crate) async fn call(&self, tool: &'static str, arguments: Value) -> CallToolResult {
        let response = self.call_tool(request(tool, arguments)).await;
        match response.expect("a result").into() {
            CallToolResponse::Complete(result) => result,
            other => panic!("expected a complete result, got {other:?}"),
        }
    }

    /// Calls a tool, which does what it is asked for, and returns the text.
    pub(crate) async fn accepted(&self, tool: &'static str, arguments: Value) -> String {
        let result = self.call(tool, arguments).await;
        assert_ne!(result.is_error, Some(true), "{}", text(&result));
        text(&result).to_owned()
    }

    /// Calls a tool, which refuses or fails, and returns the text.
    pub(crate) async fn refused(&self, tool: &'static str, arguments: Value) -> String {
        let result = self.call(tool, arguments).await;
        assert_eq!(result.is_error, Some(true), "{}", text(&result));
        text(&result).to_owned()
    }

    /// Calls `sequentialthinking`, and returns its answer, which is also its text.
    pub(crate) async fn answer(&self, arguments: Value) -> Value {
        let result = self.call("sequentialthinking", arguments).await;
        assert_eq!(result.is_error, None, "{result:?}");

        let answer = result.structured_content.clone().expect("an answer");
        let in_text: Value = serde_json::from_str(text(&result)).expect("JSON");
        assert_eq!(in_text, answer);
        answer
    }

    /// Adds a thought to a session of `sequentialthinking`, and returns how many there are.
    pub(crate) async fn count(&self, others: Value) -> u64 {
        let answer = self.answer(thought(others)).await;
        answer["thoughtHistoryLength"].as_u64().expect("a number")
    }

    /// Returns the text of a resource, or the error.
    pub(crate) async fn read(&self, uri: &str) -> Result<String, String> {
        let result = self
            .read_resource(ReadResourceRequestParams::new(uri))
            .await;
        let result = result.map_err(|error| error.to_string())?;

        match result.contents.into_iter().next() {
            Some(ResourceContents::TextResourceContents { text, .. }) => Ok(text),
            other => panic!("expected a text, got {other:?}"),
        }
    }

    /// Returns a resource that is JSON.
    pub(crate) async fn read_json(&self, uri: &str) -> Value {
        let text = self.read(uri).await.expect("a text");
        serde_json::from_str(&text).expect("JSON")
    }

    /// Returns the progress so far: the numbers of thoughts, and the lines.
    pub(crate) fn progress(&mut self) -> Vec<(f64, String)> {
        std::iter::from_fn(|| self.seen.try_recv().ok()).collect()
    }
}

/// Returns the request of a call.
pub(crate) fn request(tool: &'static str, arguments: Value) -> CallToolRequestParams {
    let Value::Object(arguments) = arguments else {
        panic!("the arguments are an object");
    };
    CallToolRequestParams::new(tool).with_arguments(arguments)
}

/// Returns the text of a result.
pub(crate) fn text(result: &CallToolResult) -> &str {
    let content = result.content.first().expect("a content block");
    &content.as_text().expect("a text").text
}

/// The arguments of `sequentialthinking`, with others than the usual ones.
pub(crate) fn thought(others: Value) -> Value {
    let mut arguments = json!({
        "thought": "a",
        "nextThoughtNeeded": true,
        "thoughtNumber": 1,
        "totalThoughts": 3,
    });
    for (name, value) in others.as_object().expect("an object") {
        arguments[name] = value.clone();
    }
    arguments
}

/// Runs one case of a property.
pub(crate) fn block_on<T>(case: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().expect("a runtime");
    runtime.block_on(case)
}

/// A greeting of the older generation.
pub(crate) fn initialize() -> Value {
    json!({
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    })
}

/// The question of the newer generation for what a server can do.
pub(crate) fn discover() -> Value {
    json!({
        "jsonrpc": "2.0",
        "id": 1,
        "method": "server/discover",
        "params": {"_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        }},
    })
}
