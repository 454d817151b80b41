use std::collections::HashMap;
use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt, Full, combinators::BoxBody};
use rmcp::model::{ErrorData, ProtocolVersion, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use super::settings::HttpSettings;
use super::settings::Token;
use crate::connection::Connection;
use crate::handler::Handler;
use crate::{Server, ServerError};

/// The maximum number of sessions of the protocol that one token may have open at the same time. They
/// end after 5 minutes without a request.
const MAX_SESSIONS: usize = 256;

/// A [`tower` service](tower_service::Service) that serves the protocol at any path, to be mounted
/// into a program's own HTTP server. With axum: `router.route_service("/mcp", service)`.
///
/// Created by [`Server::http_service`]. Cloning a service is cheap. All clones share the sessions.
#[derive(Clone)]
pub struct HttpService {
    shared: Arc<Shared>,
}

struct Shared {
    settings: HttpSettings,
    clients: HashMap<Token, Client>,
}

/// Everyone with the same token.
struct Client {
    sessions: Arc<LocalSessionManager>,
    service: StreamableHttpService<Handler, LocalSessionManager>,
}

/// The answer to a request.
pub(super) type Answer = Response<BoxBody<Bytes, Infallible>>;

impl Server {
    /// Returns a service for a program's own HTTP server.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no token, or if a token is too short or contains other
    /// characters than the visible ones of ASCII.
    pub fn http_service(&self, settings: HttpSettings) -> Result<HttpService, ServerError> {
        if settings.tokens.is_empty() {
            return Err(ServerError::of("there is no token; expected at least one"));
        }

        let mut clients = HashMap::new();
        for token in &settings.tokens {
            let token = token.map_err(ServerError::of)?;
            clients.insert(token, Client::new(self, &settings, token));
        }

        let shared = Shared { settings, clients };
        Ok(HttpService {
            shared: Arc::new(shared),
        })
    }
}

impl Client {
    fn new(server: &Server, settings: &HttpSettings, token: Token) -> Self {
        let sessions = Arc::<LocalSessionManager>::default();
        let limits = server.shared.limits;

        let config = StreamableHttpServerConfig::default()
            .with_json_response(true)
            .with_max_request_body_bytes(limits.message_bytes)
            .with_cancellation_token(server.shared.stop.child_token())
            .with_allowed_hosts(&settings.hosts)
            .with_allowed_origins(&settings.origins)
            .enforce_origin_validation();

        // Requests of the newer generation don't belong to a connection.
        let unconnected = Arc::new(Connection::new(token.owner()));
        let server = server.clone();
        let handler = move || {
            let handler = server.handler(token.owner());
            Ok(handler.with_unconnected(Arc::clone(&unconnected)))
        };
        Self {
            service: StreamableHttpService::new(handler, Arc::clone(&sessions), config),
            sessions,
        }
    }
}

impl HttpService {
    async fn answer<B>(&self, request: Request<B>) -> Answer
    where
        B: Body + Send + 'static,
        B::Error: fmt::Display,
    {
        let token = Token::of_request(request.headers());
        let client = token.and_then(|token| self.shared.clients.get(&token));
        let Some(client) = client else {
            return unauthorized();
        };

        let opens = *request.method() == Method::POST && may_open_session(request.headers());
        if opens && client.sessions.sessions.read().await.len() >= MAX_SESSIONS {
            let message =
                format!("too many sessions are open; at most {MAX_SESSIONS} are accepted");
            return refusal(StatusCode::SERVICE_UNAVAILABLE, &message);
        }
        client.service.handle(request).await
    }
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
pub(super) fn refusal(status: StatusCode, message: &str) -> Answer {
    let error = ErrorData::invalid_request(message.to_owned(), None);
    let error = ServerJsonRpcMessage::error(error, None);
    let text = serde_json::to_vec(&error).unwrap_or_default();

    let mut answer = Response::new(Full::from(text).boxed());
    *answer.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    answer.headers_mut().insert(CONTENT_TYPE, json);
    answer
}

fn unauthorized() -> Answer {
    let message = "expected the header `Authorization: Bearer TOKEN` with a token of this server";
    let mut answer = refusal(StatusCode::UNAUTHORIZED, message);
    let scheme = HeaderValue::from_static("Bearer");
    answer.headers_mut().insert(WWW_AUTHENTICATE, scheme);
    answer
}

impl<B> tower_service::Service<Request<B>> for HttpService
where
    B: Body + Send + 'static,
    B::Error: fmt::Display,
{
    type Response = Answer;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Answer, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let service = self.clone();
        Box::pin(async move { Ok(service.answer(request).await) })
    }
}

impl fmt::Debug for HttpService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpService")
            .field("settings", &self.shared.settings)
            .finish_non_exhaustive()
    }
}
