//! One HTTP exchange: sends a body, reads a bounded response, and names what went wrong.

use std::error::Error;
use std::time::{Duration, SystemTime};

use reqwest::header::{self, HeaderMap, HeaderValue};
use reqwest::{Response, Url};
use serde_json::Value;

use super::failure::{self, Refusal, parse};
use super::secrets::Secrets;
use super::settings::CONNECT_TIMEOUT;
use super::{Protocol, header_text};
use crate::wire::{invalid, unreadable};
use crate::{LlmError, LlmErrorKind};

/// A connection to a server, with everything about it that is not part of a format.
pub(crate) struct Exchange {
    pub(super) protocol: &'static Protocol,
    pub(super) http: reqwest::Client,
    pub(super) base_url: Url,
    /// The base URL as given, without secrets and without its query.
    pub(super) shown_url: String,
    pub(super) timeout: Duration,
    pub(super) max_response_bytes: usize,
    pub(super) secrets: Secrets,
}

/// Where a response comes from, for errors about it.
pub(super) struct Origin {
    pub(super) address: String,
    status: u16,
    pub(super) request_id: Option<String>,
}

impl Origin {
    fn of(response: &Response, address: String, secrets: &Secrets) -> Self {
        let headers = response.headers();
        // OpenAI's name for it, and Anthropic's.
        let id = header_text(headers, "x-request-id").or(header_text(headers, "request-id"));

        Self {
            address,
            status: response.status().as_u16(),
            request_id: id.filter(|id| !id.is_empty()).map(|id| secrets.line(id)),
        }
    }
}

impl Exchange {
    /// Sends a body. Returns the response if it has a success status, of which only the head has been
    /// read.
    pub(super) async fn open(
        &self,
        endpoint: &str,
        body: Vec<u8>,
        is_streamed: bool,
    ) -> Result<(Response, Origin), Refusal> {
        // People paste base URLs with and without a slash at the end.
        let path = self.base_url.path().trim_end_matches('/');
        let mut url = self.base_url.clone();
        url.set_path(&self.protocol.path_after(path, endpoint));

        let mut request = self.http.post(url).body(body);
        if is_streamed {
            let accepted = HeaderValue::from_static("text/event-stream, */*");
            request = request.header(header::ACCEPT, accepted);
        }

        let shown = self.protocol.path_after(&self.shown_url, endpoint);
        let address = format!("POST {shown}");
        let lost = |error| self.broken(&address, error, LlmErrorKind::Transport);
        let response = request.send().await.map_err(lost)?;

        let origin = Origin::of(&response, address, &self.secrets);
        if response.status().is_success() {
            return Ok((response, origin));
        }
        Err(self.refusal(endpoint, response, &origin).await)
    }

    /// Reads the body of a response with a success status: a JSON object.
    pub(super) async fn read<T>(
        &self,
        mut response: Response,
        origin: &Origin,
        decode: impl FnOnce(&Value, &[u8]) -> Result<T, LlmError>,
    ) -> Result<T, LlmError> {
        let (body, problem) = self.body(&mut response, origin).await;
        let decoded = match problem {
            Some(error) => Err(error),
            None => parse(&body).and_then(|value| decode(&value, &body)),
        };
        decoded.map_err(|error| {
            let error = self.sign(error, origin);
            error.with_body(self.secrets.body(&body))
        })
    }

    /// Returns the body as far as it could be read, and why it isn't whole.
    async fn body(&self, response: &mut Response, origin: &Origin) -> (Vec<u8>, Option<LlmError>) {
        let mut bytes = Vec::new();

        loop {
            let chunk = match response.chunk().await {
                Ok(Some(chunk)) => chunk,
                Ok(None) => return (bytes, None),
                Err(error) => {
                    let lost = self.broken(&origin.address, error, LlmErrorKind::Transport);
                    return (bytes, Some(lost));
                }
            };

            // What fits is kept, so that the error shows how the response begins.
            let room = self.max_response_bytes.saturating_sub(bytes.len());
            bytes.extend_from_slice(chunk.get(..room).unwrap_or(&chunk));
            if chunk.len() > room {
                return (bytes, Some(self.too_large()));
            }
        }
    }

