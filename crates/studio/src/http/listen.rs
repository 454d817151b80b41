//! Accepts connections.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::{LOCATION, SET_COOKIE};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulConnection, GracefulShutdown};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
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

pub(crate) async fn serve(listener: TcpListener, access: Access, shared: Arc<Shared>) {
    let places = Arc::new(Semaphore::new(shared.limits.connections));
    let stop = shared.stop.clone();
    let router = router(access, shared);
    let graceful = GracefulShutdown::new();
    let mut connections = JoinSet::new();

    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            Some(_) = connections.join_next() => continue,
            accepted = accept(&listener, &places) => accepted,
        };
        let Ok((stream, place)) = accepted else {
            tokio::time::sleep(AGAIN).await;
            continue;
        };

        let connection = graceful.watch(connection(stream, router.clone()));
        connections.spawn(async move {
            // Clients that vanish or break the protocol don't affect others.
            let _ = connection.await;
            drop(place);
        });
    }

    drop(listener);
    let _ = tokio::time::timeout(LAST_ANSWERS, graceful.shutdown()).await;
}

/// Accepts a connection when there is a place for it.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> io::Result<(TcpStream, OwnedSemaphorePermit)> {
    let place = Arc::clone(places).acquire_owned().await;
    let place = place.map_err(io::Error::other)?;
    let (stream, _) = listener.accept().await?;
    Ok((stream, place))
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
async fn guard(State(access): State<Access>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let response = match access.check(&parts) {
        Ok(Granted::Inside) => next.run(Request::from_parts(parts, body)).await,
        Ok(Granted::Entering { cookie }) => {
            let headers = [(SET_COOKIE, cookie.as_str()), (LOCATION, "/")];
            (StatusCode::SEE_OTHER, headers).into_response()
        }
        Err(refusal) => refusal.into_response(),
    };
    protected(response)
}
