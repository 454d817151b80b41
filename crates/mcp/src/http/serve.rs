//! Serves at an address of its own.

use std::future::{Future, IntoFuture};
use std::time::Duration;

use axum::Router;
use axum::serve::ListenerExt;
use http::StatusCode;
use tokio::net::TcpListener;

use super::HttpSettings;
use super::service::{Answer, refusal};
use crate::{Server, ServerError};

/// The path that is served.
const PATH: &str = "/mcp";

/// How long requests in progress may take when the server is stopped.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

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
            let routes = Router::new()
                .route_service(PATH, service)
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
}

async fn nothing_here() -> Answer {
    let message = "there is nothing at this path; expected `/mcp`";
    refusal(StatusCode::NOT_FOUND, message)
}
