//! Decides which lines of a record a fork keeps.

use std::collections::{HashMap, VecDeque};

use cogwork_flow::engine::{Entry, Json, Moment};

use super::step::{comes_after, is_around_or_with};
use crate::read::Line;

/// The lines that a fork keeps, in the order in which it needs them.
#[derive(Default)]
pub(super) struct Kept {
    /// The steps before the one at which the runs part, with the answers that they used.
    pub(super) before: Vec<Line>,
    /// The outcomes of that step, if some of them were edited.
    pub(super) at: Vec<Line>,
    /// Answers that no step has used yet.
    pub(super) unused: Vec<Line>,
}

/// A different outcome of a step.
pub(super) struct Edited {
    pub(super) step: String,
    pub(super) outcome: Json,
    /// The index of the line that records the step.
    pub(super) line: usize,
}

/// Where two runs part.
pub(super) struct Cut<'a> {
    /// The first step that isn't kept, except for the part of it that the edits don't affect.
    pub(super) step: u64,
    pub(super) edits: &'a [Edited],
}

/// What becomes of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Before,
    At,
    Unused,
    Dropped,
}

impl Cut<'_> {
    pub(super) fn apply(&self, lines: Vec<Line>) -> Kept {
        let parts = self.parts(&lines);
        let answers = self.edited_answers(&lines);
        let mut kept = Kept::default();

        for (index, (line, part)) in lines.into_iter().zip(parts).enumerate() {
            let line = self.edited(line, answers.get(&index).copied());
            match part {
                Part::Before => kept.before.push(line),
                Part::At => kept.at.push(line),
                Part::Unused => kept.unused.push(line),
                Part::Dropped => {}
            }
        }

        kept
    }

    /// Returns the part of each line.
    ///
    /// A step uses the oldest answer to its event. So an answer goes where the step is that used it.
    /// If that step is dropped, the answer is unused, unless it arrived after the runs part.
    fn parts(&self, lines: &[Line]) -> Vec<Part> {
        let parts = lines.iter().enumerate();
        let parts = parts.map(|(index, line)| self.part(index, &line.entry));
        let mut parts: Vec<_> = parts.collect();

        let is_dropped_step =
            |(line, part): (&Line, &Part)| *part == Part::Dropped && step(&line.entry).is_some();
        // From the first dropped step on, the record is about what the new run does anew.
        let end = lines.iter().zip(&parts).position(is_dropped_step);
        let end = end.unwrap_or(lines.len());

        for arrival in arrivals(lines) {
            // An answer that was refused after the runs part may be what the new run needs.
            let used = arrival
                .used
                .filter(|used| *used < end || !is_refusal(lines, *used));
            let by = used.and_then(|used| parts.get(used).copied());
            let part = match by {
                Some(part @ (Part::Before | Part::At)) => part,
                // It was refused before the runs part, and is dropped with its refusal.
                Some(Part::Dropped) if used.is_some_and(|used| used < end) => Part::Dropped,
                _ if arrival.line < end => Part::Unused,
                _ => Part::Dropped,
            };
            if let Some(of_arrival) = parts.get_mut(arrival.line) {
                *of_arrival = part;
            }
        }

        parts
    }

    fn part(&self, index: usize, entry: &Entry) -> Part {
        if let Some(step) = step(entry) {
            return self.part_of_step(index, step);
        }

        match entry {
            // A replay doesn't need them: a refused answer is dropped together with its refusal.
            Entry::Refused { .. }
            | Entry::Paused
            | Entry::Failed { .. }
            | Entry::Resumed
            | Entry::Ended { .. } => Part::Dropped,
            // A snapshot or the beginning; the part of an answer depends on the step that used it.
            _ => Part::Before,
        }
    }

    fn part_of_step(&self, index: usize, step: &str) -> Part {
        let number = Moment::outermost_number(step);
        if number < self.step {
            return Part::Before;
        }
        if number > self.step || self.edits.is_empty() {
            return Part::Dropped;
        }

        // An outcome that was made before the edited one, or beside it, doesn't depend on it.
        let is_edited = self.edits.iter().any(|edit| edit.step == step);
        let is_affected = self.edits.iter().any(|edit| edit.affects(index, step));
        if is_edited || !is_affected {
            Part::At
        } else {
            Part::Dropped
        }
    }

    /// Returns the lines of the answers that are edited, with the new answers.
    fn edited_answers(&self, lines: &[Line]) -> HashMap<usize, &Json> {
        let edited = |used: usize| self.edits.iter().find(|edit| edit.line == used);
        let arrivals = arrivals(lines).into_iter();
        let answers =
            arrivals.filter_map(|arrival| Some((arrival.line, &edited(arrival.used?)?.outcome)));
        answers.collect()
    }

    fn edited(&self, line: Line, new_answer: Option<&Json>) -> Line {
        let entry = match line.entry {
            Entry::Outcome { step, outcome } => {
                let edit = self.edits.iter().find(|edit| edit.step == step);
                let outcome = edit.map_or(outcome, |edit| edit.outcome.clone());
                Entry::Outcome { step, outcome }
            }
            Entry::Answer { event, answer } => {
                let answer = new_answer.cloned().unwrap_or(answer);
                Entry::Answer { event, answer }
            }
            other => other,
        };

        Line { entry, ..line }
    }
}

impl Edited {
    /// Returns whether what a line records of a step may depend on the edited outcome.
    fn affects(&self, line: usize, step: &str) -> bool {
        comes_after(step, &self.step) || line > self.line && is_around_or_with(step, &self.step)
    }
}

/// An answer that arrived.
struct Arrival {
    line: usize,
    /// The line that records its use or its refusal.
    used: Option<usize>,
}

fn arrivals(lines: &[Line]) -> Vec<Arrival> {
    let mut arrivals: Vec<Arrival> = Vec::new();
    let mut unused: HashMap<&str, VecDeque<usize>> = HashMap::new();

    for (index, line) in lines.iter().enumerate() {
        match &line.entry {
            Entry::Answer { event, .. } => {
                unused.entry(event).or_default().push_back(arrivals.len());
                arrivals.push(Arrival {
                    line: index,
                    used: None,
                });
            }
            Entry::Taken { event, .. } | Entry::Refused { event, .. } => {
                let oldest = unused.get_mut(event.as_str());
                let oldest = oldest.and_then(VecDeque::pop_front);
                let arrival = oldest.and_then(|oldest| arrivals.get_mut(oldest));
                if let Some(arrival) = arrival {
                    arrival.used = Some(index);
                }
            }
            _ => {}
        }
    }

    arrivals
}

/// Returns the answer that the line with this index uses.
pub(super) fn answer_at(lines: &[Line], used: usize) -> Option<Json> {
    let arrivals = arrivals(lines);
    let arrival = arrivals.iter().find(|arrival| arrival.used == Some(used))?;

    match &lines.get(arrival.line)?.entry {
        Entry::Answer { answer, .. } => Some(answer.clone()),
        _ => None,
    }
}

fn is_refusal(lines: &[Line], index: usize) -> bool {
    let line = lines.get(index);
    line.is_some_and(|line| matches!(line.entry, Entry::Refused { .. }))
}

/// Returns the name of the step that an entry records.
pub(super) fn step(entry: &Entry) -> Option<&str> {
    match entry {
        Entry::Outcome { step, .. }
        | Entry::Sleep { step, .. }
        | Entry::Waiting { step, .. }
        | Entry::Taken { step, .. }
        | Entry::TimedOut { step } => Some(step),
        _ => None,
    }
}
