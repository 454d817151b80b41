//! Decides what a fork begins with.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use cogwork_flow::Flow;
use cogwork_flow::engine::{Entry, Moment};
use cogwork_text::{Name, NameList};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::cut::{Cut, Edited, answer_at, step};
use super::replay::Replay;
use super::step::step_around_call;
use super::{At, Fork, ForkOrigin, ForkOutcome, ForkPreview, NewOutcome};
use crate::header::{Header, check_run_id, now};
use crate::read::{Line, Record, Wanted, check_order};
use crate::{RunJournal, Store, StoreError, StoreErrorKind};

/// How many ids are tried for a fork without an id.
const MAX_IDS: u32 = 10_000;

/// What a fork begins with.
struct Plan {
    source: Source,
    /// The header of the new run, which has no id yet.
    header: Header,
    origin: ForkOrigin,
    /// The lines of the new run after its header.
    lines: Vec<Line>,
    /// The recorded outcomes of the step at which the runs part.
    outcomes: Vec<ForkOutcome>,
    /// How many steps the fork replays of which everything is on record…
    complete: u64,
    /// …and how many of which a part may be on record.
    partial: u64,
}

impl<S> Fork<S> {
    /// Reads the record of a run, and starts a new run with a part of it.
    pub(crate) async fn start(
        mut self,
        store: &Store,
        run_id: &str,
        flow: &Flow<S>,
    ) -> Result<RunJournal, StoreError> {
        let new_id = self.run_id.take();
        let Plan {
            source,
            header,
            lines,
            ..
        } = self.plan(store, run_id, flow).await?;
        let open = |id: &str| {
            let record = Record {
                header: Header {
                    run_id: id.to_owned(),
                    ..header.clone()
                },
                lines: lines.clone(),
            };
            store.opener(id).open(Some(record), None)
        };

        if let Some(id) = new_id {
            check_run_id(&id)?;
            // An id that the program chose must not silently become a different one.
            return open(&id).await;
        }
        for number in 1..=MAX_IDS {
            match open(&format!("{run_id} fork {number}")).await {
                // Others may fork the same run at the same time.
                Err(error) if exists(&error) => {}
                opened => return opened,
            }
        }

        let problem = format!("it has {MAX_IDS} forks without an id; expected an id for this one");
        Err(source.problem(StoreErrorKind::AlreadyThere, &problem))
    }

    /// Replays the part of the record that the fork keeps.
    pub(crate) async fn preview(
        self,
        store: &Store,
        run_id: &str,
        flow: &Flow<S>,
    ) -> Result<ForkPreview<S>, StoreError>
    where
        S: Serialize + DeserializeOwned + Send + 'static,
    {
        let plan = self.plan(store, run_id, flow).await?;
        let replay = Replay::new(&plan.source, &plan.header, &plan.lines);
        let mut replayed = replay.begin(flow)?;
        replayed.take(plan.complete).await?;
        for _ in 0..plan.partial {
            replayed.take_recorded_part().await?;
        }

        Ok(ForkPreview {
            step: plan.origin.step,
            outcomes: plan.outcomes,
            state: replayed.state,
        })
    }

