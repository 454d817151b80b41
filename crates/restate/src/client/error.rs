use cogwork_text::{ErrorText, Name};

/// An error of a [`Client`](crate::Client).
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The address of Restate isn't one that requests can be sent to.
    #[error("`{}` isn't an address of Restate; expected one such as `http://127.0.0.1:8080`", Name(.0))]
    Address(String),
    /// An HTTP client with TLS cannot be created.
    #[error("the system's certificates cannot be read; expected at least one: {}", ErrorText(.0))]
    Tls(String),
    /// A run cannot have this key.
    #[error("`{}` cannot be the key of a run; {expected}", Name(.key))]
    Key {
        /// The key.
        key: String,
        /// What would have been accepted.
        expected: &'static str,
    },
    /// A message is larger than the limit.
    #[error("{what} has {size} bytes; at most {max} are allowed")]
    TooLarge {
        /// The name of the message.
        what: &'static str,
        /// The size in bytes.
        size: usize,
        /// The maximum size in bytes.
        max: usize,
    },
    /// The request could not be sent, or its response could not be received.
    #[error("Restate cannot be reached: {}", ErrorText(.0))]
    Unreachable(reqwest::Error),
    /// Restate refused the request, or the run ended with an error.
    #[error("{} (status {status})", ErrorText(.message))]
    Refused {
        /// The HTTP status: 408 after a deadline, 409 if the run was cancelled, 500 if it failed.
        status: u16,
        /// The message.
        message: String,
    },
    /// A value cannot be written as JSON, or the response isn't the expected value.
    #[error("{what} isn't the expected JSON: {}", ErrorText(.source))]
    Json {
        /// The name of the value.
        what: &'static str,
        /// What is wrong.
        source: serde_json::Error,
    },
}

cogwork_text::debug_as_display!(ClientError);

impl ClientError {
    /// Returns whether the run was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.has_status(crate::stopped::code::CANCELLED)
    }

    /// Returns whether the run reached its deadline.
    pub fn is_deadline(&self) -> bool {
        self.has_status(crate::stopped::code::DEADLINE)
    }

    /// Returns whether there was no answer, so that the request can be repeated.
    pub fn is_unreachable(&self) -> bool {
        matches!(self, Self::Unreachable(_))
    }

    fn has_status(&self, expected: u16) -> bool {
        matches!(self, Self::Refused { status, .. } if *status == expected)
    }
}

/// The body of a response with an error.
#[derive(serde::Deserialize)]
struct Body {
    message: String,
}

/// The maximum length of an error that isn't JSON, in characters.
const MAX_MESSAGE: usize = 1_000;

/// Returns the error of a response that isn't a success.
pub(super) fn refused(status: u16, body: &[u8]) -> ClientError {
    let message = match serde_json::from_slice::<Body>(body) {
        Ok(body) => body.message,
        Err(_) => {
            let text = String::from_utf8_lossy(body);
            // A proxy in between may answer with a page.
            text.chars().take(MAX_MESSAGE).collect()
        }
    };

    ClientError::Refused { status, message }
}
