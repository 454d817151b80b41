//! Serves an endpoint over HTTP/2.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use hyper::server::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use restate_sdk::endpoint::Endpoint;
use restate_sdk::hyper::HyperEndpoint;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

/// Less than the timeout of the pings that the server of Restate sends, which is 20 seconds.
/// Otherwise it could give a run to a different worker while this one continues.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(10);
const KEEP_ALIVE_TIMEOUT: Duration = Duration::from_secs(5);

/// How long connections may take to finish.
const SHUTDOWN: Duration = Duration::from_secs(10);

/// The delay after a connection that could not be accepted, for example because too many files are
/// open.
const NOT_ACCEPTED: Duration = Duration::from_millis(100);

/// A server for an endpoint, to which Restate connects.
///
/// It sends pings, so that it notices when a network was cut without closing its connections. The
/// attempts on such a connection are then dropped: Restate gives their runs to a different worker,
/// and this one should not make further calls for them. The [server of the SDK] sends no pings.
///
/// [server of the SDK]: restate_sdk::http_server::HttpServer
#[derive(Clone)]
pub struct HttpServer(HyperEndpoint);

impl HttpServer {
    /// Creates a server for this endpoint.
    pub fn new(endpoint: Endpoint) -> Self {
        Self(HyperEndpoint::new(endpoint))
    }

    /// Serves the endpoint at an address until the process is asked to stop with Ctrl-C.
    ///
    /// # Errors
    ///
    /// Returns an error if the address cannot be used.
    pub async fn listen_and_serve(self, address: SocketAddr) -> io::Result<()> {
        let listener = TcpListener::bind(address).await?;
        self.serve(listener).await;
        Ok(())
    }

    /// Serves the endpoint until the process is asked to stop with Ctrl-C.
    pub async fn serve(self, listener: TcpListener) {
        self.serve_with_cancel(listener, tokio::signal::ctrl_c())
            .await;
    }

    /// Serves the endpoint until `cancel` is ready. Connections then have 10 seconds to finish.
    pub async fn serve_with_cancel(self, listener: TcpListener, cancel: impl Future) {
        let connections = GracefulShutdown::new();
        let mut cancel = pin!(cancel);

        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                _ = &mut cancel => break,
            };

            match accepted {
                Ok((stream, _)) => self.connect(stream, &connections),
                // Such as too many open files, which takes a moment to pass.
                Err(_) => sleep(NOT_ACCEPTED).await,
            }
        }

        // Attempts that are cut off here are repeated by Restate.
        let _ = timeout(SHUTDOWN, connections.shutdown()).await;
    }

    fn connect(&self, stream: TcpStream, connections: &GracefulShutdown) {
        let connection = http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            // Notices that Restate is gone, although nothing is sent.
            .keep_alive_interval(KEEP_ALIVE_INTERVAL)
            .keep_alive_timeout(KEEP_ALIVE_TIMEOUT)
            .serve_connection(TokioIo::new(stream), self.0.clone());

        // If a connection fails, Restate repeats the attempts on it.
        let connection = connections.watch(connection);
        tokio::spawn(async move { drop(connection.await) });
    }
}

impl From<Endpoint> for HttpServer {
    fn from(endpoint: Endpoint) -> Self {
        Self::new(endpoint)
    }
}

impl fmt::Debug for HttpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpServer").finish_non_exhaustive()
    }
}
