use std::collections::BTreeMap;
use std::fmt;

use itertools::Itertools;
use serde::{Deserialize, Serialize};

use crate::Problem;
use crate::columns::Unit;
use crate::stats::{bootstrap, mcnemar, pass_at, wilson};

/// A run of an arm on a problem.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunResult {
    /// The id of the problem.
    pub problem: String,
    /// The number of the repetition, from 1.
    pub repetition: u32,
    /// The id of the run in the store.
    pub run: String,
    /// The name of its page, which is safe on all platforms.
    pub page: String,
    /// The answer; `None` if the run failed.
    pub answer: Option<String>,
    /// Why the run failed, in one line.
    pub error: Option<String>,
    /// Whether the answer is right.
    pub right: bool,
    /// What the run used, by the names of columns: `calls`, `tokens`, `seconds`, `cost` and so on.
    pub used: BTreeMap<String, f64>,
}

/// The results of an arm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ArmResult {
    /// The name.
    pub name: String,
    /// The mean rate of right answers over all problems. A run that failed counts as wrong.
    pub accuracy: f64,
    /// The 95 % interval of the accuracy.
    pub interval: [f64; 2],
    /// All numbers by the names of columns. What runs used is the mean.
    pub numbers: BTreeMap<String, f64>,
    /// The number of runs that failed, by reason.
    pub failed: BTreeMap<String, usize>,
    /// The results by tag, and by difficulty, such as `difficulty 3`.
    pub by_tag: BTreeMap<String, Share>,
    /// All runs.
    pub runs: Vec<RunResult>,
}

/// The accuracy on a part of the problems.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Share {
    /// The number of problems.
    pub problems: usize,
    /// The accuracy.
    pub accuracy: f64,
    /// Its 95 % interval.
    pub interval: [f64; 2],
}

impl Share {
    /// Returns the mean of the rates of right answers by problem. Tries of one problem depend on each
    /// other, so the interval is that of the number of problems.
    pub(crate) fn of(rates: &[f64]) -> Self {
        let right: f64 = rates.iter().sum();
        Self {
            problems: rates.len(),
            accuracy: right / rates.len().max(1) as f64,
            interval: wilson(right, rates.len() as f64),
        }
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (accuracy, range) = (self.accuracy * 100.0, range(self.interval));
        write!(f, "{accuracy:.1} % of {}{range}", self.problems)
    }
}

impl ArmResult {
    pub(crate) fn of(name: &str, runs: Vec<RunResult>, problems: &[Problem]) -> Self {
        let tries = tries(&runs);
        let mut by_tag: BTreeMap<_, Vec<f64>> = BTreeMap::new();
        for problem in problems {
            let rate = tries.get(problem.id.as_str()).map(|runs| rate(runs));
            for tag in problem.all_tags() {
                by_tag.entry(tag).or_default().extend(rate);
            }
        }
        let by_tag = by_tag
            .into_iter()
            .map(|(tag, rates)| (tag, Share::of(&rates)));

        let share = Share::of(&tries.values().map(|runs| rate(runs)).collect_vec());
        let failed = runs.iter().filter_map(|run| run.error.clone()).counts();
        Self {
            name: name.to_owned(),
            accuracy: share.accuracy,
            interval: share.interval,
            numbers: numbers(&runs, &tries, &share),
            failed: failed.into_iter().collect(),
            by_tag: by_tag.collect(),
            runs,
        }
    }

    /// Adds the difference to a baseline on the same problems, and the p-value that there is none.
    pub(crate) fn compare(&mut self, baseline: &Self) {
        let mut differences = Vec::new();
        let (mut only_this, mut only_other) = (0, 0);
        let others = tries(&baseline.runs);
        for (problem, runs) in tries(&self.runs) {
            // An evaluation that was stopped may have a problem for only one of them.
            let Some(others) = others.get(problem) else {
                continue;
            };
            let (this, other) = (rate(&runs), rate(others));
            differences.push(this - other);
            // A problem is solved if most of the tries are right.
            only_this += u64::from(this > 0.5 && other <= 0.5);
            only_other += u64::from(this <= 0.5 && other > 0.5);
        }

        let [low, high] = bootstrap(&differences);
        let mean = differences.iter().sum::<f64>() / differences.len().max(1) as f64;
        let numbers = [
            ("difference", mean),
            ("difference_low", low),
            ("difference_high", high),
            ("p", mcnemar(only_this, only_other)),
        ];
        self.numbers.extend(named(numbers));
    }

    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        self.numbers.get(name).copied()
    }

    /// Returns a number and its interval for people; empty if there is none.
    pub(crate) fn text(&self, name: &str, unit: Unit) -> String {
        let number = self.number(name).map(|number| unit.write(number));
        let end = |end| self.number(&format!("{name}_{end}"));
        let interval = end("low").zip(end("high"));
        let interval = interval.map(|(low, high)| range([low, high]));
        number.unwrap_or_default() + &interval.unwrap_or_default()
    }
}

/// Writes an interval in percent.
fn range(interval: [f64; 2]) -> String {
    let [low, high] = interval.map(|end| end * 100.0);
    format!(" ({low:.1} to {high:.1})")
}

pub(crate) fn named<const N: usize>(numbers: [(&str, f64); N]) -> BTreeMap<String, f64> {
    numbers
        .map(|(name, number)| (name.to_owned(), number))
        .into()
}

/// Returns the runs by problem, in the order of the names, so that the same runs give the same sums.
fn tries(runs: &[RunResult]) -> BTreeMap<&str, Vec<&RunResult>> {
    let tries = runs.iter().into_group_map_by(|run| run.problem.as_str());
    tries.into_iter().collect()
}

fn right(runs: &[&RunResult]) -> u64 {
    runs.iter().filter(|run| run.right).count() as u64
}

fn rate(runs: &[&RunResult]) -> f64 {
    right(runs) as f64 / runs.len() as f64
}

fn numbers(
    runs: &[RunResult],
    tries: &BTreeMap<&str, Vec<&RunResult>>,
    share: &Share,
) -> BTreeMap<String, f64> {
    let [low, high] = share.interval;
    let accuracy = [
        ("accuracy", share.accuracy),
        ("accuracy_low", low),
        ("accuracy_high", high),
    ];
    let mut numbers = named(accuracy);
    for (name, used) in runs.iter().flat_map(|run| &run.used) {
        *numbers.entry(name.clone()).or_default() += used / runs.len() as f64;
    }

    let mean = |value: &dyn Fn(&[&RunResult]) -> f64| {
        let values = tries.values().map(|runs| value(runs));
        values.sum::<f64>() / tries.len() as f64
    };
    let fewest = tries.values().map(Vec::len).min().unwrap_or_default() as u64;
    for k in [2, 4, 8].into_iter().filter(|k| *k <= fewest) {
        let any = mean(&|runs| pass_at(k, right(runs), runs.len() as u64));
        let majority = mean(&|runs| f64::from(u8::from(is_majority_right(runs))));
        numbers.extend([
            (format!("any_of_{k}"), any),
            ("majority".to_owned(), majority),
        ]);
    }
    numbers
}

/// Returns whether the most frequent answer is right. Of equally frequent ones, the first counts; a
/// run that failed has no vote.
fn is_majority_right(runs: &[&RunResult]) -> bool {
    let votes = runs
        .iter()
        .filter_map(|run| Some((run.answer.as_deref()?.trim(), run.right)));
    let counts = votes.clone().counts();

    // Of equal ones, `max_by_key` returns the last.
    let most = votes.rev().max_by_key(|vote| counts.get(vote));
    most.is_some_and(|(_, is_right)| is_right)
}
