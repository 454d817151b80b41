//! An index of the record of a run.

use std::collections::{BTreeMap, HashMap, VecDeque};

use super::{Entry, Json, Moment, Snapshot, StateDigest, StepError};

/// The maximum number of unused answers to an event.
const MAX_ANSWERS: usize = 1_000;

/// The entries of a record by step and event.
#[derive(Default)]
pub(super) struct Index {
    pub(super) steps: HashMap<String, Known>,
    /// The name of the step at each moment, to check that a replay takes the same path.
    pub(super) moments: HashMap<String, String>,
    /// The events of the steps that wait, with the schemas of their answers.
    pub(super) waiting: BTreeMap<String, (String, Option<Json>)>,
    /// The answers that no step has used yet.
    answers: HashMap<String, VecDeque<Json>>,
    /// The number of unused answers to all events.
    kept: u64,
    /// The number of entries since the snapshot and the answers kept with it.
    since_fold: u64,
    pub(super) snapshot: Option<Snapshot>,
    /// The digest of the state with which the run began.
    first_state: Option<StateDigest>,
    /// The highest number of a recorded step outside of items and branches.
    pub(super) last: u64,
    pub(super) ended: bool,
    /// Whether the last entry is a failure of the run.
    pub(super) has_failed: bool,
    /// Whether the last entry that isn't an answer is a pause.
    pub(super) is_paused: bool,
}

#[derive(Clone)]
pub(super) struct Known {
    pub(super) what: What,
    /// The number of the line that must be written before this is used.
    pub(super) line: u64,
}

#[derive(Clone)]
pub(super) enum What {
    Outcome(Json),
    Sleep { until: u64 },
    Waiting { until: Option<u64> },
    Answered { answer: Json },
    TimedOut,
}

impl Index {
    /// Checks that an entry can follow the entries before it.
    pub(super) fn check(&self, entry: &Entry) -> Result<(), String> {
        let waits = |step| match self.steps.get(step) {
            Some(Known {
                what: What::Waiting { .. },
                ..
            }) => Ok(()),
            _ => Err(format!("the step `{step}` does not wait for an event")),
        };

        let answers = |event| self.answers.get(event).map_or(0, VecDeque::len);
        let answered = |event| match answers(event) {
            0 => Err(format!("no answer to `{event}` is recorded")),
            _ => Ok(()),
        };
        match entry {
            Entry::Began { .. } if !self.is_new() => Err("the run has begun already".to_owned()),
            // With two outcomes of one step, a replay could not know which one was used.
            Entry::Outcome { step, .. }
            | Entry::Sleep { step, .. }
            | Entry::Waiting { step, .. }
                if self.steps.contains_key(step) =>
            {
                Err(already(step))
            }
            // A sender that repeats its answer forever must not fill the record.
            Entry::Answer { event, .. } if answers(event) >= MAX_ANSWERS => Err(format!(
                "there already are {MAX_ANSWERS} unused answers to `{event}`"
            )),
            Entry::Taken { step, event } => waits(step).and_then(|()| answered(event)),
            Entry::Refused { event, .. } => answered(event),
            Entry::TimedOut { step } => waits(step),
            _ => Ok(()),
        }
    }

    /// Returns whether no step is recorded, nor the state with which the run began.
    pub(super) fn is_new(&self) -> bool {
        self.first_state.is_none() && self.snapshot.is_none() && self.steps.is_empty()
    }

    /// Returns the digest of the state with which the run has to begin, if it is known.
    pub(super) fn first_state(&self) -> Option<StateDigest> {
        // A folded run is resumed with the state of its snapshot.
        let snapshot = self.snapshot.as_ref();
        snapshot.map_or(self.first_state, |snapshot| {
            StateDigest::of(&snapshot.state)
        })
    }

    /// Adds an entry that [`check`](Self::check) accepts.
    pub(super) fn add(&mut self, entry: Entry, line: u64) {
        self.since_fold = self.since_fold.saturating_add(1);

        // An entry after the end, for example of a longer flow, means that the run hasn't ended.
        self.ended = matches!(entry, Entry::Ended { .. });
        self.has_failed = matches!(entry, Entry::Failed { .. });
        self.is_paused = entry.leaves_paused(self.is_paused);

        // Most runs wait for nothing, and then no name has to be made.
        if !self.waiting.is_empty()
            && let Some(ended) = entry.ended_calls()
        {
            // The outcome of a composite step ends the waits inside it, used or not.
            self.end_waits(&ended);
        }

        match entry {
            Entry::Began { state } => self.first_state = Some(state),
            Entry::Outcome { step, outcome } => self.know(step, What::Outcome(outcome), line),
            Entry::Sleep { step, until } => self.know(step, What::Sleep { until }, line),
            Entry::Waiting {
                step,
                event,
                until,
                schema,
                ..
            } => {
                self.waiting.insert(step.clone(), (event, schema));
                self.know(step, What::Waiting { until }, line);
            }
            Entry::Answer { event, answer } => self.keep(event, answer),
            Entry::Taken { step, event } => {
                self.waiting.remove(&step);
                if let Some(answer) = self.take(&event) {
                    self.know(step, What::Answered { answer }, line);
                }
            }
            // The step still waits, for another answer.
            Entry::Refused { event, .. } => drop(self.take(&event)),
            Entry::TimedOut { step } => {
                self.waiting.remove(&step);
                self.know(step, What::TimedOut, line);
            }
            // Unused answers aren't lost: they follow the snapshot as entries.
            Entry::Snapshot(snapshot) => {
                *self = Self {
                    snapshot: Some(snapshot),
                    ..Self::default()
                }
            }
            Entry::Paused | Entry::Failed { .. } | Entry::Resumed | Entry::Ended { .. } => {}
        }
    }

