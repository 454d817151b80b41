use axum::Json;
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use cogwork_journal::{StoreError, StoreErrorKind};
use serde_json::json;

use crate::FlowError;

/// Why a request is refused, as an answer of JSON.
#[derive(Debug)]
pub(crate) struct Refusal {
    status: StatusCode,
    message: String,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
        }
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    pub(crate) fn forbidden(message: &str) -> Self {
        Self::new(StatusCode::FORBIDDEN, message)
    }

    pub(crate) async fn wrong_method() -> Self {
        let message = "this path has other methods; expected one of the header `Allow`";
        Self::new(StatusCode::METHOD_NOT_ALLOWED, message)
    }
}

impl From<QueryRejection> for Refusal {
    fn from(error: QueryRejection) -> Self {
        Self::bad_request(error.body_text())
    }
}

impl From<JsonRejection> for Refusal {
    fn from(error: JsonRejection) -> Self {
        match error {
            // It is JSON, but not what the request needs.
            JsonRejection::JsonDataError(error) => Self::bad_request(error.body_text()),
            error => Self::new(error.status(), error.body_text()),
        }
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        use StoreErrorKind::{
            AlreadyThere, Ended, InUse, Missing, NotWaiting, RefusedAnswer, RunId, UnknownEvent,
            UnknownStep,
        };

        let status = match error.kind() {
            Missing => StatusCode::NOT_FOUND,
            UnknownStep | RefusedAnswer | RunId => StatusCode::UNPROCESSABLE_ENTITY,
            InUse | Ended | AlreadyThere | NotWaiting | UnknownEvent => StatusCode::CONFLICT,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::new(status, error.to_string())
    }
}

impl From<FlowError> for Refusal {
    fn from(error: FlowError) -> Self {
        let status = match error {
            FlowError::Store(error) => return error.into(),
            FlowError::Unknown | FlowError::MissingRun => StatusCode::NOT_FOUND,
            FlowError::Exists | FlowError::Ended | FlowError::HasFailed(_) => StatusCode::CONFLICT,
            FlowError::Refused(_) => StatusCode::UNPROCESSABLE_ENTITY,
            FlowError::Failed(_) => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::new(status, error.to_string())
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.status, Json(json!({"error": self.message}))).into_response()
    }
}