    /// Decides what the fork keeps of the record of a run.
    async fn plan(self, store: &Store, run_id: &str, flow: &Flow<S>) -> Result<Plan, StoreError> {
        let opener = store.opener(run_id);
        let wanted = Wanted {
            may_have_changed: self.changes_flow,
            ..Wanted::flow(flow.graph())
        };
        let Record { header, lines } = opener.read(&wanted).await?;
        let source = Source {
            place: opener.place(),
            run_id: run_id.to_owned(),
        };

        let steps = Source::steps(&lines);
        // The step after the end has no outcome yet.
        if self.at == At::End && !self.outcomes.is_empty() {
            let problem = "there is no outcome to edit at the end; expected a step";
            return Err(source.problem(StoreErrorKind::UnknownStep, &problem));
        }
        let step = source.step(self.at, &steps, &lines)?;
        let outcomes = Outcomes::of(&lines, step).values(&lines);
        let edits = &source.edits(step, &lines, self.outcomes)?;
        let origin = ForkOrigin {
            run_id: run_id.to_owned(),
            step,
            edited_outcomes: edits.iter().map(|edit| edit.step.clone()).collect(),
            edited_state: self.state.is_some(),
        };

        let mut kept = Cut { step, edits }.apply(lines);
        let mut before = step - steps.start();
        // The last step on record may be incomplete.
        let mut is_at_end = step == *steps.end() && before > 0;
        if let Some(edit) = self.state {
            let replay = Replay::new(&source, &header, &kept.before);
            let snapshot = edit(flow, replay, before).await?;
            // The state contains what these steps did, so their entries aren't copied.
            kept.before = vec![Line {
                entry: Entry::Snapshot(snapshot),
                at: Some(now()),
            }];
            (before, is_at_end) = (0, false);
        }

        // Unused answers come last, because a step uses the oldest answer to its event.
        let lines = [kept.before, kept.at, kept.unused].concat();
        // The record was read without this check, and may have been edited.
        check_order(&lines)
            .map_err(|error| source.problem(StoreErrorKind::Damaged, &error.problem))?;
        Ok(Plan {
            header: Header {
                started: now(),
                fork: Some(origin.clone()),
                graph: flow.graph(),
                ..header
            },
            source,
            origin,
            lines,
            outcomes,
            complete: before - u64::from(is_at_end),
            partial: u64::from(is_at_end) + u64::from(!edits.is_empty()),
        })
    }
}

/// Returns whether a fork failed because its id is taken. A run that is in use exists as well.
fn exists(error: &StoreError) -> bool {
    matches!(
        error.kind(),
        StoreErrorKind::AlreadyThere | StoreErrorKind::InUse
    )
}

/// The run that is forked, for messages.
#[derive(Clone)]
pub(super) struct Source {
    pub(super) place: String,
    pub(super) run_id: String,
}

impl Source {
    /// Returns the steps at which the run can be forked.
    fn steps(lines: &[Line]) -> RangeInclusive<u64> {
        let folded = match lines.first().map(|line| &line.entry) {
            Some(Entry::Snapshot(snapshot)) => snapshot.number,
            _ => 0,
        };
        let steps = lines.iter().filter_map(|line| step(&line.entry));
        let last = steps.map(Moment::outermost_number).max();
        // Nothing may be on record since the snapshot.
        let last = last.unwrap_or_default().max(folded);

        folded.saturating_add(1)..=last.saturating_add(1)
    }

    /// Returns the step at which the runs part.
    fn step(&self, at: At, steps: &RangeInclusive<u64>, lines: &[Line]) -> Result<u64, StoreError> {
        let (first, end) = (*steps.start(), *steps.end());
        let step = match at {
            At::End => return Ok(end),
            At::Visit { node, number } => return self.visit(&node, number, first, lines),
            At::Step(step) if steps.contains(&step) => return Ok(step),
            At::Step(step) => step,
        };

        // Steps are counted from 1, so 0 never was on record.
        let why = if step < first && step > 0 {
            "was replaced by a snapshot"
        } else {
            "isn't on record"
        };
        let problem = format!("step {step} {why}; expected a step from {first} to {end}");
        Err(self.problem(StoreErrorKind::UnknownStep, &problem))
    }

    /// Returns the step with this visit to a node.
    fn visit(
        &self,
        node: &str,
        number: u64,
        first: u64,
        lines: &[Line],
    ) -> Result<u64, StoreError> {
        let node_name = Name(node);
        if first > 1 {
            let folded = first - 1;
            let problem = format!(
                "a snapshot replaced the first {folded} steps, so visits to `{node_name}` cannot be \
                 counted; expected a step from {first} on"
            );
            return Err(self.problem(StoreErrorKind::UnknownStep, &problem));
        }

        let steps = lines.iter().filter_map(|line| step(&line.entry));
        let visits = steps.filter(|step| super::step::node(step) == node);
        // A set, because a visit with items or calls has several lines.
        let visits: BTreeSet<u64> = visits.map(Moment::outermost_number).collect();
        let index = usize::try_from(number).unwrap_or(usize::MAX).checked_sub(1);
        let visit = index.and_then(|index| visits.iter().nth(index));

        visit.copied().ok_or_else(|| {
            let known = visits.len();
            let steps = lines.iter().filter_map(|line| step(&line.entry));
            let nodes: BTreeSet<&str> = steps.map(super::step::node).collect();
            let nodes = NameList::or(&nodes);
            let problem = format!(
                "visit {number} to the node `{node_name}` isn't on record; {known} are on record; expected \
                 {nodes}"
            );
            self.problem(StoreErrorKind::UnknownStep, &problem)
        })
    }

