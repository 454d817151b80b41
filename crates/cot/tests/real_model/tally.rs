//! Statistics of many runs, for comparing models, prompts and settings.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use cogwork_cot::{FinishReason, Reasoning, Reply, Thought, Try, Usage};
use cogwork_plan::ChangeKind;

use crate::End;
use crate::recorder::Call;

#[derive(Default)]
pub(crate) struct Tally {
    ends: Vec<End>,
    /// Runs that came to an end or a limit and have no plan with a problem.
    pub(crate) thoughts: usize,
    /// Statuses that are others than in the thought before.
    pub(crate) moves: usize,
    /// What became of the first reply of each turn, and of those that were asked for after it.
    first: BTreeMap<Verdict, usize>,
    later: BTreeMap<Verdict, usize>,
    usage: Usage,
    time: Duration,
}

impl Tally {
    pub(crate) fn add(
        &mut self,
        end: End,
        reasoning: &Reasoning,
        turns: &[&[Try]],
        calls: &[Call],
    ) {
        let plans: Vec<_> = reasoning.thoughts().iter().map(Thought::planning).collect();
        self.ends.push(end);
        self.thoughts += plans.len();
        self.moves += plans
            .windows(2)
            .flat_map(|pair| pair[1].changes_since(pair[0]))
            .filter(|change| matches!(change.kind, ChangeKind::StatusChanged { .. }))
            .count();

        let mut rest = calls.iter();
        for turn in turns {
            for (number, (tried, call)) in turn.iter().zip(&mut rest).enumerate() {
                let counts = if number == 0 {
                    &mut self.first
                } else {
                    &mut self.later
                };
                *counts.entry(Verdict::of(tried, call)).or_default() += 1;
            }
        }

        for call in calls {
            self.usage += call.response.usage().unwrap_or_default();
            self.time += call.time;
        }
    }

    /// Replies that were not whole or not in the right form.
    pub(crate) fn unread(&self) -> usize {
        let counts = self.first.iter().chain(&self.later);
        counts
            .filter(|(verdict, _)| matches!(verdict, Verdict::CutOff | Verdict::Unread(_)))
            .map(|(_, count)| count)
            .sum()
    }

    fn ended(&self, end: End) -> usize {
        self.ends.iter().filter(|found| **found == end).count()
    }
}

/// What a reply was good for.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    Usable,
    EndedEarly,
    CutOff,
    /// The kind of what was wrong.
    Unread(String),
}

impl Verdict {
    fn of(tried: &Try, call: &Call) -> Self {
        if tried.complaint.is_none() {
            return Self::Usable;
        } else if *call.response.finish_reason() == FinishReason::Length {
            return Self::CutOff;
        }

        match Reply::read(&tried.reply, usize::MAX) {
            Ok(_) => Self::EndedEarly,
            Err(problem) => Self::Unread(format!("{:?}", problem.kind())),
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            ends,
            thoughts,
            moves,
            first,
            later,
            usage,
            time,
        } = self;

        let solved = self.ended(End::Solved);
        let limit = self.ended(End::Limit);
        let turns = first.values().sum::<usize>();
        let again = later.values().sum::<usize>();
        writeln!(
            f,
            "{} of {} runs gave a whole trace: {solved} ended, {limit} reached a limit",
            solved + limit,
            ends.len()
        )?;

        writeln!(
            f,
            "{thoughts} thoughts in {turns} turns; {moves} statuses moved"
        )?;
        writeln!(
            f,
            "first replies of a turn: {first:?}; asked again: {later:?}"
        )?;
        let each = |sum: u64| sum as f64 / (turns + again).max(1) as f64;

        writeln!(
            f,
            "a call: {:.0} tokens read ({:.0} cached), {:.0} written, {:.1} s; a turn: {:.1} s",
            each(usage.prompt_tokens),
            each(usage.cached_tokens),
            each(usage.completion_tokens),
            time.as_secs_f64() / (turns + again).max(1) as f64,
            time.as_secs_f64() / turns.max(1) as f64,
        )
    }
}
