use std::error::Error;
use std::fmt;
use std::iter::successors;
use std::time::Duration;

use cogwork_text::{Escaped, MultiLine, OneLine};
use serde::{Deserialize, Serialize};

/// The maximum length of a message, a body or a request id when shown, in characters.
const SHOWN: usize = 1_000;

type BoxError = Box<dyn Error + Send + Sync>;

/// An error of a call to a model.
///
/// `{}` is one line, and `{:#}` adds an excerpt of the response body. `{:?}` is the same as `{:#}`,
/// so that a `main` that returns this error prints a sentence. Programs should use the kind to
/// decide what to do; everything else is for people.
///
/// It is saved as JSON without its source.
///
/// Message and body may come from a server. All three forms show at most 1,000 characters of each,
/// with control characters escaped. [`message`](Self::message) and [`body`](Self::body) return them
/// unchanged.
///
/// ```
/// use std::time::Duration;
/// use cogwork_llm::{LlmError, LlmErrorKind};
///
/// let error = LlmError::new(LlmErrorKind::RateLimit, "too many requests")
///     .with_status(429)
///     .with_retry_after(Duration::from_secs(2));
/// assert!(error.is_retryable());
/// assert_eq!(error.to_string(), "rate limit: too many requests (status 429, retry after 2s)");
/// assert_eq!(format!("{error:?}"), format!("{error:#}"));
/// ```
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub struct LlmError(Box<Inner>);

#[derive(Serialize, Deserialize)]
struct Inner {
    kind: LlmErrorKind,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after: Option<Duration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text_so_far: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
    attempts: u32,
    /// Whether a retry is of no use, whatever the kind.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_final: bool,
    #[serde(skip)]
    source: Option<BoxError>,
}

/// The kind of an [`LlmError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LlmErrorKind {
    /// The client's settings are invalid. Nothing was sent.
    Settings,
    /// The API key is missing or invalid, or doesn't have the required permission.
    Authentication,
    /// The account's credit or quota is used up.
    Quota,
    /// Too many calls or tokens in a period of time.
    RateLimit,
    /// The server has no capacity at the moment.
    Overloaded,
    /// The server failed.
    Server,
    /// No complete response within the time limit.
    Timeout,
    /// The connection could not be established, or was lost.
    Transport,
    /// The server does not accept the request.
    InvalidRequest,
    /// The conversation is longer than the model's context.
    ContextLength,
    /// A filter refused the conversation or the reply.
    ContentFilter,
    /// The response does not follow the protocol.
    Decode,
    /// The reply was interrupted after it had begun.
    InterruptedStream,
    /// The program's own budget is spent. Nothing was sent.
    Budget,
    /// The caller cancelled the call.
    Cancelled,
    /// Anything else.
    Other,
}

impl fmt::Display for LlmErrorKind {
    /// Writes the kind as it is saved, with spaces.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let saved = serde_json::to_string(self).unwrap_or_default();
        f.write_str(&saved.trim_matches('"').replace('_', " "))
    }
}

impl LlmError {
    /// Creates an error; `message` describes what happened, preferably in one short line.
    pub fn new(kind: LlmErrorKind, message: impl Into<String>) -> Self {
        let message = message.into();
        Self(Box::new(Inner {
            kind,
            message,
            status: None,
            retry_after: None,
            body: None,
            text_so_far: None,
            request_id: None,
            attempts: 1,
            is_final: false,
            source: None,
        }))
    }

