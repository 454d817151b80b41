use std::error::Error;
use std::time::Duration;

use reqwest::header::{self, HeaderValue};
use reqwest::{RequestBuilder, Response, StatusCode, Url};

use super::excerpt::Secrets;
use super::failure;
use super::protocol::Protocol;
use super::retry_after::retry_after;
use crate::{LlmError, LlmErrorKind};

/// The maximum number of bytes read of a failure's body. Errors show less.
const FAILURE_BYTES: usize = 64 * 1024;

/// An endpoint and the HTTP client for it.
pub(crate) struct Exchange {
    pub(super) protocol: &'static Protocol,
    pub(super) http: reqwest::Client,
    pub(super) endpoint: Url,
    /// The method and the URL as shown in errors.
    pub(super) address: String,
    pub(super) timeout: Duration,
    pub(super) connect_timeout: Duration,
    pub(super) max_response_bytes: usize,
    pub(super) secrets: Secrets,
}

/// A complete response with a success status.
pub(super) struct Answer {
    pub(super) origin: Origin,
    pub(super) body: Vec<u8>,
}

/// What identifies a response regardless of its body.
pub(super) struct Origin {
    status: u16,
    pub(super) request_id: Option<String>,
}

impl Origin {
    pub(super) fn of(response: &Response, secrets: &Secrets) -> Self {
        let id = ["x-request-id", "request-id"]
            .iter()
            .find_map(|name| response.headers().get(*name));
        let id = id
            .and_then(|id| id.to_str().ok())
            .filter(|id| !id.trim().is_empty());
        Self {
            status: response.status().as_u16(),
            request_id: id.map(|id| secrets.line(id)),
        }
    }

    /// Adds the status and the request id to the error.
    pub(super) fn sign(&self, error: LlmError) -> LlmError {
        let error = error.with_status(self.status);
        match &self.request_id {
            Some(id) => error.with_request_id(id.as_str()),
            None => error,
        }
    }
}

/// The part of a body that was read.
struct Body {
    bytes: Vec<u8>,
    /// Why reading stopped before the end.
    stop: Option<Stop>,
}

enum Stop {
    TooLarge,
    Broken(reqwest::Error),
}

impl Body {
    /// Reads up to `limit` bytes in chunks. The stated length of a body may be wrong, and a body
    /// without one may never end.
    async fn read(response: &mut Response, limit: usize) -> Self {
        let mut bytes = Vec::new();

        let stop = loop {
            let chunk = match response.chunk().await {
                Ok(Some(chunk)) => chunk,
                Ok(None) => break None,
                Err(error) => break Some(Stop::Broken(error)),
            };

            let room = limit.saturating_sub(bytes.len());
            bytes.extend_from_slice(chunk.get(..room).unwrap_or(&chunk));
            if chunk.len() > room {
                break Some(Stop::TooLarge);
            }
        };

        Self { bytes, stop }
    }
}

impl Exchange {
    pub(super) fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// Sends `body` and returns the response to be streamed, if its status is a success.
    pub(super) async fn open_stream(&self, body: Vec<u8>) -> Result<Response, LlmError> {
        let accepted = HeaderValue::from_static("text/event-stream, */*");
        let request = self.request(body).header(header::ACCEPT, accepted);

        self.open(request).await
    }

    fn request(&self, body: Vec<u8>) -> RequestBuilder {
        self.http.post(self.endpoint.clone()).body(body)
    }

    async fn open(&self, request: RequestBuilder) -> Result<Response, LlmError> {
        let response = request.send().await.map_err(|error| self.broken(error))?;
        if response.status().is_success() {
            Ok(response)
        } else {
            Err(self.failure(response).await)
        }
    }

    /// Sends `body` and reads the whole response.
    pub(super) async fn post(&self, body: Vec<u8>) -> Result<Answer, LlmError> {
        let mut response = self.open(self.request(body)).await?;
        let origin = Origin::of(&response, &self.secrets);
        let body = Body::read(&mut response, self.max_response_bytes).await;

        let error = match body.stop {
            None => {
                let body = body.bytes;
                return Ok(Answer { origin, body });
            }
            Some(Stop::Broken(error)) => self.broken(error),
            Some(Stop::TooLarge) => self.too_large(),
        };

        let shown = self.secrets.body(&body.bytes);
        Err(origin.sign(error).with_body(shown))
    }

    pub(super) fn too_large(&self) -> LlmError {
        let message = format!(
            "the response is over the limit of {} bytes",
            self.max_response_bytes
        );
        LlmError::new(LlmErrorKind::Decode, message)
    }

    /// Returns the error of a response without a success status.
    async fn failure(&self, mut response: Response) -> LlmError {
        let status = response.status();

        // The status is what matters. A body that is cut off or never ends is shown as far as it was read.
        let limit = self.max_response_bytes.min(FAILURE_BYTES);
        let body = Body::read(&mut response, limit).await.bytes;

        let error = if is_redirect(status) {
            self.redirect(&response)
        } else {
            failure::of_status(status, &body, &self.address, self.protocol, &self.secrets)
        };

        let error = Origin::of(&response, &self.secrets)
            .sign(error)
            .with_body(self.secrets.body(&body));
        match retry_after(response.headers()) {
            Some(wait) => error.with_retry_after(wait),
            None => error,
        }
    }

    /// Returns the error of a connection that was lost during a stream.
    pub(super) fn broken_off(&self, error: reqwest::Error) -> LlmError {
        if error.is_timeout() {
            return self.broken(error);
        }

        let error = error.without_url();
        let message = format!(
            "{}: the reply broke off: {}",
            self.address,
            self.cause(&error)
        );

        LlmError::new(LlmErrorKind::InterruptedStream, message).with_source(error)
    }

    /// Returns the error of a redirect. It isn't followed, because that would send the conversation
    /// to a server that the user hasn't named.
    fn redirect(&self, response: &Response) -> LlmError {
        let location = response.headers().get(reqwest::header::LOCATION);
        let target = location.and_then(|value| self.endpoint.join(value.to_str().ok()?).ok());
        let host = target
            .as_ref()
            .and_then(Url::host_str)
            .unwrap_or("an unnamed host");
        let message = format!(
            "the server redirects to {}, and redirects are not followed; expected a base URL without redirects",
            self.secrets.line(host)
        );

        LlmError::new(LlmErrorKind::InvalidRequest, message)
    }

    /// Returns the error of a request that failed without a complete response.
    fn broken(&self, error: reqwest::Error) -> LlmError {
        // It contains the URL of the endpoint, which the message names without secrets.
        let error = error.without_url();
        let (kind, what) = match (error.is_timeout(), error.is_connect()) {
            (true, true) => (
                LlmErrorKind::Timeout,
                format!("no connection within {:?}", self.connect_timeout),
            ),
            (true, false) => (
                LlmErrorKind::Timeout,
                format!("no complete response within {:?}", self.timeout),
            ),
            (false, true) => (
                LlmErrorKind::Transport,
                format!("no connection: {}", self.cause(&error)),
            ),
            (false, false) => (
                LlmErrorKind::Transport,
                format!("the connection was lost: {}", self.cause(&error)),
            ),
        };

        let message = format!("{}: {what}", self.address);
        LlmError::new(kind, message).with_source(error)
    }

    /// Returns the innermost error; the outer ones only report that an inner one failed.
    fn cause(&self, error: &dyn Error) -> String {
        let mut cause = error;
        while let Some(source) = cause.source() {
            cause = source;
        }

        self.secrets.line(&cause.to_string())
    }
}

/// Returns whether the response is a redirect. Not every 3xx status is one, such as 304.
fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}
