use std::collections::BTreeMap;
use std::fmt;

use itertools::Itertools;
use serde::{Deserialize, Serialize};

use crate::columns::Write;
use crate::stats::{bootstrap, mcnemar, pass_at, wilson};
use crate::{Problem, Suite};

/// The results of an evaluation.
///
/// `{}` writes it as text, which is also Markdown; [`csv`](Self::csv), [`page`](Self::page) and serde
/// write it in other forms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Table {
    /// The name of the suite.
    pub suite: String,
    /// The number of problems.
    pub problems: usize,
    /// How often each arm was to try each problem.
    pub repetitions: u32,
    /// The number of runs that were not made, because a limit was reached or the evaluation was
    /// stopped.
    pub not_run: usize,
    /// How many these are, of which arms, and what stopped the evaluation, for people.
    pub not_made: Option<String>,
    /// How often the judge agrees with its labels.
    pub judge: Option<Share>,
    /// The arms, in the order of the suite.
    pub arms: Vec<ArmResult>,
}

/// Runs by the indices of their arms, and their order.
pub(crate) type Runs = BTreeMap<(usize, usize), RunResult>;

impl Table {
    pub(crate) fn of(suite: &Suite, runs: &Runs, judge: Option<Share>) -> Self {
        let arms = suite.arms.iter().enumerate().map(|(index, arm)| {
            let runs = runs.range((index, 0)..(index + 1, 0));
            let runs = runs.map(|(_, run)| run.clone()).collect();
            ArmResult::of(&arm.name, runs, &suite.problems)
        });
        let mut arms: Vec<_> = arms.collect();
        let baseline = suite.baseline.as_ref();
        let baseline = arms.iter().find(|arm| Some(&arm.name) == baseline);
        if let Some(baseline) = baseline.cloned() {
            // The baseline, too, so that conditions can be met by all arms.
            arms.iter_mut().for_each(|arm| arm.compare(&baseline));
        }

        Self {
            suite: suite.name.clone(),
            problems: suite.problems.len(),
            repetitions: suite.repetitions,
            not_run: suite.runs().saturating_sub(runs.len()),
            not_made: None,
            judge,
            arms,
        }
    }

    /// Returns whether all runs of an arm were made.
    pub(crate) fn is_whole(&self, arm: &ArmResult) -> bool {
        arm.runs.len() == self.problems * self.repetitions as usize
    }

    /// Returns the arm with this name.
    pub fn arm(&self, name: &str) -> Option<&ArmResult> {
        self.arms.iter().find(|arm| arm.name == name)
    }
}

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
    /// The mean rate of right answers over all problems; `None` if there are no runs. A run that failed
    /// counts as wrong.
    pub accuracy: Option<f64>,
    /// The 95 % interval of the accuracy.
    pub interval: Option<[f64; 2]>,
    /// All numbers by the names of columns. What runs used is the mean.
    pub numbers: BTreeMap<String, f64>,
    /// The number of runs that failed, by reason.
    pub failed: BTreeMap<String, usize>,
    /// The results by tag, and by difficulty, such as `difficulty 3`, of those with runs.
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
    /// other, so the interval is that of the number of problems. `None` if there are no rates.
    pub(crate) fn of(rates: &[f64]) -> Option<Self> {
        let right: f64 = rates.iter().sum();
        (!rates.is_empty()).then(|| Self {
            problems: rates.len(),
            accuracy: right / rates.len() as f64,
            interval: wilson(right, rates.len() as f64),
        })
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
        let by_tag = by_tag.into_iter();

        let share = Share::of(&tries.values().map(|runs| rate(runs)).collect_vec());
        let failed = runs.iter().filter_map(|run| run.error.clone()).counts();
        Self {
            name: name.to_owned(),
            accuracy: share.map(|share| share.accuracy),
            interval: share.map(|share| share.interval),
            numbers: numbers(&runs, &tries, share),
            failed: failed.into_iter().collect(),
            by_tag: by_tag
                .filter_map(|(tag, rates)| Some((tag, Share::of(&rates)?)))
                .collect(),
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

        if differences.is_empty() {
            return;
        }

        let mean = differences.iter().sum::<f64>() / differences.len() as f64;
        let difference = with_ends("difference", mean, bootstrap(&differences));
        self.numbers.extend(difference);
        let p = mcnemar(only_this, only_other);
        self.numbers.insert("p".to_owned(), p);
    }

    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        self.numbers.get(name).copied()
    }

    /// Returns whether a cost is unknown, because a call has no price.
    pub(crate) fn is_unknown(&self, name: &str) -> bool {
        name.ends_with("cost") && !self.runs.is_empty() && self.number(name).is_none()
    }

    /// Returns a number and its interval for people; empty if there is none.
    pub(crate) fn text(&self, name: &str, write: Write) -> String {
        if self.is_unknown(name) {
            return "unknown".to_owned();
        }

        let number = self.number(name).map(write);
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

/// Returns a number with the ends of its interval, which have names of their own.
fn with_ends(name: &str, number: f64, [low, high]: [f64; 2]) -> [(String, f64); 3] {
    let end = |end| format!("{name}_{end}");
    [
        (name.to_owned(), number),
        (end("low"), low),
        (end("high"), high),
    ]
}

type Tries<'a> = BTreeMap<&'a str, Vec<&'a RunResult>>;

/// Returns the runs by problem, in the order of the names, so that the same runs give the same sums.
fn tries(runs: &[RunResult]) -> Tries<'_> {
    let tries = runs.iter().into_group_map_by(|run| run.problem.as_str());
    tries.into_iter().collect()
}

fn right(runs: &[&RunResult]) -> u64 {
    runs.iter().filter(|run| run.right).count() as u64
}

fn rate(runs: &[&RunResult]) -> f64 {
    right(runs) as f64 / runs.len() as f64
}

fn numbers(runs: &[RunResult], tries: &Tries<'_>, share: Option<Share>) -> BTreeMap<String, f64> {
    let accuracy = share.map(|share| with_ends("accuracy", share.accuracy, share.interval));
    let mut numbers: BTreeMap<_, _> = accuracy.into_iter().flatten().collect();
    for name in runs.first().into_iter().flat_map(|run| run.used.keys()) {
        let used = runs.iter().map(|run| run.used.get(name).copied());
        // The mean of costs of which one is unknown is unknown.
        let sum: Option<f64> = used.sum();
        numbers.extend(sum.map(|sum| (name.clone(), sum / runs.len() as f64)));
    }

    let mean = |value: &dyn Fn(&[&RunResult]) -> f64| {
        let values = tries.values().map(|runs| value(runs));
        values.sum::<f64>() / tries.len() as f64
    };
    let fewest = tries.values().map(Vec::len).min().unwrap_or_default() as u64;
    // With fewer tries than k, there is no estimate.
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
