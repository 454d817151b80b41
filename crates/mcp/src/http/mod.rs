//! Streamable HTTP.

use std::collections::HashMap;
use std::future::{Future, IntoFuture};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, any};
use axum::serve::ListenerExt;
use axum::{Router, http};
use http::header::{CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderMap, Method, StatusCode};
use rmcp::model::{ErrorData, ProtocolVersion, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;

use crate::connection::Connection;
use crate::handler::Handler;
use crate::{Server, ServerError};

mod settings;
pub use settings::HttpSettings;
use settings::Token;

/// The path that is served.
const PATH: &str = "/mcp";

/// How long requests in progress may take when the server is stopped.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// The maximum number of sessions of the protocol that one token may have open at the same time. They
/// end after 5 minutes without a request.
const MAX_SESSIONS: usize = 256;

/// Everyone with the same token.
struct Client {
    sessions: Arc<LocalSessionManager>,
    service: StreamableHttpService<Handler, LocalSessionManager>,
}

impl Server {
    /// Serves clients over HTTP at the path `/mcp`, until [`stop`](Self::stop).
    ///
    /// The address of the listener is allowed in the header `Host`, unless it is one for all
    /// addresses of the machine. Connections aren't encrypted.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`http_service`](Self::http_service), and an error if the listener has
    /// no address.
    pub fn serve_http(
        &self,
        listener: TcpListener,
        settings: HttpSettings,
    ) -> impl Future<Output = Result<(), ServerError>> + Send + use<> {
        let server = self.clone();
        async move {
            let address = listener.local_addr().map_err(ServerError::of)?;
            // Clients cannot name this address as their host.
            let settings = if address.ip().is_unspecified() {
                settings
            } else {
                settings.with_allowed_host(address.ip().to_string())
            };

            let routes = Router::new()
                .route(PATH, server.http_service(settings)?)
                // Says where the server is, since people forget the path.
                .fallback(nothing_here);
            // Answers are small, and the client waits for each.
            let listener = listener.tap_io(|stream| {
                let _ = stream.set_nodelay(true);
            });

            let stop = server.shared.stop.clone();
            let serving = axum::serve(listener, routes)
                .with_graceful_shutdown(stop.clone().cancelled_owned())
                .into_future();
            tokio::select! {
                served = serving => served.map_err(ServerError::of),
                () = async {
                    stop.cancelled().await;
                    tokio::time::sleep(LAST_ANSWERS).await;
                } => Ok(()),
            }
        }
    }

    /// Returns a service for a program's own HTTP server: `router.route("/mcp", service)`. All clones
    /// share the sessions.
    ///
    /// # Errors
    ///
    /// Returns an error if the settings have no token.
    pub fn http_service(&self, settings: HttpSettings) -> Result<MethodRouter, ServerError> {
        if settings.tokens.is_empty() {
            return Err(ServerError::of("there is no token; expected at least one"));
        }

        let mut clients = HashMap::new();
        for &token in &settings.tokens {
            clients.insert(token, Client::new(self, &settings, token));
        }

        let clients = Arc::new(clients);
        Ok(any(move |request| answer(Arc::clone(&clients), request)))
    }
}

impl Client {
    fn new(server: &Server, settings: &HttpSettings, token: Token) -> Self {
        let sessions = Arc::<LocalSessionManager>::default();
        let config = StreamableHttpServerConfig::default()
            .with_json_response(true)
            .with_max_request_body_bytes(server.shared.store.limits.message_bytes)
            .with_cancellation_token(server.shared.stop.child_token())
            .with_allowed_hosts(&settings.hosts)
            .with_allowed_origins(&settings.origins)
            .enforce_origin_validation();

        // Requests of the newer generation don't belong to a connection.
        let unconnected = Arc::new(Connection::new(token.owner()));
        let server = server.clone();
        let handler = move || {
            Ok(Handler {
                unconnected: Some(Arc::clone(&unconnected)),
                ..server.handler(token.owner())
            })
        };
        Self {
            service: StreamableHttpService::new(handler, Arc::clone(&sessions), config),
            sessions,
        }
    }
}

async fn answer(clients: Arc<HashMap<Token, Client>>, request: Request) -> Response {
    let token = Token::of_request(request.headers());
    // A token has its own sessions, so that nobody can use those of another client by their ids.
    let Some(client) = token.and_then(|token| clients.get(&token)) else {
        let message =
            "expected the header `Authorization: Bearer TOKEN` with a token of this server";
        let scheme = [(WWW_AUTHENTICATE, "Bearer")];
        return (scheme, refusal(StatusCode::UNAUTHORIZED, message)).into_response();
    };

    // Each session keeps a task and buffers until it is closed, and not every client closes it.
    let opens = *request.method() == Method::POST && may_open_session(request.headers());
    if opens && client.sessions.sessions.read().await.len() >= MAX_SESSIONS {
        let message = format!("too many sessions are open; at most {MAX_SESSIONS} are accepted");
        return refusal(StatusCode::SERVICE_UNAVAILABLE, message);
    }
    let closes = *request.method() == Method::DELETE;
    let mut answer = client.service.handle(request).await.map(Body::new);
    // Some clients take only this for the end of a session.
    if closes && answer.status() == StatusCode::ACCEPTED {
        *answer.status_mut() = StatusCode::NO_CONTENT;
    }
    answer
}

/// Whether a request without a session may open one. Those of the newer generation have none.
fn may_open_session(headers: &HeaderMap) -> bool {
    let newer = ProtocolVersion::V_2026_07_28;
    let version = headers.get("mcp-protocol-version");
    let version = version.and_then(|version| version.to_str().ok());
    let is_newer = version.is_some_and(|version| version >= newer.as_str());

    !headers.contains_key("mcp-session-id") && !is_newer
}

/// Returns the answer to a request that doesn't reach the protocol.
fn refusal(status: StatusCode, message: impl Into<String>) -> Response {
    let error = ErrorData::invalid_request(message.into(), None);
    let error = ServerJsonRpcMessage::error(error, None);
    let text = serde_json::to_vec(&error).unwrap_or_default();
    (status, [(CONTENT_TYPE, "application/json")], text).into_response()
}

async fn nothing_here() -> Response {
    let message = "there is nothing at this path; expected `/mcp`";
    refusal(StatusCode::NOT_FOUND, message)
}
