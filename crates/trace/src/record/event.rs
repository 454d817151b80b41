//! The events in a record.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::chat::ChatReport;

/// A line of a record after the header.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RecordedEvent {
    /// The step, such as `greet/hello#1`; `None` for events of the whole run.
    pub step: Option<String>,
    /// The time since the start of the run, or since it was last resumed, in seconds.
    pub at: f64,
    /// The kind of event.
    pub kind: RecordedKind,
}

/// A kind of event in a record. Most correspond to an [`EventKind`](cogwork_flow::EventKind); times
/// are in seconds.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum RecordedKind {
    /// The run takes its first step.
    RunStarted,
    /// The run was resumed, and the times of later events count from here.
    Resumed {
        /// When, in seconds since the Unix epoch.
        started: f64,
    },
    /// A node is visited.
    StepEntered,
    /// A phase of the node finished or failed.
    PhaseFinished {
        /// `prep`, `exec` or `post`.
        phase: String,
        /// The duration of the phase.
        took: f64,
    },
    /// `exec` failed and is retried.
    Retrying {
        /// The number of attempts so far.
        attempts: u32,
        /// The time until the next attempt.
        delay: f64,
        /// The error.
        error: String,
    },
    /// A note of the node.
    Noted {
        /// The text of the note.
        text: String,
    },
    /// A value that the node reported.
    Reported(RecordedReport),
    /// The run moved to a different node, or to the same one again.
    Moved {
        /// The action that the node returned.
        action: String,
        /// The next node.
        to: String,
    },
    /// The run, or the flow over an item or in a branch, ended with this step.
    Ended {
        /// The action.
        action: String,
        /// The number of steps of the run so far.
        steps: u64,
    },
    /// An outcome was read from the journal.
    Replayed,
    /// The run waits for an event.
    Paused(RecordedPause),
    /// The run stopped before its end.
    Failed {
        /// The error.
        error: String,
    },
    /// Events weren't recorded, because the disk was too slow.
    Lost {
        /// The number of events.
        count: u64,
    },
    /// The record reached its maximum size, and nothing after this is recorded.
    Full {
        /// The maximum, in bytes.
        limit: u64,
    },
    /// An event of a type that this version doesn't know.
    Unknown {
        /// The type.
        name: String,
        /// The other fields.
        fields: Map<String, Value>,
    },
}

/// A report in a record.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum RecordedReport {
    /// A message, or a call to a model.
    Chat(Box<ChatReport>),
    /// Any other report.
    Other {
        /// What it comes from: `reasoning` for chains of thoughts, `solving` for strategies, or a
        /// name that a program gave. `None` if it gave none.
        source: Option<String>,
        /// The value.
        report: Value,
    },
}

/// A pause of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RecordedPause {
    /// The step that waits.
    pub waits_at: String,
    /// The name of the event.
    pub event: String,
    /// The reason.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// When the wait times out, in seconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<f64>,
    /// The other items and branches that wait.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<RecordedPause>,
}

impl RecordedEvent {
    /// Creates an event of the whole run. `at` is in seconds since the start of the run.
    pub fn new(at: f64, kind: RecordedKind) -> Self {
        Self {
            step: None,
            at,
            kind,
        }
    }

    /// Sets the step. None by default.
    #[must_use]
    pub fn with_step(mut self, step: impl Into<String>) -> Self {
        self.step = Some(step.into());
        self
    }

    /// Returns the type of the event, as it is written.
    pub fn name(&self) -> &str {
        match &self.kind {
            RecordedKind::RunStarted => "run_started",
            RecordedKind::Resumed { .. } => "resumed",
            RecordedKind::StepEntered => "step_entered",
            RecordedKind::PhaseFinished { .. } => "phase_finished",
            RecordedKind::Retrying { .. } => "retrying",
            RecordedKind::Noted { .. } => "noted",
            RecordedKind::Reported(_) => "reported",
            RecordedKind::Moved { .. } => "moved",
            RecordedKind::Ended { .. } => "ended",
            RecordedKind::Replayed => "replayed",
            RecordedKind::Paused(_) => "paused",
            RecordedKind::Failed { .. } => "failed",
            RecordedKind::Lost { .. } => "lost",
            RecordedKind::Full { .. } => "full",
            RecordedKind::Unknown { name, .. } => name,
        }
    }

    /// Returns the report about a model, if it is one.
    pub fn chat(&self) -> Option<&ChatReport> {
        match &self.kind {
            RecordedKind::Reported(RecordedReport::Chat(chat)) => Some(chat),
            _ => None,
        }
    }
}
