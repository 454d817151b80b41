//! Serves the page.

use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::{LOCATION, SET_COOKIE};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::serve::ListenerExt;
use tokio::net::TcpListener;

use super::access::Access;
use super::headers::protected;
use super::{Refusal, assets};
use crate::Runner;
use crate::api::{Shared, View, routes};

/// The maximum number of live views.
const STREAMS: usize = 16;

pub(crate) async fn serve(
    listener: TcpListener,
    access: Access,
    runner: Runner,
    stopped: impl Future<Output = ()> + Send,
) {
    let shared = Shared::new(runner.clone(), STREAMS);
    let router = Router::new()
        .nest("/api", routes(shared, |_| Some(View::Full)))
        .merge(assets::routes())
        .method_not_allowed_fallback(Refusal::wrong_method)
        .fallback(async || Refusal::new(StatusCode::NOT_FOUND, "there is nothing at this path"))
        .layer(from_fn_with_state(access, guard));

    // Events are small, and a person waits for each.
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    tokio::select! {
        // It returns no error.
        _ = axum::serve(listener, router).into_future() => {}
        // Streams of events never end by themselves.
        () = stopped => {}
    }
    runner.shut_down().await;
}

/// Answers only those who may call, and protects each answer.
async fn guard(State(access): State<Access>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let response = match access.check(&parts) {
        Ok(None) => next.run(Request::from_parts(parts, body)).await,
        Ok(Some(cookie)) => {
            // Leads to an address without the token, which may be copied and kept in the history.
            let headers = [(SET_COOKIE, cookie.as_str()), (LOCATION, "/")];
            (StatusCode::SEE_OTHER, headers).into_response()
        }
        Err(refusal) => refusal.into_response(),
    };
    protected(response)
}
