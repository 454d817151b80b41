use std::fmt;

use cogwork_text::OneLine;
use serde::{Deserialize, Serialize};

/// Why a reply can't be read as the wanted type, and where.
///
/// `Display` writes the place, what was found there and what is expected, on one line:
///
/// ```
/// use cogwork_typed::AnswerReader;
///
/// let reader = AnswerReader::<Vec<u8>>::new();
/// let problem = reader.read("{\"answer\": [1, 2,\n 300]}").unwrap_err();
/// assert_eq!(problem.to_string(), "line 2, `/answer/2`: found the number 300; expected an integer from 0 to 255");
/// ```
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerProblem {
    kind: AnswerProblemKind,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pointer: String,
    line: usize,
    message: String,
}

cogwork_text::debug_as_display!(AnswerProblem);

/// The kind of an [`AnswerProblem`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AnswerProblemKind {
    /// The reply is empty.
    Empty,
    /// The reply is too long.
    TooLong,
    /// The reply declines to answer.
    Declined,
    /// The reply has no value of the wanted form.
    NoValue,
    /// The value can't be parsed.
    Malformed,
    /// The reply ends inside the value.
    CutOff,
    /// A part of the value is missing or has another type.
    Mismatch,
    /// A part of the value could be read in several ways.
    Ambiguous,
    /// A check of the program refused the value.
    Check,
    /// The reply calls tools that may no longer be called.
    ToolCalls,
}

impl AnswerProblem {
    /// Creates a problem on a line of the raw reply, from 1, or with the reply as a whole if the line
    /// is 0. The message says what is wrong and what is expected.
    pub fn new(kind: AnswerProblemKind, line: usize, message: impl Into<String>) -> Self {
        Self {
            kind,
            pointer: String::new(),
            line,
            message: message.into(),
        }
    }

    #[must_use]
    pub(crate) fn at(mut self, pointer: impl Into<String>) -> Self {
        self.pointer = pointer.into();
        self
    }

    /// Returns the kind of problem.
    pub fn kind(&self) -> AnswerProblemKind {
        self.kind
    }

    /// Returns the place in the value as a JSON pointer, such as `/lines/2/price`. It is empty for
    /// the value as a whole.
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// Returns the line in the raw reply, from 1. It is 0 for the reply as a whole.
    pub fn line(&self) -> usize {
        self.line
    }

    /// Returns what is wrong and what is expected, without the place.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for AnswerProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = OneLine::new(&self.message);
        if self.line == 0 {
            return write!(f, "{message}");
        }

        match self.pointer.as_str() {
            "" => write!(f, "line {}: {message}", self.line),
            pointer => write!(
                f,
                "line {}, `{}`: {message}",
                self.line,
                OneLine::new(pointer)
            ),
        }
    }
}

impl std::error::Error for AnswerProblem {}
