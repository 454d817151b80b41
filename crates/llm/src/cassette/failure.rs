//! An error in a cassette.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{LlmError, LlmErrorKind};

/// An error without its source.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Failure {
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
    pub(super) fn of(error: &LlmError) -> Self {
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

    pub(super) fn error(&self) -> LlmError {
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
