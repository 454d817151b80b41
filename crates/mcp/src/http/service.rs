use std::collections::HashMap;
use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body::Body;
use http_body_util::{Full, combinators::BoxBody};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use super::body;
use super::refusal::{self, Answer};
use super::settings::HttpSettings;
use super::token::Token;
use crate::connection::Connection;
use crate::handler::Handler;
use crate::wire::Incoming;
use crate::{Server, ServerError};

/// A [`tower` service](tower_service::Service) that serves the protocol at any path, to be mounted
/// into a program's own HTTP server. With axum: `router.route_service("/mcp", service)`.
///
/// Created by [`Server::http_service`]. Cloning a service is cheap. All clones share the sessions.
#[derive(Clone)]
pub struct HttpService {
    shared: Arc<Shared>,
}

struct Shared {
    server: Server,
    settings: HttpSettings,
    clients: HashMap<Token, Client>,
}

/// Everyone with the same token.
struct Client {
    sessions: Arc<LocalSessionManager>,
    service: StreamableHttpService<Handler, LocalSessionManager>,
}

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

        let shared = Shared {
            server: self.clone(),
            settings,
            clients,
        };
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
    pub(crate) fn settings(&self) -> &HttpSettings {
        &self.shared.settings
    }

    async fn answer<B>(&self, request: Request<B>) -> Answer
    where
        B: Body + Send + 'static,
    {
        let token = Token::of_request(request.headers());
        let client = token.and_then(|token| self.shared.clients.get(&token));
        let Some(client) = client else {
            return refusal::unauthorized();
        };

        let (parts, body) = request.into_parts();
        if parts.method != Method::POST {
            let request = Request::from_parts(parts, Full::<Bytes>::default());
            return client.service.handle(request).await;
        }

        let limits = self.shared.server.shared.limits;
        let text = match body::read(body, limits, &self.shared.settings).await {
            Ok(text) => text,
            Err(answer) => return answer,
        };
        match Incoming::read(&text) {
            Incoming::Message(message) => {
                if let Some(answer) = self.refuse_session(client, &message).await {
                    return answer;
                }
            }
            Incoming::Refused(answers) => {
                return refusal::messages(StatusCode::BAD_REQUEST, &answers);
            }
            Incoming::Nothing => return refusal::empty(StatusCode::ACCEPTED),
        }

        let request = Request::from_parts(parts, Full::<Bytes>::from(text));
        client.service.handle(request).await
    }

    /// Refuses to open a session if there are too many.
    async fn refuse_session(
        &self,
        client: &Client,
        message: &ClientJsonRpcMessage,
    ) -> Option<Answer> {
        let JsonRpcMessage::Request(request) = message else {
            return None;
        };
        if !matches!(request.request, ClientRequest::InitializeRequest(_)) {
            return None;
        }

        let limit = self.shared.settings.open_sessions;
        if client.sessions.sessions.read().await.len() < limit {
            return None;
        }
        let message = format!("too many sessions are open; at most {limit} are accepted");
        let id = Some(request.id.clone());
        Some(refusal::error(
            StatusCode::SERVICE_UNAVAILABLE,
            &message,
            id,
        ))
    }
}

impl<B> tower_service::Service<Request<B>> for HttpService
where
    B: Body + Send + 'static,
{
    type Response = Response<BoxBody<Bytes, Infallible>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

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
