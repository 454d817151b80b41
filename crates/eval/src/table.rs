use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::stats::{bootstrap, mcnemar, pass_at, wilson};
use crate::{Problem, RunResult, Suite};

/// The results of an evaluation.
///
/// `{}` writes it as text; [`markdown`](Self::markdown), [`csv`](Self::csv) and serde write it in other
/// forms.
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
    /// The arms, in the order of the suite.
    pub arms: Vec<ArmResult>,
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
    /// The mean number of calls of a run.
    pub calls: f64,
    /// The mean numbers of tokens of a run: of prompts, of replies, and of prompts from a cache.
    pub tokens: [f64; 3],
    /// The mean time of a run in seconds.
    pub seconds: f64,
    /// The mean cost of a run in US dollars.
    pub money: f64,
    /// The number of replies that had to be repaired.
    pub repairs: u64,
    /// The number of questions that were asked again.
    pub asked_again: u64,
    /// The results by tag.
    pub by_tag: BTreeMap<String, Share>,
    /// The results by difficulty.
    pub by_difficulty: BTreeMap<u32, Share>,
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

impl Table {
    /// Creates a table of results by the index of the arm.
    pub(crate) fn of(
        suite: &Suite,
        mut by_arm: BTreeMap<usize, Vec<RunResult>>,
        runs: usize,
    ) -> Self {
        let made: usize = by_arm.values().map(Vec::len).sum();
        let arms = suite.arms.iter().enumerate();
        let mut arms: Vec<_> = arms
            .map(|(index, arm)| {
                let runs = by_arm.remove(&index).unwrap_or_default();
                ArmResult::of(&arm.name, runs, &suite.problems)
            })
            .collect();

        let baseline = arms
            .iter()
            .find(|arm| Some(&arm.name) == suite.baseline.as_ref());
        if let Some(baseline) = baseline.cloned() {
            for arm in arms.iter_mut().filter(|arm| arm.name != baseline.name) {
                arm.difference = Some(Difference::of(arm, &baseline));
            }
        }

        Self {
            suite: suite.name.clone(),
            problems: suite.problems.len(),
            repetitions: suite.repetitions,
            not_run: runs.saturating_sub(made),
            arms,
        }
    }

    /// Returns the arm with this name.
    pub fn arm(&self, name: &str) -> Option<&ArmResult> {
        self.arms.iter().find(|arm| arm.name == name)
    }

    /// Writes the table in Markdown.
    pub fn markdown(&self) -> String {
        let rows = self.rows().into_iter().enumerate().map(|(index, cells)| {
            let cells: Vec<_> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
            let row = format!("| {} |\n", cells.join(" | "));
            match index {
                0 => format!("{row}|{}\n", "---|".repeat(cells.len())),
                _ => row,
            }
        });
        rows.collect()
    }

    /// Writes the table as CSV. A text that a spreadsheet would take for a formula begins with `'`.
    pub fn csv(&self) -> String {
        let rows = self.rows().into_iter().map(|cells| {
            let cells: Vec<_> = cells.iter().map(|cell| csv_cell(cell)).collect();
            cells.join(",") + "\n"
        });
        rows.collect()
    }

    pub(crate) fn rows(&self) -> Vec<Vec<String>> {
        let head = [
            "arm",
            "accuracy",
            "95 %",
            "difference",
            "p",
            "failed",
            "calls",
            "tokens",
            "seconds",
            "cost",
        ];
        let head = head.map(str::to_owned).to_vec();
        let rows = self.arms.iter().map(ArmResult::row);
        std::iter::once(head).chain(rows).collect()
    }
}

fn csv_cell(cell: &str) -> String {
    // A number may begin with a sign.
    let is_number = cell.trim_end_matches([' ', '%']).parse::<f64>().is_ok();
    let is_formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']) && !is_number;
    let guard = if is_formula { "'" } else { "" };

    let cell = format!("{guard}{cell}");
    match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell,
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            suite,
            problems,
            repetitions,
            ..
        } = self;
        writeln!(f, "{suite}: {problems} problems, {repetitions} each")?;

        let rows = self.rows();
        let columns = rows.first().map_or(0, Vec::len);
        let width = |column: usize| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            cells
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or_default()
        };
        let widths: Vec<_> = (0..columns).map(width).collect();
        for row in &rows {
            let cells = row
                .iter()
                .zip(&widths)
                .enumerate()
                .map(|(column, (cell, width))| match column {
                    0 => format!("{cell:width$}"),
                    _ => format!("{cell:>width$}"),
                });
            let cells: Vec<_> = cells.collect();
            writeln!(f, "{}", cells.join("  ").trim_end())?;
        }

        if self.not_run > 0 {
            writeln!(f, "{} runs were not made.", self.not_run)?;
        }
        Ok(())
    }
}

