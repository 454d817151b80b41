use std::collections::HashMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cogwork_flow::Entry;

use crate::header::Header;

/// A run as it stands on record.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunSummary {
    /// The run's id.
    pub run_id: String,
    /// The name of its flow.
    pub flow: String,
    /// When it was started, to the millisecond.
    pub started: SystemTime,
    /// How many entries are on record: outcomes, answers, ends and so on. Those that a snapshot took
    /// the place of are not counted.
    pub entries: u64,
    /// How it stands.
    pub status: RunStatus,
}

/// How a run stands.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunStatus {
    /// It runs now, has an answer that it has not taken yet, or stopped without a word. Unless it runs,
    /// it can be taken up.
    Open,
    /// It waits for events that nobody has answered.
    Paused {
        /// The steps that wait, in the order in which they began to.
        waits: Vec<WaitSummary>,
    },
    /// It stopped on an error, and can be taken up.
    Failed {
        /// The error, in one line.
        error: String,
    },
    /// It came to its end.
    Ended {
        /// The label it ended on.
        action: String,
        /// Steps in all.
        steps: u64,
    },
    /// Its record cannot be read.
    Damaged {
        /// Why, in one line.
        error: String,
    },
}

/// A step that waits for an event.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WaitSummary {
    /// The step.
    pub step: String,
    /// The event.
    pub event: String,
    /// What [`Wait::why`](cogwork_flow::Wait::why) says; empty where it says nothing.
    pub why: String,
    /// When it is too late: taken up then, the run goes on without an answer.
    pub until: Option<SystemTime>,
}

/// How a run stands after the entries so far.
#[derive(Default)]
pub(crate) struct Standing {
    entries: u64,
    /// In the order in which they began to wait.
    waiting: Vec<WaitSummary>,
    /// How many answers are kept for each event.
    answers: HashMap<String, u64>,
    stopped: Option<RunStatus>,
}

impl Standing {
    pub(crate) fn add(&mut self, entry: &Entry) {
        self.entries += 1;
        self.stopped = None;
        match entry {
            Entry::Waiting { step, event, why, until } => {
                let until = until.and_then(|until| UNIX_EPOCH.checked_add(Duration::from_millis(until)));
                let (step, event, why) = (step.clone(), event.clone(), why.clone());
                self.waiting.push(WaitSummary { step, event, why, until });
            }
            Entry::Answer { event, .. } => *self.answers.entry(event.clone()).or_default() += 1,
            Entry::Taken { step, event } => {
                self.used(event);
                self.waiting.retain(|waiting| waiting.step != *step);
            }
            Entry::Refused { event, .. } => self.used(event),
            Entry::Shortened { step, until } => {
                let until = UNIX_EPOCH.checked_add(Duration::from_millis(*until));
                for waiting in self.waiting.iter_mut().filter(|waiting| waiting.step == *step) {
                    waiting.until = until;
                }
            }
            Entry::TimedOut { step } => self.waiting.retain(|waiting| waiting.step != *step),
            Entry::Snapshot(_) => *self = Self { entries: 1, ..Self::default() },
            Entry::Failed { error } => self.stopped = Some(RunStatus::Failed { error: error.clone() }),
            Entry::Ended { action, steps } => {
                self.stopped = Some(RunStatus::Ended { action: action.clone(), steps: *steps });
            }
            _ => {}
        }
    }

    fn used(&mut self, event: &str) {
        if let Some(count) = self.answers.get_mut(event) {
            *count = count.saturating_sub(1);
        }
    }

    pub(crate) fn status(&self) -> RunStatus {
        if let Some(stopped) = &self.stopped {
            return stopped.clone();
        }
        let answered = |event: &String| self.answers.get(event).is_some_and(|count| *count > 0);
        if self.waiting.iter().any(|waiting| answered(&waiting.event)) {
            return RunStatus::Open;
        }
        match self.waiting.as_slice() {
            [] => RunStatus::Open,
            waits => RunStatus::Paused { waits: waits.to_vec() },
        }
    }

    pub(crate) fn summary(self, header: Header) -> RunSummary {
        let (started, entries) = (header.started(), self.entries);
        RunSummary { run_id: header.run_id, flow: header.flow, started, entries, status: self.status() }
    }
}
