//! Reads the bodies of requests.

use std::time::Duration;

use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use serde::de::DeserializeOwned;

use crate::http::Refusal;

/// How long a client may take to send the body of a request.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The maximum length of the body of a request, in bytes.
const MOST: usize = 1 << 20;

/// A body of JSON.
///
/// Its type must be in the headers: a form on another page cannot set it.
pub(super) struct Body<T>(pub(super) T);

impl<S: Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, _: &S) -> Result<Self, Refusal> {
        let is_json = request.headers().get(CONTENT_TYPE).is_some_and(|kind| {
            let kind = kind.to_str().unwrap_or_default();
            let kind = kind.split(';').next().unwrap_or_default();
            kind.trim().eq_ignore_ascii_case("application/json")
        });
        if !is_json {
            return Err(Refusal::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "expected the header `Content-Type: application/json`",
            ));
        }

        let reading = axum::body::to_bytes(request.into_body(), MOST);
        let Ok(read) = tokio::time::timeout(TIMEOUT, reading).await else {
            return Err(Refusal::new(
                StatusCode::REQUEST_TIMEOUT,
                "the body did not arrive in time",
            ));
        };
        let text = read.map_err(|_| {
            Refusal::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                format!("the body is incomplete, or longer than {MOST} bytes"),
            )
        })?;

        let value = serde_json::from_slice(&text);
        value
            .map(Self)
            .map_err(|error| Refusal::bad_request(format!("the body cannot be read: {error}")))
    }
}
