//! Recorded calls: requests and their outcomes. A cassette is a YAML list, so that people can read
//! it, edit it and review changes.

use std::fmt::Display;
use std::path::Path;
use std::time::Duration;

use cogwork_text::Escaped;
use serde::{Deserialize, Serialize};

use crate::{ChatRequest, ChatResponse, LlmError, LlmErrorKind};

mod difference;
mod recorder;
pub use recorder::Recorder;
mod replay;
pub use replay::Replay;

/// A recorded call.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Recording {
    request: ChatRequest,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    response: Option<ChatResponse>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<Failure>,
    /// Written last, so that a truncated recording doesn't have it.
    #[serde(default)]
    complete: bool,
}

impl Recording {
    /// Returns why the recording cannot be replayed.
    fn problem(&self) -> Option<&'static str> {
        if !self.complete {
            return Some(
                "has no `complete: true`, so it may be truncated; expected it as the last key",
            );
        }

        match (&self.response, &self.error) {
            (Some(_), None) | (None, Some(_)) => None,
            (Some(_), Some(_)) => Some("has both a response and an error; expected one of them"),
            (None, None) => Some("has neither a response nor an error; expected one of them"),
        }
    }
}

/// An error without its source.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Failure {
    kind: LlmErrorKind,
    message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    body: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text_so_far: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
    #[serde(default = "one", skip_serializing_if = "is_one")]
    attempts: u32,
}

fn one() -> u32 {
    1
}

fn is_one(attempts: &u32) -> bool {
    *attempts == 1
}

impl Failure {
    fn of(error: &LlmError) -> Self {
        Self {
            kind: error.kind(),
            message: error.message().to_owned(),
            status: error.status(),
            retry_after_ms: error
                .retry_after()
                .map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)),
            body: error.body().map(str::to_owned),
            text_so_far: error.text_so_far().map(str::to_owned),
            request_id: error.request_id().map(str::to_owned),
            attempts: error.attempts(),
        }
    }

    fn error(&self) -> LlmError {
        let mut error =
            LlmError::new(self.kind, self.message.as_str()).with_attempts(self.attempts);
        if let Some(status) = self.status {
            error = error.with_status(status);
        }

        if let Some(wait) = self.retry_after_ms {
            error = error.with_retry_after(Duration::from_millis(wait));
        }

        if let Some(body) = &self.body {
            error = error.with_body(body.as_str());
        }

        if let Some(text) = &self.text_so_far {
            error = error.with_text_so_far(text.as_str());
        }

        match &self.request_id {
            Some(id) => error.with_request_id(id.as_str()),
            None => error,
        }
    }
}

/// Returns an error about the file itself.
fn wrong(path: &Path, what: impl Display) -> LlmError {
    LlmError::new(LlmErrorKind::Settings, message(path, what))
}

/// Returns a message about the cassette at `path`.
fn message(path: &Path, what: impl Display) -> String {
    format!("the cassette {}: {what}", Escaped::new(path.display()))
}
