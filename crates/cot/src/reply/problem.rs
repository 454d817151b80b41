use std::fmt;

use cogwork_typed::{AnswerProblem, AnswerProblemKind};

use super::types::Partial;
use crate::text_error::TextError;

/// Why a reply cannot be used, and where the problem is in its text.
///
/// `{}` writes one line that the model can use to correct the reply; `{:#}` adds the lines around
/// the place.
#[derive(Clone, PartialEq, Eq)]
pub struct ReplyProblem {
    kind: AnswerProblemKind,
    error: TextError,
    partial: Option<Box<Partial>>,
}

cogwork_text::debug_as_display!(ReplyProblem);

impl ReplyProblem {
    pub(crate) fn new(kind: AnswerProblemKind, message: impl fmt::Display) -> Self {
        Self {
            kind,
            error: TextError::new(message),
            partial: None,
        }
    }

    /// Creates the problem that the reader of answers found in a text.
    pub(super) fn of(problem: &AnswerProblem, text: &str) -> Self {
        let message = match problem.pointer() {
            "" => problem.message().to_owned(),
            pointer => format!("`{pointer}`: {}", problem.message()),
        };
        Self::on_line(problem.kind(), &message, problem.line(), text)
    }

    pub(super) fn on_line(kind: AnswerProblemKind, message: &str, line: usize, text: &str) -> Self {
        Self {
            kind,
            error: TextError::quoting(message).at_line(text, line),
            partial: None,
        }
    }

    pub(super) fn with_partial(mut self, partial: Option<Partial>) -> Self {
        let partial = partial.filter(|partial| *partial != Partial::default());
        self.partial = partial.map(Box::new);
        self
    }

    /// Returns the readable parts of the reply, if there are any. They are only available if
    /// repairs were tried.
    pub fn partial(&self) -> Option<&Partial> {
        self.partial.as_deref()
    }

    /// Returns the kind of fault.
    pub fn kind(&self) -> AnswerProblemKind {
        self.kind
    }

    /// Returns what is wrong and what is expected instead, without the place.
    pub fn message(&self) -> &str {
        self.error.message()
    }

    /// Returns the line in the raw reply, from 1.
    pub fn line(&self) -> Option<usize> {
        self.error.line()
    }
}

impl fmt::Display for ReplyProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.error, f)
    }
}

impl std::error::Error for ReplyProblem {}