impl ArmResult {
    fn of(name: &str, runs: Vec<RunResult>, problems: &[Problem]) -> Self {
        let tries = Tries::of(&runs);
        let whole = tries.share(|_| true, problems);
        let mut failed: BTreeMap<String, usize> = BTreeMap::new();
        for error in runs.iter().filter_map(|run| run.error.clone()) {
            *failed.entry(error).or_default() += 1;
        }

        let tags = problems.iter().flat_map(|problem| problem.tags.clone());
        let by_tag = tags.map(|tag| {
            let share = tries.share(|problem| problem.tags.contains(&tag), problems);
            (tag, share)
        });
        let levels = problems.iter().filter_map(|problem| problem.difficulty);
        let by_difficulty = levels.map(|level| {
            let share = tries.share(|problem| problem.difficulty == Some(level), problems);
            (level, share)
        });

        let count = runs.len().max(1) as f64;
        let mean = |value: fn(&RunResult) -> f64| runs.iter().map(value).sum::<f64>() / count;
        Self {
            name: name.to_owned(),
            accuracy: whole.accuracy,
            interval: whole.interval,
            difference: None,
            pass_at: tries.pass_at(),
            majority: tries.majority(),
            failed,
            calls: mean(|run| run.calls as f64),
            tokens: [
                mean(|run| run.prompt_tokens as f64),
                mean(|run| run.completion_tokens as f64),
                mean(|run| run.cached_tokens as f64),
            ],
            seconds: mean(|run| run.seconds),
            money: mean(|run| run.money),
            repairs: runs.iter().map(|run| run.repairs).sum(),
            asked_again: runs.iter().map(|run| run.asked_again).sum(),
            by_tag: by_tag.collect(),
            by_difficulty: by_difficulty.collect(),
            runs,
        }
    }

    fn row(&self) -> Vec<String> {
        let percent = |rate: f64| format!("{:.1} %", rate * 100.0);
        let interval = |[low, high]: [f64; 2]| format!("{:.1} to {:.1}", low * 100.0, high * 100.0);
        let difference = self.difference.map_or_else(String::new, |difference| {
            format!(
                "{:+.1} ({})",
                difference.accuracy * 100.0,
                interval(difference.interval)
            )
        });

        let [prompt, completion, _] = self.tokens;
        let failed: usize = self.failed.values().sum();
        vec![
            self.name.clone(),
            percent(self.accuracy),
            interval(self.interval),
            difference,
            self.difference
                .map_or_else(String::new, |difference| format!("{:.3}", difference.p)),
            failed.to_string(),
            format!("{:.1}", self.calls),
            format!("{:.0}", prompt + completion),
            format!("{:.1}", self.seconds),
            format!("${:.4}", self.money),
        ]
    }
}

impl Difference {
    fn of(arm: &ArmResult, baseline: &ArmResult) -> Self {
        let (arm, baseline) = (Tries::of(&arm.runs), Tries::of(&baseline.runs));
        let pairs = arm.0.iter().filter_map(|(problem, runs)| {
            let others = baseline.0.get(problem)?;
            Some((rate(runs), rate(others)))
        });
        let pairs: Vec<_> = pairs.collect();
        let differences: Vec<_> = pairs.iter().map(|(one, other)| one - other).collect();

        let only = |is_better: fn(f64, f64) -> bool| {
            let better = pairs.iter().filter(|(one, other)| is_better(*one, *other));
            better.count() as u64
        };
        let only_arm = only(|one, other| one > 0.5 && other <= 0.5);
        let only_baseline = only(|one, other| one <= 0.5 && other > 0.5);

        let count = differences.len().max(1) as f64;
        Self {
            accuracy: differences.iter().sum::<f64>() / count,
            interval: bootstrap(&differences),
            p: mcnemar(only_arm, only_baseline),
        }
    }
}

/// The runs of an arm by problem.
struct Tries<'a>(BTreeMap<&'a str, Vec<&'a RunResult>>);

fn rate(runs: &[&RunResult]) -> f64 {
    let right = runs.iter().filter(|run| run.right).count();
    right as f64 / runs.len().max(1) as f64
}

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
    fn share(&self, is_part: impl Fn(&Problem) -> bool, problems: &[Problem]) -> Share {
        let part = problems.iter().filter(|problem| is_part(problem));
        let rates =
            part.filter_map(|problem| self.0.get(problem.id.as_str()).map(|runs| rate(runs)));
        let rates: Vec<_> = rates.collect();

        let right: f64 = rates.iter().sum();
        let count = rates.len() as f64;
        Share {
            problems: rates.len(),
            accuracy: if rates.is_empty() { 0.0 } else { right / count },
            interval: wilson(right, count),
        }
    }

    fn pass_at(&self) -> BTreeMap<u32, f64> {
        let fewest = self.0.values().map(Vec::len).min().unwrap_or_default();
        let fewest = u32::try_from(fewest).unwrap_or(u32::MAX);
        let sizes = (0..)
            .map(|power| 1_u32 << power)
            .take_while(|size| *size <= fewest);

        let mean = |k: u32| {
            let passed = self.0.values().map(|runs| {
                let right = runs.iter().filter(|run| run.right).count();
                pass_at(k, right as u32, runs.len() as u32)
            });
            passed.sum::<f64>() / self.0.len() as f64
        };
        sizes.map(|k| (k, mean(k))).collect()
    }

    fn majority(&self) -> f64 {
        let right = self
            .0
            .values()
            .filter(|runs| is_majority_right(runs))
            .count();
        right as f64 / self.0.len().max(1) as f64
    }
}

/// Returns whether the most frequent answer is right. Of equally frequent ones, the first counts;
/// a run that failed has no vote.
fn is_majority_right(runs: &[&RunResult]) -> bool {
    let mut votes: Vec<(&str, usize, bool)> = Vec::new();
    for run in runs {
        let Some(answer) = &run.answer else { continue };
        match votes.iter_mut().find(|(voted, ..)| *voted == answer.trim()) {
            Some((_, count, _)) => *count += 1,
            None => votes.push((answer.trim(), 1, run.right)),
        }
    }

    // The first of equally frequent ones.
    let most = votes.iter().rev().max_by_key(|(_, count, _)| *count);
    most.is_some_and(|(.., right)| *right)
}