    /// Ends the waits of all steps whose names begin with this.
    fn end_waits(&mut self, beginning: &str) {
        // Names are sorted, so only those that begin like this are looked at.
        let steps = self.waiting.range(beginning.to_owned()..);
        let steps: Vec<_> = steps
            .map(|(step, _)| step.clone())
            .take_while(|step| step.starts_with(beginning))
            .collect();

        for step in steps {
            self.waiting.remove(&step);
        }
    }

    /// Records what a step did. The result of a wait replaces the wait.
    fn know(&mut self, step: String, what: What, line: u64) {
        for moment in Moment::all_of(&step) {
            self.moments.insert(moment.key(), moment.visited.to_owned());
        }

        self.last = self.last.max(Moment::outermost_number(&step));
        self.steps.insert(step, Known { what, line });
    }

    /// Returns the schemas of the steps that wait for an event.
    pub(super) fn waits_for<'i>(
        &'i self,
        event: &'i str,
    ) -> impl Iterator<Item = Option<&'i Json>> {
        let waiting = self.waiting.values();
        let waiting = waiting.filter(move |(awaited, _)| awaited == event);
        waiting.map(|(_, schema)| schema.as_ref())
    }

    /// Returns the steps that wait for an event without an answer, each with its event. A run that has
    /// failed waits for none until it is resumed.
    pub(super) fn waits(&self) -> impl Iterator<Item = (&str, &str)> {
        let waits = self.waiting.iter();
        let waits = waits.map(|(step, (event, _))| (step.as_str(), event.as_str()));
        waits.filter(|(_, event)| !self.has_failed && self.next_answer(event).is_none())
    }

    /// Returns the oldest unused answer to an event.
    pub(super) fn next_answer(&self, event: &str) -> Option<Json> {
        self.answers.get(event)?.front().cloned()
    }

    fn keep(&mut self, event: String, answer: Json) {
        self.kept = self.kept.saturating_add(1);
        self.answers.entry(event).or_default().push_back(answer);
    }

    fn take(&mut self, event: &str) -> Option<Json> {
        let answer = self.answers.get_mut(event)?.pop_front()?;
        self.kept = self.kept.saturating_sub(1);
        Some(answer)
    }

    /// Checks that no different node was visited at the moment of a step that isn't recorded.
    pub(super) fn same_way(&self, step: &str) -> Result<(), StepError> {
        let other = Moment::all_of(step).find_map(|moment| {
            let recorded = self.moments.get(&moment.key())?;
            (recorded != moment.visited).then_some((moment.visited, recorded))
        });
        let Some((visited, recorded)) = other else {
            return Ok(());
        };

        let number = Moment::outermost_number(step);
        Err(StepError::journal(format!(
            "the run visits `{visited}`, but the recorded one visited `{recorded}` at this point; with the same \
             state and outcomes, `prep` and `post` must do the same again; after a change of the flow, fork the \
             run at step {number} or before"
        )))
    }

    /// Returns whether to fold a run at this step.
    pub(super) fn is_worth_a_fold(&self, number: u64) -> bool {
        // In a replay, the entries that follow must be kept, and writing them again at each fold
        // would take quadratic time. The same is true of unused answers.
        number >= self.last && self.since_fold >= self.kept
    }

    /// Replaces all entries with a snapshot. Returns the entries of the new record.
    pub(super) fn fold(&mut self, snapshot: Snapshot) -> Vec<Entry> {
        let kept = self.answers.iter().flat_map(|(event, answers)| {
            answers.iter().map(|answer| Entry::Answer {
                event: event.clone(),
                answer: answer.clone(),
            })
        });
        // The snapshot comes first, because adding it forgets everything before it.
        let entries: Vec<_> = std::iter::once(Entry::Snapshot(snapshot))
            .chain(kept)
            .collect();

        for entry in &entries {
            // Nothing waits for a snapshot or an answer to be written.
            self.add(entry.clone(), 0);
        }

        // The kept answers were counted as new entries.
        self.since_fold = 0;
        entries
    }
}

fn already(step: &str) -> String {
    format!("the step `{step}` is already recorded")
}
