use std::time::SystemTime;

use cogwork_flow::journal::Entry;

use crate::header::Header;
use crate::time::from_millis;
use crate::waits::{WaitChange, WaitSummary, Waits};

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

/// How a run stands after the entries so far.
#[derive(Default)]
pub(crate) struct Standing {
    entries: u64,
    waits: Waits,
    stopped: Option<Stopped>,
}

/// How a run stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stopped {
    Failed { error: String },
    Ended { action: String, steps: u64 },
}

impl Standing {
    /// Adds an entry; answers what it changes about the steps that wait.
    pub(crate) fn add(&mut self, entry: &Entry) -> Option<WaitChange> {
        self.entries += 1;
        self.stopped = None;
        match entry {
            Entry::Waiting {
                step,
                event,
                why,
                until,
            } => {
                let until = until.and_then(from_millis);
                let step = step.clone();
                let event = event.clone();
                let why = why.clone();
                return Some(self.waits.begin(
                    self.entries,
                    WaitSummary {
                        step,
                        event,
                        why,
                        until,
                    },
                ));
            }
            Entry::Shortened { step, until } => {
                return self.waits.shorten(step, from_millis(*until));
            }
            Entry::Answer { event, .. } => self.waits.answer(event),
            Entry::Taken { step, event } => {
                self.waits.use_up(event);
                return self.waits.end(step);
            }
            Entry::Refused { event, .. } => self.waits.use_up(event),
            Entry::TimedOut { step } => return self.waits.end(step),
            Entry::Snapshot(_) => {
                *self = Self {
                    entries: 1,
                    ..Self::default()
                };
                return Some(WaitChange::AllEnded);
            }
            Entry::Failed { error } => {
                self.stopped = Some(Stopped::Failed {
                    error: error.clone(),
                })
            }
            Entry::Ended { action, steps } => {
                self.stopped = Some(Stopped::Ended {
                    action: action.clone(),
                    steps: *steps,
                });
            }
            _ => {}
        }

        None
    }

    /// How it stopped, if that was the last thing it did.
    pub(crate) fn stopped(&self) -> Option<&Stopped> {
        self.stopped.as_ref()
    }

    /// Whether it waits for events that nobody has answered.
    pub(crate) fn is_paused(&self) -> bool {
        self.stopped.is_none() && self.waits.block_the_run()
    }

    fn into_status(self) -> RunStatus {
        if self.is_paused() {
            return RunStatus::Paused {
                waits: self.waits.into_summaries(),
            };
        }

        match self.stopped() {
            Some(Stopped::Failed { error }) => RunStatus::Failed {
                error: error.clone(),
            },
            Some(Stopped::Ended { action, steps }) => RunStatus::Ended {
                action: action.clone(),
                steps: *steps,
            },
            None => RunStatus::Open,
        }
    }

    pub(crate) fn summary(self, header: Header) -> RunSummary {
        RunSummary {
            started: header.started(),
            entries: self.entries,
            status: self.into_status(),
            run_id: header.run_id,
            flow: header.flow,
        }
    }
}
