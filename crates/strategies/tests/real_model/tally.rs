//! Statistics of the ends of runs.

use std::collections::BTreeMap;
use std::fmt;

use cogwork_strategies::{Asked, Call, SolveError, Solved, Spent, StrategyName};

/// How a run ended.
pub(crate) struct Ended {
    end: End,
    why: String,
    spent: Spent,
    /// The replies that couldn't be used.
    unusable: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    /// The run reached its final stage with an answer.
    Answered,
    /// The run was stopped before its final stage, by its budget or by the driver.
    Stopped,
    /// No reply could be used.
    Unreadable,
}

impl Ended {
    /// Returns how a run ended.
    ///
    /// # Errors
    ///
    /// Returns the error of a run that failed for a reason other than unreadable replies.
    pub(crate) fn of(result: &Result<Solved, SolveError>) -> Result<Self, String> {
        match result {
            Ok(solved) => Ok(Self::of_solved(solved)),
            Err(error) if error.is_unreadable() => Ok(Self::of_unreadable(error)),
            Err(error) => Err(format!("{error:#}")),
        }
    }

    fn of_solved(solved: &Solved) -> Self {
        let is_answered = solved.is_answered() && solved.answer().is_some();
        let end = if is_answered {
            End::Answered
        } else {
            End::Stopped
        };

        Self {
            end,
            why: format!("{}: {:?}", solved.end(), solved.answer()),
            spent: solved.spent(),
            unusable: unusable(solved.trace().calls()),
        }
    }

    fn of_unreadable(error: &SolveError) -> Self {
        let so_far = error.so_far();

        Self {
            end: End::Unreadable,
            why: error.to_string(),
            spent: so_far.map_or_else(Spent::default, |so_far| so_far.spent()),
            unusable: so_far.map_or(0, |so_far| unusable(so_far.calls())),
        }
    }
}

fn unusable(calls: &[Call]) -> usize {
    let tries = calls.iter().flat_map(|call| match call {
        Call::Model(Asked { tries, .. }) => tries.as_slice(),
        _ => &[],
    });

    tries.filter(|tried| tried.complaint.is_some()).count()
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            end,
            why,
            spent,
            unusable,
        } = self;

        let seconds = spent.time.as_secs_f64();
        write!(
            f,
            "{end:?}, {spent}, {unusable} unusable, {seconds:.1} s: {why}"
        )
    }
}

/// The runs by strategy.
#[derive(Default)]
pub(crate) struct Tally(BTreeMap<&'static str, Vec<Ended>>);

impl Tally {
    pub(crate) fn add(&mut self, name: StrategyName, ended: Ended) {
        self.0.entry(name.as_str()).or_default().push(ended);
    }

    /// Returns the line of the table about a strategy.
    pub(crate) fn line(&self, name: StrategyName) -> String {
        line(name.as_str(), &self.0[name.as_str()])
    }
}

fn line(name: &str, runs: &[Ended]) -> String {
    let count = |end| runs.iter().filter(|run| run.end == end).count();
    let each = |sum: f64| sum / runs.len().max(1) as f64;

    let calls: u32 = runs.iter().map(|run| run.spent.calls).sum();
    let unusable: usize = runs.iter().map(|run| run.unusable).sum();
    let seconds: f64 = runs.iter().map(|run| run.spent.time.as_secs_f64()).sum();

    format!(
        "| `{name}` | {} | {} | {} | {} | {:.1} | {unusable} | {:.1} |",
        runs.len(),
        count(End::Answered),
        count(End::Stopped),
        count(End::Unreadable),
        each(f64::from(calls)),
        each(seconds),
    )
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| strategy | runs | answered | stopped | unreadable | calls per run | unusable replies | seconds per run |"
        )?;
        writeln!(f, "|---|---|---|---|---|---|---|---|")?;

        for (name, runs) in &self.0 {
            writeln!(f, "{}", line(name, runs))?;
        }

        Ok(())
    }
}
