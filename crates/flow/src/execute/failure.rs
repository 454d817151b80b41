use std::fmt;

use cogwork_text::{ErrorText, Name, NameList, OneLine};

use crate::journal::{StepError, WorkError};
use crate::wrap::RetryError;
use crate::{Action, BoxError, Paused, Phase, RunError};

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
    /// The place needs a journal, and there is none.
    NoJournal {
        what: &'static str,
    },
    UnknownEvent {
        event: String,
        known: Vec<String>,
    },
    AlreadyEnded {
        event: String,
    },
}

/// Why a run was stopped from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stopped {
    Deadline,
    Cancelled,
}

impl Failure {
    pub(crate) fn node(phase: Phase, error: impl Into<BoxError>) -> Self {
        Failed::new(phase, error).into()
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

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node(failed) => {
                write!(f, "{} failed", failed.phase)?;
                if failed.attempts > 1 {
                    write!(f, " after {} attempts", failed.attempts)?;
                }

                f.write_str(": ")?;
                ErrorText(&failed.source).fmt(f)
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
                let declared = NameList::and(declared);
                write!(
                    f,
                    "post returned the action `{action}`, which the node doesn't declare; "
                )?;

                write!(f, "it declares {declared}")
            }
            Self::StepLimit { limit } => {
                let plural = if *limit == 1 { "" } else { "s" };
                write!(
                    f,
                    "the run reached its limit of {limit} step{plural} before this node"
                )
            }
            Self::NoJournal { what } => {
                write!(f, "{what} needs a journal; ")?;
                f.write_str("give the run one with `Run::with_journal`")
            }
            Self::AlreadyEnded { event } => {
                let event = Name(event);
                write!(
                    f,
                    "the run has ended, so nothing waits for the event `{event}`"
                )
            }
            Self::UnknownEvent { event, known } => {
                let known = NameList::and(known);
                write!(
                    f,
                    "no node waits for the event `{}`; the flow waits for {known}",
                    Name(event)
                )
            }
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
    /// The number of attempts at the phase.
    pub(crate) attempts: u32,
    /// The index of the item of a batch.
    pub(crate) item: Option<usize>,
    pub(crate) source: BoxError,
}

impl Failed {
    pub(crate) fn new(phase: Phase, error: impl Into<BoxError>) -> Self {
        let mut source = error.into();
        let mut attempts = None;

        // Nested retries each add a layer. The outermost count is kept: inner counts may differ
        // between the outer attempts, and only the last would be known.
        loop {
            match source.downcast::<RetryError>() {
                Ok(counted) => {
                    attempts.get_or_insert(counted.attempts);
                    source = counted.error;
                }
                Err(source) => {
                    let attempts = attempts.unwrap_or(1);
                    return Self {
                        phase,
                        attempts,
                        item: None,
                        source,
                    };
                }
            }
        }
    }

    /// Returns the same failure for one item of a batch.
    pub(crate) fn of_item(self, index: usize) -> Self {
        Self {
            item: Some(index),
            ..self
        }
    }
}
