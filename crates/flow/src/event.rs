use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use cogwork_text::{Name, OneLine};

use crate::{Action, Paused, Phase, StepName};

/// Something that happened in a run.
///
/// `Display` writes it as a line for people, without the time.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// The run's id; empty for [`EventKind::Lost`].
    pub run: Arc<str>,
    /// The step it happened in; `None` for what concerns the whole run.
    pub step: Option<Arc<StepName>>,
    /// How long after its start.
    pub at: Duration,
    /// What happened.
    pub kind: EventKind,
}

/// What happened in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventKind {
    /// The run takes its first step.
    RunStarted,
    /// A node is visited.
    StepEntered,
    /// A phase of the node came to its end, well or badly.
    PhaseFinished {
        /// Which one.
        phase: Phase,
        /// How long it took.
        took: Duration,
    },
    /// `exec` failed and is tried again after a delay.
    Retrying {
        /// Attempts made so far.
        attempts: u32,
        /// How long until the next.
        delay: Duration,
        /// The error, in one line.
        error: String,
    },
    /// `exec` told of itself; see [`note`](crate::note).
    Noted {
        /// What it said.
        text: String,
    },
    /// The run left the node for another one, or for the same one again.
    Moved {
        /// The label it left by.
        action: Action,
        /// The node it goes to.
        to: String,
    },
    /// The run, or the flow over an item or of a branch, came to its end with this step.
    Ended {
        /// The label it ended on.
        action: Action,
        /// Steps of the whole run so far.
        steps: u64,
    },
    /// The outcome of `exec` is on record: it was not done again.
    Replayed,
    /// The run waits for an event.
    Paused(Paused),
    /// The run stopped before its end, at this step.
    Failed {
        /// The error, in one line.
        error: String,
    },
    /// The reader was too slow, and so many events are missing here.
    Lost {
        /// How many.
        count: u64,
    },
}

impl Event {
    pub(crate) fn new(
        run: Arc<str>,
        step: Option<Arc<StepName>>,
        at: Duration,
        kind: EventKind,
    ) -> Self {
        Self {
            run,
            step,
            at,
            kind,
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.run.is_empty() {
            write!(f, "{}: ", Name(&self.run))?;
        }

        if let Some(step) = &self.step {
            write!(f, "{step} ")?;
        }

        match &self.kind {
            EventKind::RunStarted => f.write_str("started"),
            EventKind::StepEntered => f.write_str("entered"),
            EventKind::PhaseFinished { phase, took } => write!(f, "finished {phase} in {took:?}"),
            EventKind::Retrying {
                attempts,
                delay,
                error,
            } => {
                write!(
                    f,
                    "failed attempt {attempts}, next in {delay:.1?}: {}",
                    OneLine::new(error)
                )
            }
            EventKind::Noted { text } => write!(f, "noted: {}", OneLine::new(text)),
            EventKind::Moved { action, to } => {
                write!(f, "moved on `{}` to {}", Name(action.as_str()), Name(to))
            }
            EventKind::Ended { action, steps } => {
                let plural = if *steps == 1 { "" } else { "s" };
                write!(
                    f,
                    "ended on `{}` after {steps} step{plural} in all",
                    Name(action.as_str())
                )
            }
            EventKind::Replayed => f.write_str("replayed exec"),
            EventKind::Paused(paused) => paused.fmt(f),
            EventKind::Failed { error } => write!(f, "failed: {}", OneLine::new(error)),
            EventKind::Lost { count } => {
                write!(f, "{count} events were lost: the reader is too slow")
            }
        }
    }
}
