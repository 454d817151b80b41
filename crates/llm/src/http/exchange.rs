use std::error::Error;
use std::time::Duration;

use reqwest::header::{self, HeaderValue};
use reqwest::{RequestBuilder, Response, StatusCode, Url};

use super::excerpt::Secrets;
use super::failure;
use super::protocol::Protocol;
use super::retry_after::retry_after;
use crate::{LlmError, LlmErrorKind};

/// The most that is read of the body of a failure, in bytes: it is for people, who see less.
const FAILURE_BYTES: usize = 64 * 1024;

/// One address, and how to send to it.
pub(crate) struct Exchange {
    pub(super) protocol: &'static Protocol,
    pub(super) http: reqwest::Client,
    pub(super) endpoint: Url,
    /// Method and endpoint as errors show them.
    pub(super) address: String,
    pub(super) timeout: Duration,
    pub(super) connect_timeout: Duration,
    pub(super) max_response_bytes: usize,
    pub(super) secrets: Secrets,
}

/// A whole answer with a good status.
pub(super) struct Answer {
    pub(super) origin: Origin,
    pub(super) body: Vec<u8>,
}

/// What identifies an answer, whatever is in it.
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

    /// The error of this answer.
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

    /// The error of a status that is no success.
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

    /// The error of a connection that broke within a stream.
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

    /// A redirect is not followed: it would carry the conversation to a place nobody named.
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

    /// The error of an exchange that came to no end.
    fn broken(&self, error: reqwest::Error) -> LlmError {
        // The address in it is the endpoint's, which the message names without its secrets.
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

    /// What is underneath all the layers, each of which only says that the next one failed.
    fn cause(&self, error: &dyn Error) -> String {
        let mut cause = error;
        while let Some(source) = cause.source() {
            cause = source;
        }

        self.secrets.line(&cause.to_string())
    }
}

/// Whether the answer names another address. The other statuses from 300 on do not: 304 tells of a
/// cache.
fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}
