//! Accepts connections.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, StatusCode};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio_io_timeout::TimeoutStream;
use tower_service::Service;

use super::refusal::{self, Answer};
use super::{HttpService, HttpSettings};
use crate::{Server, ServerError};

/// The path that is served.
const PATH: &str = "/mcp";

/// How long requests in progress may take when the server is stopped.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// How long to wait if no connection can be accepted, such as when there are too many open files.
const AGAIN: Duration = Duration::from_millis(100);

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
            let settings = if address.ip().is_unspecified() {
                settings
            } else {
                settings.with_allowed_host(address.ip().to_string())
            };

            let service = server.http_service(settings)?;
            accept_all(&server, listener, service).await;
            Ok(())
        }
    }
}

async fn accept_all(server: &Server, listener: TcpListener, service: HttpService) {
    let places = Arc::new(Semaphore::new(service.settings().connections));
    let graceful = GracefulShutdown::new();
    let mut connections = JoinSet::new();

    loop {
        let accepted = tokio::select! {
            () = server.shared.stop.cancelled() => break,
            Some(_) = connections.join_next() => continue,
            accepted = accept(&listener, &places) => accepted,
        };
        let Ok((stream, place)) = accepted else {
            tokio::time::sleep(AGAIN).await;
            continue;
        };

        let connection = graceful.watch(connection(stream, service.clone()));
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
    service: HttpService,
) -> impl hyper_util::server::graceful::GracefulConnection<Error = hyper::Error> + Send {
    let settings = service.settings().clone();
    // Answers are small, and the client waits for each.
    let _ = stream.set_nodelay(true);

    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(settings.write_timeout));

    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(settings.header_timeout)
        .serve_connection(
            TokioIo::new(Box::pin(stream)),
            service_fn(move |request| answer(service.clone(), request)),
        )
}

async fn answer(
    mut service: HttpService,
    request: Request<Incoming>,
) -> Result<Answer, Infallible> {
    if request.uri().path() != PATH {
        let message = "there is nothing at this path; expected `/mcp`";
        return Ok(refusal::error(StatusCode::NOT_FOUND, message, None));
    }
    service.call(request).await
}
