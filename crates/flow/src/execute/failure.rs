use std::fmt;

use cogwork_text::{ErrorText, Name, NameList, OneLine};

use crate::build_error::how_to_declare;
use crate::engine::{StepError, WorkError};
use crate::nodes::Phase;
use crate::{Action, BoxError, Paused, RunError};

/// Why a run or a visit stopped, without the location.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The node itself failed.
    Node(Box<Failed>),
    /// A flow inside the visit stopped. The label identifies it among the others.
    Inside {
        label: String,
        error: RunError,
    },
    /// The node panicked.
    Panicked(String),
    UndeclaredAction {
        action: Action,
        declared: Vec<Action>,
    },
    StepLimit {
        limit: u64,
    },
    Stopped(Stopped),
    /// The visit waits for an event.
    Paused(Box<Paused>),
    /// The journal failed.
    Journal(BoxError),
    AnotherState(BoxError),
    /// What the program asked for cannot be done, for this reason.
    Refused(String),
}

/// Why a run was stopped from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stopped {
    Deadline,
    Cancelled,
}

impl Failure {
    pub(crate) fn node(phase: Phase, error: impl Into<BoxError>) -> Self {
        Self::in_phase(phase, WorkError::new(error))
    }

    fn in_phase(phase: Phase, error: WorkError) -> Self {
        let item = None;
        Self::Node(Box::new(Failed { phase, item, error }))
    }

    /// Returns the same failure for one item of a batch.
    pub(crate) fn of_item(mut self, index: usize) -> Self {
        // A stop or an error of the journal isn't about a single item.
        if let Self::Node(failed) = &mut self {
            failed.item = Some(index);
        }

        self
    }

    /// Returns a name of the kind of failure, for traces.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Node(failed) => match failed.phase {
                Phase::Prep => "prep_failed",
                Phase::Exec => "exec_failed",
                Phase::Post => "post_failed",
            },
            Self::Panicked(_) => "panic",
            Self::UndeclaredAction { .. } => "undeclared_action",
            Self::StepLimit { .. } => "step_limit",
            Self::Stopped(Stopped::Deadline) => "deadline",
            Self::Stopped(Stopped::Cancelled) => "cancelled",
            Self::Journal(_) => "journal_failed",
            // What OpenTelemetry calls any other error.
            _ => "_OTHER",
        }
    }

    pub(crate) fn paused_mut(&mut self) -> Option<&mut Paused> {
        match self {
            Self::Paused(paused) => Some(paused),
            Self::Inside { error, .. } => error.paused_mut(),
            _ => None,
        }
    }

    pub(crate) fn into_paused(self) -> Option<Paused> {
        match self {
            Self::Paused(paused) => Some(*paused),
            Self::Inside { error, .. } => error.into_paused().ok(),
            _ => None,
        }
    }
}

impl From<WorkError> for Failure {
    fn from(error: WorkError) -> Self {
        Self::in_phase(Phase::Exec, error)
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

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node(failed) => {
                write!(f, "{} failed", failed.phase)?;
                let WorkError { attempts, error } = &failed.error;
                if *attempts > 1 {
                    write!(f, " after {attempts} attempts")?;
                }

                f.write_str(": ")?;
                ErrorText(error).fmt(f)
            }
            Self::Panicked(panic) => {
                f.write_str("it panicked: ")?;
                ErrorText(panic).fmt(f)
            }
            Self::Inside { error, .. } => error.fmt(f),
            Self::Paused(paused) => {
                write!(f, "the run waits for the event `{}`", Name(&paused.event))?;
                if paused.why.is_empty() {
                    return Ok(());
                }

                write!(f, ": {}", OneLine::new(&paused.why))
            }
            Self::Journal(error) => {
                f.write_str("the journal failed: ")?;
                ErrorText(error).fmt(f)
            }
            Self::AnotherState(error) => ErrorText(error).fmt(f),
            Self::UndeclaredAction { action, declared } => {
                let action = Name(action.as_str());
                let (known, hint) = (NameList::and(declared), how_to_declare(declared));
                f.write_str("post returned the action ")?;
                write!(
                    f,
                    "`{action}`, which the node doesn't declare; it declares {known}{hint}"
                )
            }
            Self::StepLimit { limit } => {
                let plural = if *limit == 1 { "" } else { "s" };
                write!(
                    f,
                    "the run reached its limit of {limit} step{plural} before this node"
                )
            }
            Self::Refused(reason) => f.write_str(reason),
            Self::Stopped(Stopped::Deadline) => {
                f.write_str("the run reached its deadline at this node")
            }
            Self::Stopped(Stopped::Cancelled) => f.write_str("the run was cancelled at this node"),
        }
    }
}

/// The failure of a node.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) phase: Phase,
    /// The index of the item of a batch.
    pub(crate) item: Option<usize>,
    pub(crate) error: WorkError,
}