    /// Returns an error about a response, without secrets.
    pub(super) fn sign(&self, error: LlmError, origin: &Origin) -> LlmError {
        let message = self.secrets.line(error.message());
        let error = error.with_message(message).with_status(origin.status);
        match &origin.request_id {
            Some(id) => error.with_request_id(id.as_str()),
            None => error,
        }
    }

    pub(super) fn too_large(&self) -> LlmError {
        let limit = self.max_response_bytes;
        unreadable(format!("the response is over the limit of {limit} bytes"))
    }

    async fn refusal(&self, endpoint: &str, mut response: Response, origin: &Origin) -> Refusal {
        let status = response.status();

        // The status is what matters. A body that is cut off or never ends is shown as far as it was
        // read.
        let (body, _) = self.body(&mut response, origin).await;

        let Refusal { error, parameter } = match status.as_u16() {
            // Following a redirect would send the key to a host that nobody chose.
            301 | 302 | 303 | 307 | 308 => self.redirect(response.headers()).into(),
            _ => {
                let end = format!("{}{}", self.protocol.path(endpoint), self.protocol.hint);
                failure::of_status(status, &body, &origin.address, &end)
            }
        };

        let error = self.sign(error, origin);
        let mut error = error.with_body(self.secrets.body(&body));
        if let Some(wait) = retry_after(response.headers()) {
            error = error.with_retry_after(wait);
        }
        Refusal { error, parameter }
    }

    fn redirect(&self, headers: &HeaderMap) -> LlmError {
        let location = header_text(headers, "location").unwrap_or_default();
        let target = self.base_url.join(location).ok();
        let host = target.as_ref().and_then(Url::host_str).unwrap_or_default();
        invalid(format!(
            "the server redirects to {host}, and redirects are not followed; expected a base URL without redirects"
        ))
    }

    /// Returns the error of a connection, whose kind is `lost` unless the time is up.
    pub(super) fn broken(
        &self,
        address: &str,
        error: reqwest::Error,
        lost: LlmErrorKind,
    ) -> LlmError {
        // It contains the URL of the endpoint, which the message names without secrets.
        let error = error.without_url();
        let cause = self.cause(&error);
        let limit = self.timeout;
        let timeout = LlmErrorKind::Timeout;
        let (kind, what) = match (error.is_timeout(), error.is_connect()) {
            (true, true) => (timeout, format!("no connection within {CONNECT_TIMEOUT:?}")),
            (true, false) => (timeout, format!("no complete response within {limit:?}")),
            (false, true) => (lost, format!("no connection: {cause}")),
            (false, false) => (lost, format!("the connection was lost: {cause}")),
        };

        LlmError::new(kind, format!("{address}: {what}")).with_source(error)
    }

    /// Returns the innermost source of an error; the others only say that something failed.
    fn cause(&self, error: &dyn Error) -> String {
        let mut cause = error;
        while let Some(source) = cause.source() {
            cause = source;
        }

        self.secrets.line(&cause.to_string())
    }
}

/// Returns how long the server asks to wait. A date in the past means now.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let number = |name: &str, per_second: f64| {
        let units: f64 = header_text(headers, name)?.parse().ok()?;
        // Fails for negative and for endless times.
        Duration::try_from_secs_f64(units / per_second).ok()
    };
    let until_date = || {
        let date = httpdate::parse_http_date(header_text(headers, "retry-after")?).ok()?;
        Some(date.duration_since(SystemTime::now()).unwrap_or_default())
    };

    // The most exact one first: some servers send two of them.
    number("retry-after-ms", 1000.0)
        .or_else(|| number("retry-after", 1.0))
        .or_else(until_date)
}
