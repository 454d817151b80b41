//! Recorded calls: a file of JSON lines, each with a request and what came back.

use std::fmt::Display;
use std::path::Path;

use cogwork_text::Escaped;
use serde::{Deserialize, Serialize};

use crate::{ChatRequest, ChatResponse, LlmError, LlmErrorKind};

mod recorder;
pub use recorder::Recorder;
mod replay;
pub use replay::Replay;

/// A recorded call, with either a response or an error.
#[derive(Serialize, Deserialize)]
struct Recording<Q = ChatRequest, R = ChatResponse, E = LlmError> {
    request: Q,
    #[serde(skip_serializing_if = "Option::is_none")]
    response: Option<R>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<E>,
}

/// Returns an error about the cassette at `path`.
fn problem(kind: LlmErrorKind, path: &Path, what: impl Display) -> LlmError {
    let path = Escaped::new(path.display());
    LlmError::new(kind, format!("the cassette {path}: {what}"))
}
