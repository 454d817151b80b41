//! Serialises outcomes.

use cogwork_text::OneLine;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Json;

/// An outcome that cannot be recorded, or cannot be read from the record.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OutcomeProblem {
    /// Its JSON is larger than this number of bytes.
    #[error("the outcome is larger than the {_0} bytes that may be recorded")]
    TooLarge(usize),
    /// It cannot be written as JSON and read back, because it contains a map whose keys aren't
    /// text, a number that is NaN or infinite, or more than about 120 levels of nesting. Inside an
    /// `Option`, NaN becomes `None` unnoticed.
    #[error("the outcome cannot be read back unchanged: {}", OneLine::new(_0))]
    NotRecordable(String),
    /// The recorded value isn't an outcome of this node.
    #[error("the recorded outcome cannot be read: {}", OneLine::new(_0))]
    Unreadable(String),
}

cogwork_text::debug_as_display!(OutcomeProblem);

impl OutcomeProblem {
    /// Returns the details, without what is wrong.
    pub fn detail(&self) -> String {
        match self {
            Self::TooLarge(bytes) => format!("{bytes} bytes"),
            Self::NotRecordable(detail) | Self::Unreadable(detail) => detail.clone(),
        }
    }
}

/// Serialises a value as JSON of at most `at_most` bytes on one line.
pub(crate) fn encode(value: &impl Serialize, at_most: usize) -> Result<Json, OutcomeProblem> {
    let json = serde_json::to_string(value)
        .map_err(|error| OutcomeProblem::NotRecordable(error.to_string()))?;

    if json.len() > at_most {
        return Err(OutcomeProblem::TooLarge(at_most));
    }

    // Only a text that was JSON before, a `RawValue`, can have more than one line, and the line breaks
    // in it are between values.
    if json.contains(['\n', '\r']) {
        return Ok(Json::from_record(&json.replace(['\n', '\r'], " ")));
    }

    Ok(Json::from_record(&json))
}

/// Serialises an outcome, and reads it back: a run must see the same outcome as its replay.
pub(crate) fn recordable<T: Serialize + DeserializeOwned>(
    outcome: &T,
    at_most: usize,
) -> Result<(Json, T), OutcomeProblem> {
    // The size is checked first, so that an outcome that is too large isn't parsed as well.
    let json = encode(outcome, at_most)?;
    let outcome = json.read_or(OutcomeProblem::NotRecordable)?;
    Ok((json, outcome))
}
