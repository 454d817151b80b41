use crate::error::{Kind, RunError};
use crate::failed::Failed;
use crate::journal::{StepError, WorkError};
use crate::location::Location;
use crate::{BoxError, Paused, Phase};

/// A failed visit, before the walk adds the location.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The node itself failed.
    Node(Box<Failed>),
    /// A flow inside the visit stopped.
    Inside(Box<Inside>),
    /// The visit waits for an event.
    Paused(Box<Paused>),
    /// The journal failed.
    Journal(BoxError),
    /// The place needs a journal, and there is none.
    NoJournal { what: &'static str },
    /// The node panicked.
    Panicked(String),
}

#[derive(Debug)]
pub(crate) struct Inside {
    /// Identifies the flow among the others in the same visit.
    pub(crate) label: String,
    pub(crate) error: RunError,
}

impl Failure {
    pub(crate) fn node(phase: Phase, error: impl Into<BoxError>) -> Self {
        Failed::new(phase, error).into()
    }

    /// Returns the failure as the error of a run that stopped at `location`.
    #[cold]
    pub(crate) fn at(self, mut location: Location) -> RunError {
        let kind = match self {
            Self::Node(failed) => Kind::Node(failed),
            Self::Panicked(panic) => Kind::Panicked(panic),
            Self::Paused(paused) => Kind::Paused(paused),
            Self::Journal(error) => Kind::Journal(error),
            Self::NoJournal { what } => Kind::NoJournal { what },
            Self::Inside(inside) => {
                location.node.push_str(&inside.label);
                return inside.error.inside(location);
            }
        };
        RunError::new(location, kind)
    }

    /// Returns the same failure for one item of a batch.
    pub(crate) fn of_item(self, index: usize) -> Self {
        match self {
            Self::Node(failed) => (*failed).of_item(index).into(),
            other => other,
        }
    }

    pub(crate) fn paused_mut(&mut self) -> Option<&mut Paused> {
        match self {
            Self::Paused(paused) => Some(paused),
            Self::Inside(inside) => inside.error.paused_mut(),
            Self::Node(_) | Self::Journal(_) | Self::NoJournal { .. } | Self::Panicked(_) => None,
        }
    }

    pub(crate) fn into_paused(self) -> Option<Paused> {
        match self {
            Self::Paused(paused) => Some(*paused),
            Self::Inside(inside) => inside.error.into_paused().ok(),
            Self::Node(_) | Self::Journal(_) | Self::NoJournal { .. } | Self::Panicked(_) => None,
        }
    }
}

impl From<Failed> for Failure {
    fn from(failed: Failed) -> Self {
        Self::Node(Box::new(failed))
    }
}

impl From<WorkError> for Failure {
    fn from(error: WorkError) -> Self {
        let failed = Failed::new(Phase::Exec, error.error);
        let attempts = error.attempts;
        Failed { attempts, ..failed }.into()
    }
}

impl From<StepError> for Failure {
    fn from(error: StepError) -> Self {
        match error {
            StepError::Work(error) => error.into(),
            StepError::Journal(error) => Self::Journal(error),
        }
    }
}
