//! Answers to requests that don't reach the protocol.

use std::convert::Infallible;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderValue, Response, StatusCode};
use http_body_util::{BodyExt, Empty, Full, combinators::BoxBody};
use rmcp::model::{ErrorData, RequestId, ServerJsonRpcMessage};

/// An answer.
pub(crate) type Answer = Response<BoxBody<Bytes, Infallible>>;

/// Returns an error of the protocol.
pub(crate) fn error(status: StatusCode, message: &str, id: Option<RequestId>) -> Answer {
    let error = ErrorData::invalid_request(message.to_owned(), None);
    messages(status, &[ServerJsonRpcMessage::error(error, id)])
}

/// Returns one message as it is, and several as a list.
pub(crate) fn messages(status: StatusCode, messages: &[ServerJsonRpcMessage]) -> Answer {
    let text = match messages {
        [message] => serde_json::to_vec(message),
        messages => serde_json::to_vec(messages),
    };

    let mut answer = Response::new(Full::from(text.unwrap_or_default()).boxed());
    *answer.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    answer.headers_mut().insert(CONTENT_TYPE, json);
    answer
}

/// Returns the answer to a request without a valid token.
pub(crate) fn unauthorized() -> Answer {
    let message = "expected the header `Authorization: Bearer TOKEN` with a token of this server";
    let mut answer = error(StatusCode::UNAUTHORIZED, message, None);
    let scheme = HeaderValue::from_static("Bearer");
    answer.headers_mut().insert(WWW_AUTHENTICATE, scheme);
    answer
}

/// Returns an answer without a body.
pub(crate) fn empty(status: StatusCode) -> Answer {
    let mut answer = Response::new(Empty::new().boxed());
    *answer.status_mut() = status;
    answer
}
