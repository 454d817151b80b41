//! Serves the page.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::{LOCATION, SET_COOKIE};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::serve::ListenerExt;
use tokio::net::TcpListener;

use super::access::{Access, Granted};
use super::headers::protected;
use super::{Refusal, assets};
use crate::api;
use crate::shared::Shared;

/// How long requests in progress may take when the server is stopped.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

pub(crate) async fn serve(listener: TcpListener, access: Access, shared: Arc<Shared>) {
    let stop = shared.stop.clone();
    let last = stop.clone();
    let router = router(access, shared);

    // Events are small, and a person waits for each.
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    let stopped = async move { stop.cancelled().await };
    let serving = axum::serve(listener, router).with_graceful_shutdown(stopped);

    // Clients that send nothing would be waited for.
    let too_late = async {
        last.cancelled().await;
        tokio::time::sleep(LAST_ANSWERS).await;
    };
    tokio::select! {
        // It returns no error.
        _ = serving.into_future() => {}
        () = too_late => {}
    }
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
