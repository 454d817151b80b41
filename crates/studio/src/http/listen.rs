//! Accepts connections.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::{LOCATION, SET_COOKIE};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulConnection, GracefulShutdown};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};
use tokio_io_timeout::TimeoutStream;

use super::access::{Access, Granted};
use super::headers::protected;
use super::{Refusal, assets};
use crate::api;
use crate::shared::Shared;

/// How long a client may take to send the headers of a request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a client may take to read a part of an answer.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

/// How long requests in progress may take when the server is stopped.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// How long to wait if no connection can be accepted, such as when there are too many open files.
const AGAIN: Duration = Duration::from_millis(100);

/// The maximum number of connections.
const CONNECTIONS: usize = 64;

pub(crate) async fn serve(listener: TcpListener, access: Access, shared: Arc<Shared>) {
    let stop = shared.stop.clone();
    let router = router(access, shared);
    let graceful = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    let mut clients = Clients::default();

    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            Some(_) = connections.join_next() => continue,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(AGAIN).await;
            continue;
        };

        while connections.len() >= CONNECTIONS && !stop.is_cancelled() {
            clients.end_oldest_stranger();
            tokio::select! {
                () = stop.cancelled() => {}
                _ = connections.join_next() => {}
            }
        }

        let has_token = HasToken::default();
        let router = router.clone().layer(Extension(has_token.clone()));
        let connection = graceful.watch(connection(stream, router));
        let end = connections.spawn(async move {
            // Clients that vanish or break the protocol don't affect others.
            let _ = connection.await;
        });
        clients.0.push_back(Client { has_token, end });
    }

    drop(listener);
    let _ = tokio::time::timeout(LAST_ANSWERS, graceful.shutdown()).await;
}

/// Whether a client has sent the token.
#[derive(Clone, Default)]
struct HasToken(Arc<AtomicBool>);

struct Client {
    has_token: HasToken,
    end: AbortHandle,
}

/// The clients, the oldest first.
#[derive(Default)]
struct Clients(VecDeque<Client>);

impl Clients {
    /// Closes the oldest connection without the token, so that idle strangers don't take the places
    /// of those who may call.
    fn end_oldest_stranger(&mut self) {
        self.0.retain(|client| !client.end.is_finished());
        let is_stranger = |client: &Client| !client.has_token.0.load(Ordering::Relaxed);

        let stranger = self.0.iter().position(is_stranger);
        if let Some(stranger) = stranger.and_then(|index| self.0.remove(index)) {
            stranger.end.abort();
        }
    }
}

fn connection(
    stream: TcpStream,
    router: Router,
) -> impl GracefulConnection<Error = hyper::Error> + Send {
    // Events are small, and a person waits for each.
    let _ = stream.set_nodelay(true);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(WRITE_TIMEOUT));

    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .serve_connection(
            TokioIo::new(Box::pin(stream)),
            TowerToHyperService::new(router),
        )
}

fn router(access: Access, shared: Arc<Shared>) -> Router {
    let routes = assets::routes().merge(api::routes(shared));
    routes
        .fallback(async || Refusal::new(StatusCode::NOT_FOUND, "there is nothing at this path"))
        .layer(from_fn_with_state(access, guard))
}

/// Answers only those who may call, and protects each answer.
async fn guard(
    State(access): State<Access>,
    Extension(has_token): Extension<HasToken>,
    request: Request,
    next: Next,
) -> Response {
    let (parts, body) = request.into_parts();
    let granted = access.check(&parts);
    if granted.is_ok() {
        has_token.0.store(true, Ordering::Relaxed);
    }

    let response = match granted {
        Ok(Granted::Inside) => next.run(Request::from_parts(parts, body)).await,
        Ok(Granted::Entering { cookie }) => {
            let headers = [(SET_COOKIE, cookie.as_str()), (LOCATION, "/")];
            (StatusCode::SEE_OTHER, headers).into_response()
        }
        Err(refusal) => refusal.into_response(),
    };
    protected(response)
}
