use std::collections::{BTreeMap, BTreeSet};
use std::ops::Add;

use cogwork_text::files::safe_name;
use serde::{Deserialize, Serialize};

use crate::Problem;
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
    /// The answer; `None` if the run failed.
    pub answer: Option<String>,
    /// Why the run failed, in one line.
    pub error: Option<String>,
    /// Whether the answer is right.
    pub right: bool,
    /// What the run used.
    pub cost: Cost,
}

impl RunResult {
    /// Returns a name for the page of the run, which is safe on all platforms.
    pub fn page_name(&self) -> String {
        page_name(&self.run)
    }
}

pub(crate) fn page_name(run: &str) -> String {
    safe_name(run) + ".html"
}

/// What a run used, or runs in the mean.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Cost {
    /// The number of calls of models.
    pub calls: f64,
    /// The tokens of prompts.
    pub prompt_tokens: f64,
    /// The tokens of replies.
    pub completion_tokens: f64,
    /// The tokens of prompts that a cache had.
    pub cached_tokens: f64,
    /// The time from the start to the last entry of the journal, in seconds.
    pub seconds: f64,
    /// The cost by the price table, in US dollars; 0 for models without a price.
    pub money: f64,
    /// The number of replies that had to be repaired.
    pub repairs: f64,
    /// The number of questions that were asked again.
    pub asked_again: f64,
}

impl Cost {
    pub(crate) fn tokens(&self) -> f64 {
        self.prompt_tokens + self.completion_tokens
    }

    fn mean(runs: &[RunResult]) -> Self {
        let total = runs.iter().fold(Self::default(), |sum, run| sum + run.cost);
        let count = runs.len().max(1) as f64;
        total.each(Self::default(), |value, _| value / count)
    }

    fn each(self, other: Self, combine: impl Fn(f64, f64) -> f64) -> Self {
        Self {
            calls: combine(self.calls, other.calls),
            prompt_tokens: combine(self.prompt_tokens, other.prompt_tokens),
            completion_tokens: combine(self.completion_tokens, other.completion_tokens),
            cached_tokens: combine(self.cached_tokens, other.cached_tokens),
            seconds: combine(self.seconds, other.seconds),
            money: combine(self.money, other.money),
            repairs: combine(self.repairs, other.repairs),
            asked_again: combine(self.asked_again, other.asked_again),
        }
    }
}

impl Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        self.each(other, |one, other| one + other)
    }
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
    /// The difference to the baseline; `None` for the baseline itself, or without one.
    pub difference: Option<Difference>,
    /// The estimated probability that at least one of k tries is right, for k of 1, 2, 4 and so on.
    pub pass_at: BTreeMap<u32, f64>,
    /// The rate of problems whose most frequent answer is right.
    pub majority: f64,
    /// The number of runs that failed, by reason.
    pub failed: BTreeMap<String, usize>,
    /// What a run used in the mean.
    pub cost: Cost,
    /// The results by tag, and by difficulty, such as `difficulty 3`.
    pub by_tag: BTreeMap<String, Share>,
    /// All runs.
    pub runs: Vec<RunResult>,
}

/// How an arm differs from the baseline on the same problems.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Difference {
    /// The mean difference of the accuracy.
    pub accuracy: f64,
    /// Its 95 % interval.
    pub interval: [f64; 2],
    /// The exact p-value of McNemar's test, by the most frequent result for each problem.
    pub p: f64,
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
    pub(crate) fn of(right: f64, problems: usize) -> Self {
        Self {
            problems,
            accuracy: right / problems.max(1) as f64,
            interval: wilson(right, problems as f64),
        }
    }
}

impl ArmResult {
    pub(crate) fn of(name: &str, runs: Vec<RunResult>, problems: &[Problem]) -> Self {
        let tries = Tries::of(&runs);
        let whole = tries.share(problems, |_| true);
        let tags: BTreeSet<_> = problems.iter().flat_map(Problem::all_tags).collect();
        let by_tag = tags.into_iter().map(|tag| {
            let share = tries.share(problems, |problem| problem.all_tags().contains(&tag));
            (tag, share)
        });

        let mut failed: BTreeMap<String, usize> = BTreeMap::new();
        for error in runs.iter().filter_map(|run| run.error.clone()) {
            *failed.entry(error).or_default() += 1;
        }

        Self {
            name: name.to_owned(),
            accuracy: whole.accuracy,
            interval: whole.interval,
            difference: None,
            pass_at: tries.pass_at(),
            majority: tries.mean(|runs| f64::from(u8::from(is_majority_right(runs)))),
            failed,
            cost: Cost::mean(&runs),
            by_tag: by_tag.collect(),
            runs,
        }
    }

