//! What a request says, or why it is refused.

use axum::Json;
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::http::Refusal;

/// A body of JSON. Its type must be in the headers: a form on another page cannot set it.
pub(super) struct Body<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, state: &S) -> Result<Self, Refusal> {
        let Json(body) = Json::from_request(request, state).await?;
        Ok(Self(body))
    }
}

/// The parameters in the address.
pub(super) struct Params<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Params<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let Query(params) = Query::from_request_parts(parts, state).await?;
        Ok(Self(params))
    }
}
