//! Decides what a fork begins with.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use cogwork_flow::Flow;
use cogwork_flow::journal::{Entry, Json, Snapshot};
use cogwork_text::{Name, NameList};

use super::cut::{Cut, Edited, Kept, answer_at, step};
use super::previewed::ForkOutcome;
use super::replay::Replay;
use super::step::{outermost_number, step_around_call};
use super::{At, Fork, ForkOrigin, NewOutcome};
use crate::error::Kind;
use crate::header::Header;
use crate::record::{Line, Record, Wanted, check_order};
use crate::time::now;
use crate::{Store, StoreError};

/// What a fork begins with.
pub(super) struct Plan {
    /// The location of the other run, for messages.
    pub(super) place: String,
    /// The header of the other run.
    pub(super) header: Header,
    pub(super) origin: ForkOrigin,
    /// The lines of the new run after its header.
    pub(super) lines: Vec<Line>,
    /// The recorded outcomes of the step at which the runs part.
    pub(super) outcomes: Vec<ForkOutcome>,
    pub(super) steps: KeptSteps,
}

/// How many steps a fork replays, after the snapshot with which it begins, if there is one.
#[derive(Debug, Clone, Copy)]
pub(super) struct KeptSteps {
    /// Those of which everything is on record.
    pub(super) complete: u64,
    /// Those of which a part may be on record.
    pub(super) partial: u64,
}

impl<S> Fork<S> {
    /// Reads the record of a run, and returns what the fork keeps of it.
    pub(super) async fn plan(
        self,
        store: &Store,
        run_id: &str,
        flow: &Flow<S>,
    ) -> Result<Plan, StoreError> {
        let opener = store.opener(run_id);
        let wanted = Wanted::Fork {
            flow: flow.graph(),
            changes_flow: self.changes_flow,
        };
        let Record { header, lines } = opener.read(&wanted).await?;
        let place = opener.place();
        let source = Source {
            place: &place,
            run_id,
        };

        let Fork {
            at,
            outcomes,
            state,
            ..
        } = self;

        let steps = source.steps(&lines);
        let is_at_end = at == At::End;
        let step = source.step(at, &steps, &lines)?;
        if is_at_end && !outcomes.is_empty() {
            let problem = "an outcome can be edited with `Fork::at`, not with `Fork::at_end`";
            return Err(source.problem(Kind::UnknownStep, &problem));
        }

        let recorded = Outcomes::of(&lines, step).values(&lines);
        let edits = source.edits(step, &lines, outcomes)?;
        let origin = ForkOrigin {
            run_id: run_id.to_owned(),
            step,
            edited_outcomes: edits.iter().map(|edit| edit.step.clone()).collect(),
            edited_state: state.is_some(),
        };

        let edits = &edits;
        let mut kept = Cut { step, edits }.apply(lines);
        let mut replayed = KeptSteps::of(step, &steps, !edits.is_empty());
        if let Some(state) = state {
            let first = first_state(&kept.before).map_or_else(|| Json::of(&header.input), Ok);
            let replay = Replay {
                place: place.clone(),
                run_id: run_id.to_owned(),
                first: first.map_err(|problem| source.problem(Kind::Damaged, &problem))?,
                entries: kept.before.iter().map(|line| line.entry.clone()).collect(),
                steps: step - steps.start(),
            };
            let snapshot = state(flow, replay).await?;
            kept.replace_steps(snapshot);
            replayed = KeptSteps::of(step, &(step..=u64::MAX), !edits.is_empty());
        }

        let lines = kept.into_lines();
        check_order(&lines).map_err(|error| source.problem(Kind::Damaged, &error.problem))?;

        Ok(Plan {
            place,
            header,
            origin,
            lines,
            outcomes: recorded,
            steps: replayed,
        })
    }
}

impl KeptSteps {
    /// Returns the steps before this one, of those that are on record, and the step itself if its
    /// outcome is edited.
    fn of(step: u64, recorded: &RangeInclusive<u64>, has_edits: bool) -> Self {
        let before = step - recorded.start();
        // The last step on record may be incomplete.
        let is_at_end = step == *recorded.end() && before > 0;

        Self {
            complete: before - u64::from(is_at_end),
            partial: u64::from(is_at_end) + u64::from(has_edits),
        }
    }
}

/// The run that is forked, for messages.
struct Source<'a> {
    place: &'a str,
    run_id: &'a str,
}

impl Source<'_> {
    /// Returns the steps at which the run can be forked.
    fn steps(&self, lines: &[Line]) -> RangeInclusive<u64> {
        let folded = match lines.first().map(|line| &line.entry) {
            Some(Entry::Snapshot(snapshot)) => snapshot.number,
            _ => 0,
        };
        let steps = lines.iter().filter_map(|line| step(&line.entry));
        let last = steps.map(outermost_number).max();
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

        let why = if step < first && step > 0 {
            "was replaced by a snapshot"
        } else {
            "isn't on record"
        };
        let problem = format!("step {step} {why}; expected a step from {first} to {end}");
        Err(self.problem(Kind::UnknownStep, &problem))
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
            return Err(self.problem(Kind::UnknownStep, &problem));
        }

        let steps = lines.iter().filter_map(|line| step(&line.entry));
        let visits = steps.filter(|step| super::step::node(step) == node);
        let visits: BTreeSet<u64> = visits.map(outermost_number).collect();
        let index = usize::try_from(number).unwrap_or(usize::MAX).checked_sub(1);
        let visit = index.and_then(|index| visits.iter().nth(index));

        visit.copied().ok_or_else(|| {
            let known = visits.len();
            let problem = format!(
                "visit {number} to the node `{node_name}` isn't on record; {known} are on record"
            );
            self.problem(Kind::UnknownStep, &problem)
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
                found.map_err(|problem| self.problem(Kind::UnknownStep, &problem))?;
            let refused = |problem| {
                let problem = format!("the new outcome of `{}`: {problem}", Name(step));
                self.problem(Kind::Value, &problem)
            };
            Ok(Edited {
                step: step.to_owned(),
                outcome: new.outcome.map_err(refused)?,
                line,
            })
        });

        edits.collect()
    }

    fn problem(&self, kind: Kind, problem: &dyn std::fmt::Display) -> StoreError {
        let place = self.place;
        let run_id = Name(self.run_id);
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
        let all = outcomes.filter(|(_, step)| outermost_number(step) == number);
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

        let whole = self.all.iter().copied();
        let whole = whole.filter(|(_, step)| step_around_call(step).is_none());
        let whole: Vec<_> = whole.collect();
        match whole.as_slice() {
            [one] => Ok(*one),
            [] => Err(format!("no outcome of step {number} is on record")),
            several => {
                let known = self.names(several);
                Err(format!(
                    "step {number} has several outcomes; expected `Fork::with_outcome_of` with {known}"
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

pub(super) fn first_state(lines: &[Line]) -> Option<Json> {
    match &lines.first()?.entry {
        Entry::Snapshot(snapshot) => Some(snapshot.state.clone()),
        _ => None,
    }
}

impl Kept {
    /// Replaces the steps before the fork with a snapshot.
    fn replace_steps(&mut self, snapshot: Snapshot) {
        self.before = vec![Line {
            entry: Entry::Snapshot(snapshot),
            at: Some(now()),
        }];
    }

    fn into_lines(self) -> Vec<Line> {
        [self.before, self.at, self.unused].concat()
    }
}
