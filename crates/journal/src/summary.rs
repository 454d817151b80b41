use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::time::SystemTime;

use cogwork_flow::engine::{Entry, Json};
use cogwork_text::{Name, NameList, OneLine};
use serde::Serialize;
use serde::de::IgnoredAny;

use crate::ForkOrigin;
use crate::header::{Header, from_millis, to_millis};

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
    /// The run is in use, has an unused answer, or was interrupted, also if some of its steps wait. It
    /// can be resumed unless it is in use.
    Open {
        /// The steps that wait for an event without an answer, in the order in which they started to
        /// wait. They can be answered before the run is resumed.
        waits: Vec<WaitSummary>,
    },
    /// The run does nothing but wait for events, and none of them has an answer.
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
            Self::Open { .. } => "open",
            Self::Paused { .. } => "paused",
            Self::Failed { .. } => "failed",
            Self::Ended { .. } => "ended",
            Self::Damaged { .. } => "damaged",
        }
    }

    /// Returns the steps that wait for an event without an answer.
    pub fn waits(&self) -> &[WaitSummary] {
        match self {
            Self::Open { waits } | Self::Paused { waits } => waits,
            _ => &[],
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

impl fmt::Display for RunStatus {
    /// Writes one human-readable line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let events: Vec<_> = self.waits().iter().map(|wait| &wait.event).collect();
        let events = NameList::and(&events);
        match self {
            Self::Open { waits } if waits.is_empty() => f.write_str("open"),
            Self::Open { .. } => write!(f, "open, waits for {events}"),
            Self::Paused { .. } => write!(f, "waits for {events}"),
            Self::Failed { error } => write!(f, "failed: {}", OneLine::new(error)),
            Self::Ended { action, steps } => {
                let plural = if *steps == 1 { "" } else { "s" };
                write!(f, "ended on `{}` after {steps} step{plural}", Name(action))
            }
            Self::Damaged { error } => write!(f, "damaged: {}", OneLine::new(error)),
        }
    }
}

/// A step that waits for an event.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WaitSummary {
    /// The name of the step.
    pub step: String,
    /// The name of the event.
    pub event: String,
    /// The reason from [`Wait::with_reason`](cogwork_flow::Wait::with_reason); empty if there is
    /// none.
    pub why: String,
    /// When the wait times out; `None` if it never does. If the run is resumed after that, it
    /// continues without an answer.
    pub until: Option<SystemTime>,
    /// The JSON Schema of the answer from [`Wait::with_schema`](cogwork_flow::Wait::with_schema).
    pub schema: Option<Json>,
}

impl WaitSummary {
    /// Returns the wait that begins with an entry.
    pub(crate) fn of(entry: &Entry) -> Option<Self> {
        let Entry::Waiting {
            step,
            event,
            why,
            until,
            schema,
        } = entry
        else {
            return None;
        };

        // Records may have been edited, and whoever shows a form trusts the schema to be JSON.
        let is_json = |schema: &&Json| schema.read::<IgnoredAny>().is_ok();
        Some(Self {
            step: step.clone(),
            event: event.clone(),
            why: why.clone(),
            until: until.and_then(from_millis),
            schema: schema.as_ref().filter(is_json).cloned(),
        })
    }
}

impl fmt::Display for WaitSummary {
    /// Writes one human-readable line, without the time and the schema.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (step, event) = (Name(&self.step), Name(&self.event));
        write!(f, "{step} waits for the event `{event}`")?;
        match self.why.as_str() {
            "" => Ok(()),
            why => write!(f, ": {}", OneLine::new(why)),
        }
    }
}

/// The status of a run after the entries so far. Each entry takes the same work, however many steps
/// wait.
#[derive(Default)]
pub(crate) struct Standing {
    entries: u64,
    stopped: Option<RunStatus>,
    is_paused: bool,
    /// The waiting steps, with the numbers of the lines with which they started to wait.
    waiting: BTreeMap<String, (u64, WaitSummary)>,
    /// How many steps wait for each event…
    awaited: HashMap<String, u64>,
    /// …and how many answers to it are unused.
    unused: HashMap<String, u64>,
    changes: WaitChanges,
}

/// How entries change the waiting steps, for the rows of a database.
#[derive(Default, Serialize)]
pub(crate) struct WaitChanges {
    pub(crate) begun: Vec<Begun>,
    /// The lines with which waits began that ended.
    pub(crate) ended: Vec<u64>,
    /// Whether these events have an unused answer now.
    pub(crate) answered: BTreeMap<String, bool>,
}

