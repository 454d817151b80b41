//! Connecting to servers over HTTP.

use rmcp::ClientServiceExt;
use rmcp::model::ClientConfig;
use rmcp::service::{RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use secrecy::{ExposeSecret, SecretString};

use super::connection::{client, newest};
use super::{McpError, McpServer};

/// The address of a server, and its token.
#[derive(Clone)]
pub(super) struct Address {
    pub(super) url: String,
    pub(super) token: Option<SecretString>,
}

impl Address {
    pub(super) fn new(url: String) -> Self {
        Self { url, token: None }
    }

    /// Returns the host for errors.
    pub(super) fn host(&self) -> String {
        let url = reqwest::Url::parse(&self.url);
        let host = url.ok().and_then(|url| url.host_str().map(str::to_owned));
        host.unwrap_or_else(|| "http".to_owned())
    }
}

pub(super) async fn connect(
    server: &McpServer,
    address: &Address,
) -> Result<RunningService<RoleClient, ClientConfig>, McpError> {
    let http = http_client(&address.url);
    let http = http.map_err(|problem| McpError::new(server, problem))?;

    let mut config = StreamableHttpClientTransportConfig::with_uri(address.url.as_str());
    if let Some(token) = &address.token {
        config = config.auth_header(token.expose_secret());
    }

    let transport = StreamableHttpClientTransport::with_client(http, config);
    let served = client().serve_with_lifecycle(transport, newest());
    served
        .await
        .map_err(|error| McpError::of_start(server, &error))
}

fn http_client(url: &str) -> Result<reqwest::Client, String> {
    let builder = cogwork_llm::http::http_client(url)
        .map_err(|error| format!("has an unusable address: {}", error.message()))?;
    let client = builder
        // Like rmcp's own client: reused connections can stall for 40 ms.
        .pool_max_idle_per_host(0)
        .build();
    client.map_err(|error| format!("can't be reached: {error}"))
}
