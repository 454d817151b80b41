//! Servers over HTTP.

use std::error::Error;
use std::fmt;

use rmcp::ClientServiceExt;
use rmcp::service::{RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransportConfig, StreamableHttpError,
};
use secrecy::{ExposeSecret, SecretString};

use super::connection::{newest, start_problem};
use super::handler::Handler;
use super::{McpError, McpErrorKind, McpServer};

/// The address of a server, and its token.
#[derive(Clone)]
pub(super) struct Address {
    url: String,
    token: Option<SecretString>,
}

impl Address {
    pub(super) fn new(url: String) -> Self {
        Self { url, token: None }
    }

    pub(super) fn set_token(&mut self, token: String) {
        self.token = Some(token.into());
    }

    /// Returns the host for errors.
    pub(super) fn host(&self) -> String {
        let url = reqwest::Url::parse(&self.url);
        let host = url.ok().and_then(|url| url.host_str().map(str::to_owned));
        host.unwrap_or_else(|| "http".to_owned())
    }

    pub(super) async fn connect(
        &self,
        server: &McpServer,
        handler: Handler,
    ) -> Result<RunningService<RoleClient, Handler>, McpError> {
        let failed = |kind, problem| McpError::new(&server.name, kind, problem);
        let client = self.client();
        let client = client.map_err(|problem| failed(McpErrorKind::Settings, problem))?;

        let mut config = StreamableHttpClientTransportConfig::with_uri(self.url.as_str())
            .max_sse_event_size(server.max_message_bytes)
            .max_json_response_size(server.max_message_bytes);
        if let Some(token) = &self.token {
            config = config.auth_header(token.expose_secret());
        }

        let transport = StreamableHttpClientTransport::with_client(client, config);
        let served = handler.serve_with_lifecycle(transport, newest()).await;
        served.map_err(|error| {
            let (kind, problem) = start_problem(&error);
            failed(kind, self.without_token(&problem))
        })
    }

    /// Removes the token from a problem, which may contain what the server answered.
    pub(super) fn without_token(&self, problem: &str) -> String {
        match &self.token {
            Some(token) if !token.expose_secret().is_empty() => {
                problem.replace(token.expose_secret(), "[token]")
            }
            _ => problem.to_owned(),
        }
    }

    fn client(&self) -> Result<reqwest::Client, String> {
        let builder = cogwork_llm::http_client(&self.url)
            .map_err(|error| format!("has an unusable address: {}", error.message()))?;
        let client = builder
            // Like rmcp's own client: reused connections can stall for 40 ms.
            .pool_max_idle_per_host(0)
            .build();
        client.map_err(|error| format!("can't be reached: {error}"))
    }
}

/// Returns whether a server refused the token, or the lack of one.
pub(super) fn refuses_token(error: &(dyn Error + 'static)) -> bool {
    match error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
        Some(StreamableHttpError::AuthRequired(_) | StreamableHttpError::InsufficientScope(_)) => {
            true
        }
        Some(StreamableHttpError::UnexpectedServerResponse(answer)) => {
            let statuses = ["HTTP 401 ", "HTTP 403 "];
            statuses.iter().any(|status| answer.starts_with(status))
        }
        _ => false,
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Address").finish_non_exhaustive()
    }
}
