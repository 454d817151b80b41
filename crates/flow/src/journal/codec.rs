//! Serialises outcomes.

use std::fmt;
use std::io::{self, Write};

use cogwork_text::OneLine;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Json;

/// An outcome that cannot be recorded, or cannot be read from the record.
pub struct OutcomeProblem {
    kind: OutcomeProblemKind,
    detail: String,
}

cogwork_text::debug_as_display!(OutcomeProblem);

/// What is wrong with an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutcomeProblemKind {
    /// It is larger than the maximum size.
    TooLarge,
    /// It cannot be written as JSON and read back, because it contains a map whose keys aren't
    /// text, a number that is NaN or infinite, or more than about 120 levels of nesting.
    NotRecordable,
    /// The recorded value isn't an outcome of this node.
    Unreadable,
}

impl OutcomeProblem {
    pub(super) fn new(kind: OutcomeProblemKind, detail: impl fmt::Display) -> Self {
        Self {
            kind,
            detail: detail.to_string(),
        }
    }

    /// Returns the details, without what is wrong.
    pub fn detail(&self) -> &str {
        &self.detail
    }

    /// Returns what is wrong.
    pub fn kind(&self) -> OutcomeProblemKind {
        self.kind
    }
}

impl fmt::Display for OutcomeProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let detail = OneLine::new(&self.detail);

        match self.kind {
            OutcomeProblemKind::TooLarge => {
                write!(
                    f,
                    "the outcome is larger than the {detail} that may be recorded"
                )
            }
            OutcomeProblemKind::NotRecordable => {
                write!(f, "the outcome cannot be read back unchanged: {detail}")
            }
            OutcomeProblemKind::Unreadable => {
                write!(f, "the recorded outcome cannot be read: {detail}")
            }
        }
    }
}

impl std::error::Error for OutcomeProblem {}

/// Serialises a value as JSON of at most `at_most` bytes on one line.
pub(crate) fn encode(value: &impl Serialize, at_most: usize) -> Result<Json, OutcomeProblem> {
    let mut bytes = Bounded {
        bytes: Vec::new(),
        at_most,
    };

    serde_json::to_writer(&mut bytes, value).map_err(|error| {
        if error.is_io() {
            let detail = format_args!("{at_most} bytes");
            OutcomeProblem::new(OutcomeProblemKind::TooLarge, detail)
        } else {
            OutcomeProblem::new(OutcomeProblemKind::NotRecordable, error)
        }
    })?;

    let text = String::from_utf8(bytes.bytes);
    let text = text.map_err(|error| OutcomeProblem::new(OutcomeProblemKind::NotRecordable, error));
    text.map(Json::from)
}

/// Serialises an outcome, and reads it back: a run must see the same outcome as its replay.
pub(crate) fn recordable<T: Serialize + DeserializeOwned>(
    outcome: &T,
    at_most: usize,
) -> Result<(Json, T), OutcomeProblem> {
    let json = encode(outcome, at_most)?;
    let outcome = json.read_or(OutcomeProblemKind::NotRecordable)?;
    Ok((json, outcome))
}

struct Bounded {
    bytes: Vec<u8>,
    at_most: usize,
}

impl Write for Bounded {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        if part.len() > self.at_most.saturating_sub(self.bytes.len()) {
            return Err(io::ErrorKind::FileTooLarge.into());
        }

        let from = self.bytes.len();
        self.bytes.extend_from_slice(part);

        // Only a text that was JSON before, a `RawValue`, can have more than one line, and the line
        // breaks in it are between values.
        if part.contains(&b'\n') || part.contains(&b'\r') {
            let lines = self
                .bytes
                .iter_mut()
                .skip(from)
                .filter(|byte| matches!(byte, b'\n' | b'\r'));
            lines.for_each(|byte| *byte = b' ');
        }

        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
