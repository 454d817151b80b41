//! A call in a cassette.

use serde::{Deserialize, Serialize};

use super::call::Texts;
use super::calls::Recorded;
use super::failure::Failure;
use super::vectors::Vectors;
use crate::{ChatRequest, ChatResponse, Embeddings, LlmError};

/// A recorded call: a request with a response, or texts with their embeddings; or either of these
/// with an error.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Recording {
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
pub(super) enum Kind {
    Chat(Recorded<ChatRequest>),
    Embedding(Recorded<Texts>),
}

impl Recording {
    pub(super) fn of_chat(
        request: &ChatRequest,
        outcome: Result<&ChatResponse, &LlmError>,
    ) -> Self {
        Self {
            request: Some(request.clone()),
            response: outcome.ok().cloned(),
            error: outcome.err().map(Failure::of),
            complete: true,
            ..Self::default()
        }
    }

    pub(super) fn of_embedding(
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
    pub(super) fn kind(self, number: usize) -> Result<Kind, String> {
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