    /// Finds the steps whose outcomes are edited.
    fn edits(
        &self,
        number: u64,
        lines: &[Line],
        outcomes: Vec<NewOutcome>,
    ) -> Result<Vec<Edited>, StoreError> {
        let recorded = Outcomes::of(lines, number);
        let edits = outcomes.into_iter().map(|new| {
            let found = recorded.find(new.step.as_deref());
            let (line, step) =
                found.map_err(|problem| self.problem(StoreErrorKind::UnknownStep, &problem))?;
            let refused = |problem| {
                let problem = format!("the new outcome of `{}`: {problem}", Name(step));
                self.problem(StoreErrorKind::Value, &problem)
            };
            Ok(Edited {
                step: step.to_owned(),
                outcome: new.outcome.map_err(refused)?,
                line,
            })
        });

        edits.collect()
    }

    pub(super) fn problem(
        &self,
        kind: StoreErrorKind,
        problem: &dyn std::fmt::Display,
    ) -> StoreError {
        let place = &self.place;
        let run_id = Name(&self.run_id);
        let text = format_args!("{place}: the run `{run_id}` cannot be forked: {problem}");
        StoreError::new(kind, text)
    }
}

/// The outcomes of a step, with the indexes of their lines.
struct Outcomes<'a> {
    number: u64,
    all: Vec<(usize, &'a str)>,
}

impl<'a> Outcomes<'a> {
    fn of(lines: &'a [Line], number: u64) -> Self {
        let outcomes = lines.iter().enumerate().filter_map(|(index, line)| {
            let (Entry::Outcome { step, .. } | Entry::Taken { step, .. }) = &line.entry else {
                return None;
            };
            Some((index, step.as_str()))
        });
        let all = outcomes.filter(|(_, step)| Moment::outermost_number(step) == number);
        let all = all.collect();
        Self { number, all }
    }

    fn values(&self, lines: &[Line]) -> Vec<ForkOutcome> {
        let values = self.all.iter().filter_map(|(index, step)| {
            let outcome = match &lines.get(*index)?.entry {
                Entry::Outcome { outcome, .. } => outcome.clone(),
                _ => answer_at(lines, *index)?,
            };
            let step = (*step).to_owned();
            Some(ForkOutcome { step, outcome })
        });
        values.collect()
    }

    fn find(&self, name: Option<&str>) -> Result<(usize, &'a str), String> {
        let number = self.number;
        if let Some(name) = name {
            let found = self.all.iter().find(|(_, step)| *step == name);
            return found.copied().ok_or_else(|| {
                let name = Name(name);
                let known = self.names(&self.all);
                format!("step {number} has no outcome of `{name}`; expected {known}")
            });
        }

        // The calls of a composite step are part of its outcome.
        let whole = self.all.iter().copied();
        let whole = whole.filter(|(_, step)| step_around_call(step).is_none());
        let whole: Vec<_> = whole.collect();
        match whole.as_slice() {
            [one] => Ok(*one),
            [] => Err(format!("no outcome of step {number} is on record")),
            several => {
                let known = self.names(several);
                Err(format!(
                    "step {number} has several outcomes; expected a new one of {known}"
                ))
            }
        }
    }

    fn names(&self, outcomes: &[(usize, &'a str)]) -> String {
        if outcomes.is_empty() {
            return "a step with an outcome on record".to_owned();
        }

        let mut names: Vec<_> = outcomes.iter().map(|(_, step)| *step).collect();
        names.sort_unstable();
        NameList::or(names).to_string()
    }
}
