use std::fmt;

use cogwork_plan::Plan;

use crate::text_error::TextError;

/// The kind of problem with a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReplyProblemKind {
    /// The text is empty.
    Empty,
    /// The text is too long.
    TooLong,
    /// The text has no YAML block: it is prose, or a refusal.
    NoBlock,
    /// The block uses YAML that isn't needed for replies, such as anchors, aliases, tags or deep
    /// nesting.
    Refused,
    /// The block is not valid YAML or not a valid reply: a part is missing, unknown or of the wrong
    /// type.
    Invalid,
    /// The model stopped in the middle of the reply, because of the token limit, a filter, or
    /// another reason.
    CutOff,
    /// The tool calls of the reply cannot be read, are too many, or are not allowed.
    ToolCalls,
    /// The reply ends the reasoning while steps of its plan are not done.
    EndedEarly,
}

/// Why a reply cannot be used, and where the problem is in its text.
///
/// `{}` writes one line that the model can use to correct the reply; `{:#}` adds the lines around
/// the place.
#[derive(Clone, PartialEq, Eq)]
pub struct ReplyProblem(Box<Inner>);

cogwork_text::debug_as_display!(ReplyProblem);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Inner {
    kind: ReplyProblemKind,
    error: TextError,
    partial: Option<Partial>,
}

/// The readable parts of an unusable reply. Missing and unreadable parts are omitted, and nothing
/// is guessed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Partial {
    /// The thinking, if any.
    pub current_thinking: Option<String>,
    /// The complete steps, with their complete sub-steps. The list may be empty even if the model
    /// wrote a plan.
    pub planning: Plan,
    /// Whether another thought is needed, if the reply contains it.
    pub next_thought_needed: Option<bool>,
}

impl ReplyProblem {
    pub(crate) fn new(kind: ReplyProblemKind, message: impl fmt::Display) -> Self {
        Self::from(kind, TextError::new(message))
    }

    pub(super) fn from(kind: ReplyProblemKind, error: TextError) -> Self {
        Self(Box::new(Inner {
            kind,
            error,
            partial: None,
        }))
    }

    pub(super) fn with_partial(mut self, partial: Option<Partial>) -> Self {
        self.0.partial = partial.filter(|partial| *partial != Partial::default());
        self
    }

    /// Returns the readable parts of the reply, if there are any. They are only available if
    /// repairs were tried.
    pub fn partial(&self) -> Option<&Partial> {
        self.0.partial.as_ref()
    }

    /// Returns the kind of fault.
    pub fn kind(&self) -> ReplyProblemKind {
        self.0.kind
    }

    /// Returns what is wrong and what is expected instead, without the place.
    pub fn message(&self) -> &str {
        self.0.error.message()
    }

    /// Returns the line in the raw reply, from 1.
    pub fn line(&self) -> Option<usize> {
        self.0.error.line()
    }

    /// Returns the column in that line, in characters from 1.
    pub fn column(&self) -> Option<usize> {
        self.0.error.column()
    }
}

impl fmt::Display for ReplyProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0.error, f)
    }
}

impl std::error::Error for ReplyProblem {}