    pub(crate) fn failures(&self) -> usize {
        self.failed.values().sum()
    }
}

impl Difference {
    pub(crate) fn of(arm: &ArmResult, baseline: &ArmResult) -> Self {
        let (arm, baseline) = (Tries::of(&arm.runs), Tries::of(&baseline.runs));
        let pairs = arm.0.iter().filter_map(|(problem, runs)| {
            let others = baseline.0.get(problem)?;
            Some((rate(runs), rate(others)))
        });
        let pairs: Vec<_> = pairs.collect();

        let solved = |rate: f64| rate > 0.5;
        let only = |is_arm: bool| {
            let pairs = pairs.iter();
            let only =
                pairs.filter(|(one, other)| (solved(*one), solved(*other)) == (is_arm, !is_arm));
            only.count() as u64
        };
        let differences: Vec<_> = pairs.iter().map(|(one, other)| one - other).collect();
        Self {
            accuracy: differences.iter().sum::<f64>() / differences.len().max(1) as f64,
            interval: bootstrap(&differences),
            p: mcnemar(only(true), only(false)),
        }
    }
}

/// The runs of an arm by problem.
struct Tries<'a>(BTreeMap<&'a str, Vec<&'a RunResult>>);

impl<'a> Tries<'a> {
    fn of(runs: &'a [RunResult]) -> Self {
        let mut tries: BTreeMap<&str, Vec<&RunResult>> = BTreeMap::new();
        for run in runs {
            tries.entry(&run.problem).or_default().push(run);
        }
        Self(tries)
    }

    /// Returns the accuracy on some of the problems. Tries of one problem depend on each other, so
    /// the interval is that of the number of problems.
    fn share(&self, problems: &[Problem], is_part: impl Fn(&Problem) -> bool) -> Share {
        let part = problems.iter().filter(|problem| is_part(problem));
        let tries = part.filter_map(|problem| self.0.get(problem.id.as_str()));
        let rates: Vec<_> = tries.map(|runs| rate(runs)).collect();

        Share::of(rates.iter().sum(), rates.len())
    }

    fn mean(&self, value: impl Fn(&[&RunResult]) -> f64) -> f64 {
        let sum: f64 = self.0.values().map(|runs| value(runs)).sum();
        sum / self.0.len().max(1) as f64
    }

    fn pass_at(&self) -> BTreeMap<u32, f64> {
        let fewest = self.0.values().map(Vec::len).min().unwrap_or_default();
        let sizes = (0..u32::BITS).map(|power| 1_u32 << power);
        let sizes = sizes.take_while(|size| *size as usize <= fewest);
        let chances = sizes.map(|k| {
            let chance = self.mean(|runs| {
                let right = runs.iter().filter(|run| run.right).count();
                pass_at(k, right as u32, runs.len() as u32)
            });
            (k, chance)
        });
        chances.collect()
    }
}

fn rate(runs: &[&RunResult]) -> f64 {
    let right = runs.iter().filter(|run| run.right).count();
    right as f64 / runs.len().max(1) as f64
}

/// Returns whether the most frequent answer is right. Of equally frequent ones, the first counts;
/// a run that failed has no vote.
fn is_majority_right(runs: &[&RunResult]) -> bool {
    let mut votes: Vec<(&str, usize, bool)> = Vec::new();
    for run in runs {
        let Some(answer) = run.answer.as_deref().map(str::trim) else {
            continue;
        };
        match votes.iter_mut().find(|(voted, ..)| *voted == answer) {
            Some((_, count, _)) => *count += 1,
            None => votes.push((answer, 1, run.right)),
        }
    }

    // Of equal ones, `max_by_key` returns the last.
    let most = votes.iter().rev().max_by_key(|(_, count, _)| *count);
    most.is_some_and(|(.., right)| *right)
}