/// A wait that began.
#[derive(Serialize)]
pub(crate) struct Begun {
    /// The number of its line.
    pub(crate) line: u64,
    pub(crate) event: String,
    /// In milliseconds since 1970.
    pub(crate) until: Option<u64>,
}

impl Standing {
    pub(crate) fn add(&mut self, entry: &Entry) {
        if !self.waiting.is_empty()
            && let Some(calls) = entry.ended_calls()
        {
            self.end_calls(&calls);
        }

        self.entries += 1;
        // Any entry after the end or an error means that the run went on.
        self.stopped = RunStatus::stopped(entry);
        self.is_paused = entry.leaves_paused(self.is_paused);
        if let Some(wait) = WaitSummary::of(entry) {
            self.begin(wait);
        }
        match entry {
            Entry::Answer { event, .. } => {
                *self.unused.entry(event.clone()).or_default() += 1;
                self.note_answers(event);
            }
            Entry::Taken { step, event } => {
                take_one(&mut self.unused, event);
                self.note_answers(event);
                self.end(step);
            }
            Entry::Refused { event, .. } => {
                take_one(&mut self.unused, event);
                self.note_answers(event);
            }
            Entry::TimedOut { step } => self.end(step),
            _ => {}
        }
    }

    fn begin(&mut self, wait: WaitSummary) {
        // The first line is the header.
        let line = self.entries + 1;
        self.changes.begun.push(Begun {
            line,
            event: wait.event.clone(),
            until: wait.until.map(to_millis),
        });
        *self.awaited.entry(wait.event.clone()).or_default() += 1;
        // The answer may have come before the question.
        if self.unused.contains_key(&wait.event) {
            self.note_answers(&wait.event);
        }
        self.waiting.insert(wait.step.clone(), (line, wait));
    }

    fn note_answers(&mut self, event: &str) {
        let is_answered = self.unused.contains_key(event);
        self.changes.answered.insert(event.to_owned(), is_answered);
    }

    fn end(&mut self, step: &str) {
        if let Some((line, wait)) = self.waiting.remove(step) {
            take_one(&mut self.awaited, &wait.event);
            self.changes.ended.push(line);
        }
    }

    /// Ends the waits of all calls whose names begin with this.
    fn end_calls(&mut self, beginning: &str) {
        let steps = self.waiting.range(beginning.to_owned()..);
        let steps = steps.map(|(step, _)| step.clone());
        let steps: Vec<_> = steps
            .take_while(|step| step.starts_with(beginning))
            .collect();
        for step in steps {
            self.end(&step);
        }
    }

    /// Returns how the waiting steps have changed since the last call.
    pub(crate) fn take_changes(&mut self) -> WaitChanges {
        std::mem::take(&mut self.changes)
    }

    /// Returns whether no step can continue before an answer arrives.
    fn is_paused(&self) -> bool {
        let mut answered = self.unused.keys();
        // With an unused answer, the run can go on as soon as somebody resumes it.
        self.is_paused && !answered.any(|event| self.awaited.contains_key(event))
    }

    /// Returns the name of the status.
    pub(crate) fn name(&self) -> &'static str {
        match &self.stopped {
            Some(stopped) => stopped.name(),
            None if self.is_paused() => "paused",
            None => "open",
        }
    }

    /// Returns the summary of a run whose last entry was recorded at this time, in milliseconds since
    /// 1970.
    pub(crate) fn summary(self, header: Header, updated: Option<u64>) -> RunSummary {
        let is_paused = self.is_paused();
        let waits = self.waiting.into_values();
        let mut waits: Vec<_> = waits
            .filter(|(_, wait)| !self.unused.contains_key(&wait.event))
            .collect();
        // The map is sorted by name.
        waits.sort_by_key(|(line, _)| *line);
        let waits = waits.into_iter().map(|(_, wait)| wait).collect();
        let status = match self.stopped {
            Some(stopped) => stopped,
            None if is_paused => RunStatus::Paused { waits },
            None => RunStatus::Open { waits },
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

fn take_one(counts: &mut HashMap<String, u64>, event: &str) {
    if let Some(count) = counts.get_mut(event) {
        *count -= 1;
        // Removed at zero, so that each event in the map has an unused answer or a wait.
        if *count == 0 {
            counts.remove(event);
        }
    }
}
