use std::error::Error;
use std::fmt;
use std::time::Duration;

use cogwork_text::{Escaped, MultiLine, OneLine};
use serde::{Deserialize, Serialize};

/// The longest part of a message, of a body, and of a request id that is shown, in characters.
const SHOWN: usize = 1_000;

type BoxError = Box<dyn Error + Send + Sync>;

/// Why a call to a model failed.
///
/// `{}` is one line; `{:#}` adds a cut of the server's answer. `{:?}` is the same as `{:#}`, so
/// that a `main` which returns this error prints a sentence. The kind says what a program can
/// decide on; the rest is for people.
///
/// Message and body may be the words of a server. All three forms show at most 1,000 characters
/// of each, and nothing in them that a terminal would obey; [`message`](Self::message) and
/// [`body`](Self::body) give them as they are.
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
pub struct LlmError(Box<Inner>);

struct Inner {
    kind: LlmErrorKind,
    message: String,
    status: Option<u16>,
    retry_after: Option<Duration>,
    body: Option<String>,
    text_so_far: Option<String>,
    request_id: Option<String>,
    attempts: u32,
    source: Option<BoxError>,
}

/// What failed in a call to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LlmErrorKind {
    /// The client's own settings are wrong; nothing was sent.
    Settings,
    /// The key is missing, wrong, or not allowed to do this.
    Authentication,
    /// The account's money or allowance is used up.
    Quota,
    /// Too many calls or tokens in too short a time.
    RateLimit,
    /// The server has no capacity now.
    Overloaded,
    /// The server failed.
    Server,
    /// No whole answer came in time.
    Timeout,
    /// No connection, or it broke.
    Transport,
    /// The server does not accept the request as it stands.
    InvalidRequest,
    /// The conversation is longer than the model can read.
    ContextLength,
    /// A filter refused the conversation or the reply.
    ContentFilter,
    /// The server's answer is not what the protocol says.
    Decode,
    /// A reply that had begun broke off.
    InterruptedStream,
    /// What the program allows itself to spend is used up; nothing was sent.
    Budget,
    /// The call was given up by its caller.
    Cancelled,
    /// Anything else.
    Other,
}

impl LlmErrorKind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Settings => "settings",
            Self::Authentication => "authentication",
            Self::Quota => "quota",
            Self::RateLimit => "rate limit",
            Self::Overloaded => "overloaded",
            Self::Server => "server",
            Self::Timeout => "timeout",
            Self::Transport => "transport",
            Self::InvalidRequest => "invalid request",
            Self::ContextLength => "context length",
            Self::ContentFilter => "content filter",
            Self::Decode => "decode",
            Self::InterruptedStream => "interrupted stream",
            Self::Budget => "budget",
            Self::Cancelled => "cancelled",
            Self::Other => "other",
        }
    }
}

impl fmt::Display for LlmErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl LlmError {
    /// An error of this kind; `message` says what happened, best in one short line.
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
            source: None,
        }))
    }

    /// The HTTP status of the answer.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.0.status = Some(status);
        self
    }

    /// How long the server asks to wait before another try.
    #[must_use]
    pub fn with_retry_after(mut self, wait: Duration) -> Self {
        self.0.retry_after = Some(wait);
        self
    }

    /// A cut of the answer's body, shown by `{:#}`. It must hold no secret.
    #[must_use]
    pub fn with_body(mut self, body: impl Into<String>) -> Self {
        self.0.body = Some(body.into());
        self
    }

    /// What had come of the reply's text before it broke off. No form of the error shows it.
    #[must_use]
    pub fn with_text_so_far(mut self, text: impl Into<String>) -> Self {
        self.0.text_so_far = Some(text.into());
        self
    }

    /// The server's name of this call, for its people to find it by.
    #[must_use]
    pub fn with_request_id(mut self, id: impl Into<String>) -> Self {
        self.0.request_id = Some(id.into());
        self
    }

    /// How many attempts were made in all, this one counted. Unset: 1.
    #[must_use]
    pub fn with_attempts(mut self, attempts: u32) -> Self {
        self.0.attempts = attempts;
        self
    }

    /// The error underneath.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<BoxError>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// What failed.
    pub fn kind(&self) -> LlmErrorKind {
        self.0.kind
    }

    /// What happened, without kind and status, whole and as it was given.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The HTTP status of the answer, where there was one.
    pub fn status(&self) -> Option<u16> {
        self.0.status
    }

    /// How long the server asks to wait before another try, where it says.
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// A cut of the answer's body, where there was one.
    pub fn body(&self) -> Option<&str> {
        self.0.body.as_deref()
    }

    /// What had come of the reply's text, where it had begun.
    pub fn text_so_far(&self) -> Option<&str> {
        self.0.text_so_far.as_deref()
    }

    /// The server's name of this call, where it has one.
    pub fn request_id(&self) -> Option<&str> {
        self.0.request_id.as_deref()
    }

    /// How many attempts were made in all; this is the error of the last.
    pub fn attempts(&self) -> u32 {
        self.0.attempts
    }

    /// Adds to the message why something was left undone.
    pub(crate) fn with_note(mut self, note: fmt::Arguments<'_>) -> Self {
        self.0.message.push_str(&format!("; {note}"));
        self
    }

    /// Whether the same request may succeed later: rate limit, overload, a failing server, a
    /// timeout, a broken connection or stream. Quota is not: it comes back with money, not with time.
    pub fn is_retryable(&self) -> bool {
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

        write!(f, "{kind}: {}", OneLine::new(message).with_max_chars(SHOWN))?;

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

impl fmt::Debug for LlmError {
    /// As `{:#}`, and not field by field: it is what `main` and `unwrap` print.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:#}")
    }
}

impl Error for LlmError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}
