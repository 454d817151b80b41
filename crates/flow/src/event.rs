use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use cogwork_text::{Name, OneLine};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::engine::{Json, StepName};
use crate::nodes::Phase;
use crate::watch::ReportedValue;
use crate::{Action, Paused};

/// An event of a run.
///
/// `Display` writes one human-readable line, without the time.
///
/// An event is serialised as one object, with the fields of its kind and a `type`, such as
/// `step_entered`. Times are in seconds:
///
/// ```json
/// {"run": "run 7", "step": "greet/hello#1", "at": 0.25, "type": "moved", "action": "default", "to": "name"}
/// ```
///
/// Later versions may add fields and types; readers should ignore those that they don't know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Event {
    /// The id of the run; empty for [`EventKind::Lost`].
    pub run: Arc<str>,
    /// The step; `None` for events of the whole run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<Arc<StepName>>,
    /// The time since the start of the run.
    #[serde(serialize_with = "seconds")]
    pub at: Duration,
    /// The kind of event.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// A kind of event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum EventKind {
    /// The run takes its first step.
    RunStarted,
    /// A node is visited.
    StepEntered,
    /// A phase of the node finished or failed.
    PhaseFinished {
        /// The phase.
        phase: Phase,
        /// The duration of the phase.
        #[serde(serialize_with = "seconds")]
        took: Duration,
    },
    /// `exec` returned an outcome other than null, or a wait got its answer, also one inside `exec`. Nodes
    /// that are [composite](crate::Node::is_composite) report what they did themselves.
    Outcome {
        /// The outcome, as a journal has it.
        outcome: Json,
    },
    /// An item of a batch; see [`with_item_text`](crate::nodes::Items::with_item_text).
    Item {
        /// The text of the item.
        text: String,
    },
    /// `exec` failed and is retried after a delay.
    Retrying {
        /// The number of attempts so far.
        attempts: u32,
        /// The time until the next attempt.
        #[serde(serialize_with = "seconds")]
        delay: Duration,
        /// The error, in one line.
        error: String,
    },
    /// A note of the node; see [`note`](crate::watch::note).
    Noted {
        /// The text of the note.
        text: String,
        /// Whether it is the next piece of a [text that grows](crate::watch::note_growth).
        #[serde(skip)]
        is_growth: bool,
    },
    /// A value that the node reported; see [`report_from`](crate::watch::report_from). In JSON, `source` is
    /// what it comes from.
    Reported {
        /// The value.
        #[serde(flatten, serialize_with = "with_source")]
        report: ReportedValue,
    },
    /// The run moved to a different node, or to the same one again.
    Moved {
        /// The action that the node returned.
        action: Action,
        /// The next node.
        to: String,
    },
    /// The run, or the flow over an item or in a branch, ended with this step.
    Ended {
        /// The action on which it ended.
        action: Action,
        /// The total number of steps of the run so far.
        steps: u64,
    },
    /// The outcome of `exec`, or of a [recorded](crate::engine::recorded()) call inside it, was read
    /// from the journal, so the work wasn't done. Or a wait has used its answer before.
    Replayed,
    /// The run waits for an event.
    Paused(Paused),
    /// The run stopped before its end, at this step.
    Failed {
        /// The error, in one line.
        error: String,
    },
    /// The reader was too slow, and events were lost.
    Lost {
        /// The number of lost events.
        count: u64,
    },
}

/// Serialises a report with its source.
fn with_source<S: Serializer>(report: &ReportedValue, serializer: S) -> Result<S::Ok, S::Error> {
    // How many fields there are doesn't matter: they are flattened into those of the event.
    let mut fields = serializer.serialize_map(None)?;
    fields.serialize_entry("source", report.source())?;
    fields.serialize_entry("report", report)?;
    fields.end()
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Losses are counted for a channel, which several runs may share.
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
            EventKind::Outcome { outcome } => {
                write!(f, "returned {}", OneLine::new(outcome.as_str()))
            }
            EventKind::Item { text } => write!(f, "got the item {}", OneLine::new(text)),
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
            EventKind::Reported { report } => write!(f, "reported {report}"),
            EventKind::Noted { text, .. } => write!(f, "noted: {}", OneLine::new(text)),
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
            EventKind::Replayed => f.write_str("replayed"),
            EventKind::Paused(paused) => paused.fmt(f),
            EventKind::Failed { error } => write!(f, "failed: {}", OneLine::new(error)),
            EventKind::Lost { count } => {
                write!(f, "{count} events were lost: the reader is too slow")
            }
        }
    }
}

/// Serialises a duration as a number of seconds.
pub(crate) fn seconds<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(time.as_secs_f64())
}

/// Serialises a time as the number of seconds since the Unix epoch.
pub(crate) fn seconds_since_epoch<S: Serializer>(
    time: &Option<SystemTime>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let since = time.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());

    match since {
        Some(since) => seconds(&since, serializer),
        None => serializer.serialize_none(),
    }
}
