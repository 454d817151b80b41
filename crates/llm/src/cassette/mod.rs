//! Recorded calls: requests and their outcomes. A cassette is a YAML list, so that people can read
//! it, edit it and review changes.

use std::fmt::Display;
use std::path::Path;

use cogwork_text::Escaped;

use crate::{LlmError, LlmErrorKind};

mod call;
mod calls;
mod difference;
mod failure;
mod recorder;
pub use recorder::Recorder;
mod recording;
mod replay;
pub use replay::Replay;
mod vectors;

/// Returns an error about the file itself.
fn wrong(path: &Path, what: impl Display) -> LlmError {
    LlmError::new(LlmErrorKind::Settings, message(path, what))
}

/// Returns a message about the cassette at `path`.
fn message(path: &Path, what: impl Display) -> String {
    format!("the cassette {}: {what}", Escaped::new(path.display()))
}
