//! Recorded calls: requests and their outcomes. A cassette is a YAML list, so that people can read
//! it, edit it and review changes.

use std::fmt::Display;
use std::path::Path;
use std::time::Duration;

use cogwork_text::Escaped;
use serde::{Deserialize, Serialize};

use crate::{ChatRequest, ChatResponse, Embeddings, LlmError, LlmErrorKind};
use call::Texts;
use calls::Recorded;
use vectors::Vectors;

mod call;
mod calls;
mod difference;
mod recorder;
pub use recorder::Recorder;
mod replay;
pub use replay::Replay;
mod vectors;

/// A recorded call: a request with a response, or texts with their embeddings; or either of these
/// with an error.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Recording {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request: Option<ChatRequest>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    embed: Option<Texts>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    response: Option<ChatResponse>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    embeddings: Option<Vectors>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<Failure>,
    /// Written last, so that a truncated recording doesn't have it.
    #[serde(default)]
    complete: bool,
}

/// A recording of one of the two kinds.
enum Kind {
    Chat(Recorded<ChatRequest>),
    Embedding(Recorded<Texts>),
}

impl Recording {
    fn of_chat(request: &ChatRequest, outcome: Result<&ChatResponse, &LlmError>) -> Self {
        Self {
            request: Some(request.clone()),
            response: outcome.ok().cloned(),
            error: outcome.err().map(Failure::of),
            complete: true,
            ..Self::default()
        }
    }

    fn of_embedding(
        model: &str,
        texts: &[String],
        outcome: Result<&Embeddings, &LlmError>,
    ) -> Self {
        Self {
            embed: Some(Texts {
                model: model.to_owned(),
                texts: texts.to_vec(),
            }),
            embeddings: outcome.ok().map(Vectors::from),
            error: outcome.err().map(Failure::of),
            complete: true,
            ..Self::default()
        }
    }

    /// Returns what is recorded, or why it cannot be replayed.
    fn kind(self, number: usize) -> Result<Kind, String> {
        if !self.complete {
            return Err(
                "has no `complete: true`, so it may be truncated; expected it as the last key"
                    .to_owned(),
            );
        }

        match (self.request, self.embed) {
            (Some(_), Some(_)) => {
                Err("has both `request` and `embed`; expected one of them".to_owned())
            }
            (None, None) => Err("has no `request`; expected it, or `embed`".to_owned()),
            (Some(_), None) if self.embeddings.is_some() => {
                Err("has `embeddings` for a request; expected a response".to_owned())
            }
            (None, Some(_)) if self.response.is_some() => {
                Err("has a response to `embed`; expected `embeddings`".to_owned())
            }
            (Some(request), None) => {
                let outcome = outcome(self.response, self.error, "a response")?;
                Ok(Kind::Chat(Recorded {
                    number,
                    request,
                    outcome,
                }))
            }
            (None, Some(request)) => {
                let embeddings = self
                    .embeddings
                    .map(|vectors| vectors.embeddings(request.texts.len()));
                let embeddings = embeddings
                    .transpose()
                    .map_err(|error| format!("cannot be used: {}", error.message()))?;

                let outcome = outcome(embeddings, self.error, "embeddings")?;
                Ok(Kind::Embedding(Recorded {
                    number,
                    request,
                    outcome,
                }))
            }
        }
    }
}

/// Returns the one outcome of a recording. `what` is the name of a response.
fn outcome<R>(
    response: Option<R>,
    error: Option<Failure>,
    what: &str,
) -> Result<Result<R, Failure>, String> {
    match (response, error) {
        (Some(response), None) => Ok(Ok(response)),
        (None, Some(error)) => Ok(Err(error)),
        (Some(_), Some(_)) => Err(format!(
            "has both {what} and an error; expected one of them"
        )),
        (None, None) => Err(format!(
            "has neither {what} nor an error; expected one of them"
        )),
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