    /// Sets the HTTP status of the response.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.0.status = Some(status);
        self
    }

    /// Sets how long the server asks to wait before a retry.
    #[must_use]
    pub fn with_retry_after(mut self, wait: Duration) -> Self {
        self.0.retry_after = Some(wait);
        self
    }

    /// Sets an excerpt of the response body, which `{:#}` shows. It must not contain secrets.
    #[must_use]
    pub fn with_body(mut self, body: impl Into<String>) -> Self {
        self.0.body = Some(body.into());
        self
    }

    /// Sets the text of the reply before it was interrupted. The text is not shown when the error
    /// is formatted.
    #[must_use]
    pub fn with_text_so_far(mut self, text: impl Into<String>) -> Self {
        self.0.text_so_far = Some(text.into());
        self
    }

    /// Sets the server's id of this call, for support requests.
    #[must_use]
    pub fn with_request_id(mut self, id: impl Into<String>) -> Self {
        self.0.request_id = Some(id.into());
        self
    }

    /// Sets the total number of attempts. The default is 1.
    #[must_use]
    pub fn with_attempts(mut self, attempts: u32) -> Self {
        self.0.attempts = attempts;
        self
    }

    /// Sets the underlying error.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<BoxError>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// Returns the kind.
    pub fn kind(&self) -> LlmErrorKind {
        self.0.kind
    }

    /// Returns the message without kind and status, unchanged and unabridged.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the HTTP status of the response, if there was one.
    pub fn status(&self) -> Option<u16> {
        self.0.status
    }

    /// Returns how long the server asks to wait before a retry, if it does.
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// Returns an excerpt of the response body, if there was one.
    pub fn body(&self) -> Option<&str> {
        self.0.body.as_deref()
    }

    /// Returns the text of the reply before it was interrupted, if it had begun.
    pub fn text_so_far(&self) -> Option<&str> {
        self.0.text_so_far.as_deref()
    }

    /// Returns the server's id of this call, if it has one.
    pub fn request_id(&self) -> Option<&str> {
        self.0.request_id.as_deref()
    }

    /// Returns the total number of attempts. This is the error of the last one.
    pub fn attempts(&self) -> u32 {
        self.0.attempts
    }

    /// Replaces the texts of the error, for example to hide secrets. The sources are replaced with
    /// their texts, unless these stay the same.
    #[must_use]
    pub fn map_texts(mut self, replace: impl Fn(&str) -> String) -> Self {
        /// The maximum number of sources.
        const MAX_SOURCES: usize = 16;

        let sources = successors(self.source(), |&source| source.source());
        // The sources are those of other crates, and nobody promises that they end.
        let sources = sources.take(MAX_SOURCES).map(ToString::to_string);
        let sources = sources.collect::<Vec<_>>().join(": ");
        let replaced = replace(&sources);

        let inner = &mut *self.0;
        inner.message = replace(&inner.message);
        inner.body = inner.body.as_deref().map(&replace);
        inner.request_id = inner.request_id.as_deref().map(&replace);
        // A source that became a text can no longer be downcast.
        if replaced != sources {
            inner.source = Some(replaced.into());
        }
        self
    }

    /// Replaces the message.
    #[cfg(feature = "http")]
    pub(crate) fn with_message(mut self, message: String) -> Self {
        self.0.message = message;
        self
    }

    /// Appends a note to the message.
    pub(crate) fn with_note(mut self, note: fmt::Arguments<'_>) -> Self {
        self.0.message.push_str(&format!("; {note}"));
        self
    }

    /// Marks an error that would only be repeated by a retry, so that wrappers further out don't.
    pub(crate) fn not_retryable(mut self) -> Self {
        self.0.is_final = true;
        self
    }

    /// Returns whether the same request may succeed soon: after a rate limit, an overload, a
    /// server failure, a timeout, or an interrupted connection or stream. An exhausted quota is not
    /// retryable, because waiting doesn't restore it. Neither is a wait that a
    /// [`RateLimit`](crate::layers::RateLimit) or [`Retry`](crate::layers::Retry) has found too long.
    pub fn is_retryable(&self) -> bool {
        self.is_of_a_kind_that_passes() && !self.0.is_final
    }

    /// Returns whether the server or the connection to it is at fault, which may work again later.
    pub(crate) fn is_of_a_kind_that_passes(&self) -> bool {
        use LlmErrorKind as Kind;

        matches!(
            self.0.kind,
            Kind::RateLimit
                | Kind::Overloaded
                | Kind::Server
                | Kind::Timeout
                | Kind::Transport
                | Kind::InterruptedStream
        )
    }
}

impl fmt::Display for LlmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner {
            kind,
            message,
            status,
            retry_after,
            body,
            request_id,
            attempts,
            ..
        } = self.0.as_ref();

        // That it is of no other kind says nothing.
        if *kind != LlmErrorKind::Other {
            write!(f, "{kind}: ")?;
        }
        write!(f, "{}", OneLine::new(message).with_max_chars(SHOWN))?;

        let known = [
            status.map(|status| format!("status {status}")),
            retry_after.map(|wait| format!("retry after {wait:?}")),
            request_id
                .as_ref()
                .map(|id| format!("request {}", Escaped::new(id).with_max_chars(SHOWN))),
        ];

        let known = known.into_iter().flatten().collect::<Vec<_>>().join(", ");
        if !known.is_empty() {
            write!(f, " ({known})")?;
        }

        if *attempts > 1 {
            write!(f, ", after {attempts} attempts")?;
        }

        if let (true, Some(body)) = (f.alternate(), body) {
            write!(f, "\n{}", MultiLine::new(body).with_max_chars(SHOWN))?;
        }

        Ok(())
    }
}

cogwork_text::debug_as_display!(LlmError);

impl Error for LlmError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}
