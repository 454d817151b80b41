use std::time::SystemTime;

use cogwork_flow::journal::Entry;

use crate::ForkOrigin;
use crate::header::Header;
use crate::time::from_millis;
use crate::waits::{WaitChange, WaitSummary, Waits};

/// A summary of a recorded run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunSummary {
    /// The id of the run.
    pub run_id: String,
    /// The name of its flow.
    pub flow: String,
    /// Where the run was forked from, if it is a [fork](crate::Fork).
    pub fork: Option<ForkOrigin>,
    /// When the run was started, to the millisecond.
    pub started: SystemTime,
    /// When the last entry was recorded, to the millisecond; if there is none, when the run was
    /// started. `None` if the record doesn't contain it.
    pub updated: Option<SystemTime>,
    /// The number of recorded entries, such as outcomes and answers, without those that a snapshot
    /// has replaced.
    pub entries: u64,
    /// The status of the run.
    pub status: RunStatus,
}

/// The status of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunStatus {
    /// The run is in use, has an unused answer, or was interrupted. It can be resumed unless it is
    /// in use.
    Open,
    /// The run waits for events without an answer.
    Paused {
        /// The waiting steps, in the order in which they started to wait.
        waits: Vec<WaitSummary>,
    },
    /// The run stopped with an error. It can be resumed.
    Failed {
        /// The error, in one line.
        error: String,
    },
    /// The run ended.
    Ended {
        /// The action on which it ended.
        action: String,
        /// The total number of steps.
        steps: u64,
    },
    /// The record cannot be read.
    Damaged {
        /// The reason, in one line.
        error: String,
    },
}

impl RunStatus {
    /// Returns the name, as in the column `status` of a database: `open`, `paused`, `failed`, `ended`
    /// or `damaged`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Paused { .. } => "paused",
            Self::Failed { .. } => "failed",
            Self::Ended { .. } => "ended",
            Self::Damaged { .. } => "damaged",
        }
    }

    /// Returns how a run stopped whose last entry is this one.
    pub(crate) fn stopped(last: &Entry) -> Option<Self> {
        match last {
            Entry::Failed { error } => Some(Self::Failed {
                error: error.clone(),
            }),
            Entry::Ended { action, steps } => Some(Self::Ended {
                action: action.clone(),
                steps: *steps,
            }),
            _ => None,
        }
    }
}

/// The status of a run after the entries so far.
#[derive(Default)]
pub(crate) struct Standing {
    entries: u64,
    waits: Waits,
    stopped: Option<RunStatus>,
}

impl Standing {
    /// Removes all entries. Returns how that changes the waiting steps.
    pub(crate) fn clear(&mut self) -> WaitChange {
        *self = Self::default();
        WaitChange::AllEnded
    }

    /// Adds an entry. Returns how it changes the waiting steps.
    pub(crate) fn add(&mut self, entry: &Entry) -> Vec<WaitChange> {
        let mut changes = self.end_calls(entry);
        changes.extend(self.add_entry(entry));
        changes
    }

    /// Ends the waits of the calls that the entry ends.
    fn end_calls(&mut self, entry: &Entry) -> Vec<WaitChange> {
        if self.waits.is_empty() {
            return Vec::new();
        }

        let ended = entry.ended_calls();
        ended.map_or_else(Vec::new, |ended| self.waits.end_all(&ended))
    }

    fn add_entry(&mut self, entry: &Entry) -> Option<WaitChange> {
        self.entries += 1;
        self.stopped = RunStatus::stopped(entry);
        if let Some(wait) = WaitSummary::of(entry) {
            // The first line is the header.
            return Some(self.waits.begin(self.entries + 1, wait));
        }

        match entry {
            Entry::Answer { event, .. } => self.waits.answer(event),
            Entry::Taken { step, event } => {
                self.waits.use_up(event);
                return self.waits.end(step);
            }
            Entry::Refused { event, .. } => self.waits.use_up(event),
            Entry::TimedOut { step } => return self.waits.end(step),
            Entry::Snapshot(_) => {
                let cleared = self.clear();
                self.entries = 1;
                return Some(cleared);
            }
            _ => {}
        }

        None
    }

    /// Returns the name of the status.
    pub(crate) fn name(&self) -> &'static str {
        match &self.stopped {
            Some(stopped) => stopped.name(),
            None if self.waits.block_the_run() => "paused",
            None => RunStatus::Open.name(),
        }
    }

    /// Returns the summary of a run whose last entry was recorded at this time, in milliseconds since
    /// 1970.
    pub(crate) fn summary(self, header: Header, updated: Option<u64>) -> RunSummary {
        let is_paused = self.waits.block_the_run();
        let status = match self.stopped {
            Some(stopped) => stopped,
            None if is_paused => RunStatus::Paused {
                waits: self.waits.into_summaries(),
            },
            None => RunStatus::Open,
        };

        RunSummary {
            started: header.started(),
            updated: updated.and_then(from_millis),
            entries: self.entries,
            status,
            run_id: header.run_id,
            flow: header.flow,
            fork: header.fork,
        }
    }
}
