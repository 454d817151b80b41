use std::fmt;

use cogwork_flow::{BoxError, BuildError};
use cogwork_text::ErrorText;

use crate::StoreError;
use crate::error::Kind;

/// What a case found: where, what was expected, and what happened instead.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BrokenPromise {
    /// Where it happened.
    pub at: String,
    /// What the contract demands.
    pub expected: String,
    /// What happened.
    pub happened: String,
}

impl BrokenPromise {
    pub(crate) fn new(
        at: impl fmt::Display,
        expected: impl fmt::Display,
        happened: impl fmt::Display,
    ) -> Self {
        Self {
            at: at.to_string(),
            expected: expected.to_string(),
            happened: happened.to_string(),
        }
    }

    /// Prepends a place.
    pub(crate) fn inside(self, at: impl fmt::Display) -> Self {
        Self {
            at: format!("{at}, {}", self.at),
            ..self
        }
    }
}

impl fmt::Display for BrokenPromise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            at,
            expected,
            happened,
        } = self;
        write!(
            f,
            "{}: expected {}; got {}",
            ErrorText(at),
            ErrorText(expected),
            ErrorText(happened)
        )
    }
}

cogwork_text::debug_as_display!(BrokenPromise);

impl std::error::Error for BrokenPromise {}

impl From<BuildError> for BrokenPromise {
    fn from(error: BuildError) -> Self {
        Self::new("the flow of the case", "a flow that can be built", error)
    }
}

impl From<Refusal> for BrokenPromise {
    fn from(refusal: Refusal) -> Self {
        Self::new("a call of the subject", "success", refusal)
    }
}

impl From<BoxError> for BrokenPromise {
    fn from(error: BoxError) -> Self {
        Self::new("a call of the subject", "success", error)
    }
}

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
    /// The record is damaged.
    Damaged,
    /// Anything else.
    Other,
}

impl RefusalKind {
    /// Returns whether a run that is new can be refused for this reason. Otherwise, it was taken
    /// for a different run.
    pub(crate) fn may_refuse_new_runs(self) -> bool {
        self == Self::Other
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

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        let kind = match error.kind() {
            Kind::Missing => RefusalKind::Missing,
            Kind::AlreadyThere => RefusalKind::AlreadyThere,
            Kind::Locked => RefusalKind::InUse,
            Kind::AnotherFlow => RefusalKind::AnotherFlow,
            Kind::AnotherInput => RefusalKind::AnotherInput,
            Kind::Ended => RefusalKind::Ended,
            Kind::UnknownEvent => RefusalKind::UnknownEvent,
            Kind::Damaged => RefusalKind::Damaged,
            _ => RefusalKind::Other,
        };
        Self::new(kind, error)
    }
}

/// The result of a case.
pub(crate) type Checked = Result<(), BrokenPromise>;

/// Returns a problem unless the two are equal.
pub(crate) fn equal<T: PartialEq + fmt::Debug>(
    at: impl fmt::Display,
    expected: &T,
    happened: &T,
) -> Checked {
    if expected == happened {
        return Ok(());
    }

    unexpected(at, format_args!("{expected:?}"), happened)
}

/// Returns the problem that something else happened than was expected.
pub(crate) fn unexpected<T>(
    at: impl fmt::Display,
    expected: impl fmt::Display,
    happened: &dyn fmt::Debug,
) -> Result<T, BrokenPromise> {
    let happened = format_args!("{happened:?}");
    Err(BrokenPromise::new(at, expected, happened))
}
