use std::fmt;

use cogwork_text::ErrorText;

/// The reason why a store or an engine refused something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RefusalKind {
    /// The run doesn't exist.
    Missing,
    /// A run with this id exists.
    AlreadyThere,
    /// The run is in use.
    InUse,
    /// The run belongs to a different flow, or to an earlier version of this one.
    AnotherFlow,
    /// The run was started with a different input.
    AnotherInput,
    /// The run has ended.
    Ended,
    /// No node of the flow waits for the event.
    UnknownEvent,
    /// Something is too large.
    TooLarge,
    /// The record is damaged.
    Damaged,
    /// Anything else.
    Other,
}

impl RefusalKind {
    /// Returns whether a run that is new can be refused for this reason. Otherwise, it was taken
    /// for a different run.
    pub(crate) fn may_refuse_new_runs(self) -> bool {
        matches!(self, Self::TooLarge | Self::Other)
    }
}

/// An error of a store or an engine.
#[derive(Clone)]
#[non_exhaustive]
pub struct Refusal {
    /// The reason.
    pub kind: RefusalKind,
    /// The error, for reports.
    pub error: String,
}

impl Refusal {
    /// Creates an error.
    pub fn new(kind: RefusalKind, error: impl fmt::Display) -> Self {
        Self {
            kind,
            error: error.to_string(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.kind, ErrorText(&self.error))
    }
}

cogwork_text::debug_as_display!(Refusal);

impl std::error::Error for Refusal {}
