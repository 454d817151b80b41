use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Suite;
use crate::result::{ArmResult, RunResult, Share};

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
    /// How often the judge agrees with its labels.
    pub judge: Option<Share>,
    /// The arms, in the order of the suite.
    pub arms: Vec<ArmResult>,
}

impl Table {
    /// Creates a table of runs, by the indices of their arms and their order.
    pub(crate) fn of(
        suite: &Suite,
        runs: &BTreeMap<(usize, usize), RunResult>,
        judge: Option<Share>,
    ) -> Self {
        let arms = suite.arms.iter().enumerate().map(|(index, arm)| {
            let runs = runs.range((index, 0)..(index + 1, 0));
            let runs = runs.map(|(_, run)| run.clone()).collect();
            ArmResult::of(&arm.name, runs, &suite.problems)
        });
        let mut arms: Vec<_> = arms.collect();
        let baseline = arms
            .iter()
            .find(|arm| Some(&arm.name) == suite.baseline.as_ref());
        if let Some(baseline) = baseline.cloned() {
            let others = arms.iter_mut().filter(|arm| arm.name != baseline.name);
            others.for_each(|arm| arm.compare(&baseline));
        }

        Self {
            suite: suite.name.clone(),
            problems: suite.problems.len(),
            repetitions: suite.repetitions,
            not_run: suite.runs().saturating_sub(runs.len()),
            judge,
            arms,
        }
    }

    /// Returns the arm with this name.
    pub fn arm(&self, name: &str) -> Option<&ArmResult> {
        self.arms.iter().find(|arm| arm.name == name)
    }
}
