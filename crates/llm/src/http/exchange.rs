//! One HTTP exchange: sends a body, reads a bounded response, and names what went wrong.

use std::error::Error;
use std::time::{Duration, SystemTime};

use reqwest::header::{self, HeaderMap, HeaderValue};
use reqwest::{Response, StatusCode, Url};

use super::Protocol;
use super::failure;
use super::secrets::Secrets;
use crate::wire::unreadable;
use crate::{LlmError, LlmErrorKind};

/// The maximum number of bytes read of a failure's body. Errors show less.
const FAILURE_BYTES: usize = 64 * 1024;

/// A server and the HTTP client for it.
pub(crate) struct Exchange {
    pub(super) protocol: &'static Protocol,
    pub(super) http: reqwest::Client,
    pub(super) base_url: Url,
    /// The base URL as shown in errors.
    pub(super) shown_url: String,
    pub(super) timeout: Duration,
    pub(super) connect_timeout: Duration,
    pub(super) max_response_bytes: usize,
    pub(super) secrets: Secrets,
}

/// What identifies a response regardless of its body.
pub(super) struct Origin {
    /// The method and the URL of the request, as shown in errors.
    address: String,
    status: u16,
    pub(super) request_id: Option<String>,
}

impl Origin {
    fn of(response: &Response, address: String, secrets: &Secrets) -> Self {
        let headers = response.headers();
        let id = header_text(headers, "x-request-id").or(header_text(headers, "request-id"));

        Self {
            address,
            status: response.status().as_u16(),
            request_id: id.filter(|id| !id.is_empty()).map(|id| secrets.line(id)),
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

/// A request that failed, and the parameter that the server blames for it.
pub(super) struct Refusal {
    pub(super) error: LlmError,
    parameter: Option<String>,
}

impl Refusal {
    /// Returns whether the server refuses a part of the request by this name, and not only its value.
    pub(super) fn is_about(&self, name: &str) -> bool {
        let is_refused = matches!(self.error.status(), Some(400 | 404 | 422))
            && self.error.kind() == LlmErrorKind::InvalidRequest;
        let message = self.error.message();

        is_refused
            && !failure::is_about_a_value(message)
            && (self.parameter.as_deref() == Some(name) || failure::names(message, name))
    }
}

impl From<LlmError> for Refusal {
    fn from(error: LlmError) -> Self {
        Self {
            error,
            parameter: None,
        }
    }
}

impl Exchange {
    /// Sends a body and returns the response, and what identifies it, if its status is a success.
    pub(super) async fn open(
        &self,
        endpoint: &str,
        body: Vec<u8>,
        is_streamed: bool,
    ) -> Result<(Response, Origin), Refusal> {
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
        let response = request.send().await;
        let response = response.map_err(|error| self.broken(&address, error))?;
        let is_success = response.status().is_success();

        let origin = Origin::of(&response, address, &self.secrets);
        if is_success {
            Ok((response, origin))
        } else {
            Err(self.refusal(endpoint, response, &origin).await)
        }
    }

    /// Reads the whole response.
    pub(super) async fn read(
        &self,
        mut response: Response,
        origin: &Origin,
    ) -> Result<Vec<u8>, LlmError> {
        let (body, stop) = read_body(&mut response, self.max_response_bytes).await;

        let error = match stop {
            Stop::Complete => return Ok(body),
            Stop::Broken(error) => self.broken(&origin.address, error),
            Stop::TooLarge => self.too_large(),
        };
        Err(origin.sign(error).with_body(self.secrets.body(&body)))
    }

    pub(super) fn too_large(&self) -> LlmError {
        let limit = self.max_response_bytes;
        unreadable(format!("the response is over the limit of {limit} bytes"))
    }

    /// Returns the error of a response without a success status.
    async fn refusal(&self, endpoint: &str, mut response: Response, origin: &Origin) -> Refusal {
        let status = response.status();

        // The status is what matters. A body that is cut off or never ends is shown as far as it was
        // read.
        let limit = self.max_response_bytes.min(FAILURE_BYTES);
        let (body, _) = read_body(&mut response, limit).await;

        let failure = if is_redirect(status) {
            failure::Failure::from(self.redirect(&response))
        } else {
            let path = self.protocol.path(endpoint);
            failure::of_status(
                status,
                &body,
                &origin.address,
                &format!("{path}{}", self.protocol.hint),
                &self.secrets,
            )
        };

        let error = origin
            .sign(failure.error)
            .with_body(self.secrets.body(&body));
        let error = match retry_after(response.headers()) {
            Some(wait) => error.with_retry_after(wait),
            None => error,
        };
        Refusal {
            error,
            parameter: failure.parameter,
        }
    }

    /// Returns the error of a connection that was lost during a stream.
    pub(super) fn broken_off(&self, origin: &Origin, error: reqwest::Error) -> LlmError {
        let address = &origin.address;
        if error.is_timeout() {
            return self.broken(address, error);
        }

        let error = error.without_url();
        let cause = self.cause(&error);
        let message = format!("{address}: the reply broke off: {cause}");
        LlmError::new(LlmErrorKind::InterruptedStream, message).with_source(error)
    }

    /// Returns the error of a redirect. It isn't followed, because that would send the conversation
    /// to a server that the user hasn't named.
    fn redirect(&self, response: &Response) -> LlmError {
        let location = header_text(response.headers(), "location");
        let target = location.and_then(|location| self.base_url.join(location).ok());
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
    fn broken(&self, address: &str, error: reqwest::Error) -> LlmError {
        // It contains the URL of the endpoint, which the message names without secrets.
        let error = error.without_url();
        let cause = self.cause(&error);
        let (kind, what) = match (error.is_timeout(), error.is_connect()) {
            (true, true) => (
                LlmErrorKind::Timeout,
                format!("no connection within {:?}", self.connect_timeout),
            ),
            (true, false) => (
                LlmErrorKind::Timeout,
                format!("no complete response within {:?}", self.timeout),
            ),
            (false, true) => (LlmErrorKind::Transport, format!("no connection: {cause}")),
            (false, false) => (
                LlmErrorKind::Transport,
                format!("the connection was lost: {cause}"),
            ),
        };

        LlmError::new(kind, format!("{address}: {what}")).with_source(error)
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

/// Why reading a body ended.
enum Stop {
    Complete,
    TooLarge,
    Broken(reqwest::Error),
}

/// Reads up to `limit` bytes in chunks. The stated length of a body may be wrong, and a body without
/// one may never end.
async fn read_body(response: &mut Response, limit: usize) -> (Vec<u8>, Stop) {
    let mut bytes = Vec::new();

    let stop = loop {
        let chunk = match response.chunk().await {
            Ok(Some(chunk)) => chunk,
            Ok(None) => break Stop::Complete,
            Err(error) => break Stop::Broken(error),
        };

        let room = limit.saturating_sub(bytes.len());
        bytes.extend_from_slice(chunk.get(..room).unwrap_or(&chunk));
        if chunk.len() > room {
            break Stop::TooLarge;
        }
    };

    (bytes, stop)
}

/// Returns whether the response is a redirect. Not every 3xx status is one, such as 304.
fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

fn header_text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

/// Returns how long the server asks to wait: `retry-after-ms`, or `Retry-After` in seconds
/// (possibly fractional) or as a date.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let milliseconds = header_text(headers, "retry-after-ms");
    if let Some(wait) = milliseconds.and_then(|text| number(text, 1000.0)) {
        return Some(wait);
    }

    let wait = header_text(headers, "retry-after")?;
    if let Some(wait) = number(wait, 1.0) {
        return Some(wait);
    }

    // Prefers the server's clock, if the response includes it, because the local clock may differ.
    let until = httpdate::parse_http_date(wait).ok()?;
    let now = header_text(headers, "date").and_then(|date| httpdate::parse_http_date(date).ok());
    let now = now.unwrap_or_else(SystemTime::now);

    // A date in the past means now.
    Some(until.duration_since(now).unwrap_or_default())
}

/// Parses a number of units, of which `per_second` make a second. Returns `None` for numbers that
/// aren't a valid wait: `inf`, `nan`, `-1`, `1e300`.
fn number(text: &str, per_second: f64) -> Option<Duration> {
    let units: f64 = text.parse().ok()?;
    Duration::try_from_secs_f64(units / per_second).ok()
}
