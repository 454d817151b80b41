//! Tracks the waiting steps of a run. Each entry takes the same work, however many steps wait.

use std::collections::{BTreeMap, HashMap};
use std::time::SystemTime;

use cogwork_flow::journal::{Entry, Json};
use serde::de::IgnoredAny;

use crate::time::from_millis;

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

/// The waiting steps of a run, and the unused answers.
#[derive(Default)]
pub(crate) struct Waits {
    /// By the numbers of the lines with which they started to wait, and so in that order.
    waiting: BTreeMap<u64, WaitSummary>,
    /// The number of each waiting step.
    numbers: BTreeMap<String, u64>,
    events: HashMap<String, Event>,
    /// The number of events with both an answer and a step that can use it.
    answered: usize,
}

#[derive(Default)]
struct Event {
    steps: u64,
    answers: u64,
}

impl Event {
    fn is_answered(&self) -> bool {
        self.steps > 0 && self.answers > 0
    }
}

/// How an entry changes the waiting steps.
#[cfg_attr(
    not(any(feature = "sqlite", feature = "postgres")),
    expect(dead_code, reason = "only a database has rows to change")
)]
pub(crate) enum WaitChange {
    /// A step started to wait for an event, with the line with this number.
    Began {
        line: u64,
        event: String,
        until: Option<SystemTime>,
    },
    /// The wait that began with this line ended.
    Ended { line: u64 },
    /// No step waits.
    AllEnded,
}

impl Waits {
    pub(crate) fn begin(&mut self, number: u64, wait: WaitSummary) -> WaitChange {
        self.numbers.insert(wait.step.clone(), number);
        self.change(&wait.event, |event| event.steps += 1);
        let change = WaitChange::Began {
            line: number,
            event: wait.event.clone(),
            until: wait.until,
        };

        self.waiting.insert(number, wait);
        change
    }

    pub(crate) fn end(&mut self, step: &str) -> Option<WaitChange> {
        let number = self.numbers.remove(step)?;
        let wait = self.waiting.remove(&number)?;
        self.change(&wait.event, |event| {
            event.steps = event.steps.saturating_sub(1)
        });

        Some(WaitChange::Ended { line: number })
    }

    /// Ends the waits of all steps whose names begin with this.
    pub(crate) fn end_all(&mut self, beginning: &str) -> Vec<WaitChange> {
        let steps = self.numbers.range(beginning.to_owned()..);
        let steps: Vec<_> = steps
            .map(|(step, _)| step)
            .take_while(|step| step.starts_with(beginning))
            .cloned()
            .collect();

        steps.iter().filter_map(|step| self.end(step)).collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(crate) fn answer(&mut self, event: &str) {
        self.change(event, |event| event.answers += 1);
    }

    /// Removes an answer.
    pub(crate) fn use_up(&mut self, event: &str) {
        self.change(event, |event| {
            event.answers = event.answers.saturating_sub(1)
        });
    }

    fn change(&mut self, event: &str, change: impl FnOnce(&mut Event)) {
        let event = self.events.entry(event.to_owned()).or_default();
        let was_answered = event.is_answered();
        change(event);

        match (was_answered, event.is_answered()) {
            (false, true) => self.answered += 1,
            (true, false) => self.answered -= 1,
            _ => {}
        }
    }

    /// Returns whether no step can continue before an answer arrives.
    pub(crate) fn block_the_run(&self) -> bool {
        !self.waiting.is_empty() && self.answered == 0
    }

    /// Returns the waiting steps, in the order in which they started to wait.
    pub(crate) fn into_summaries(self) -> Vec<WaitSummary> {
        self.waiting.into_values().collect()
    }
}
