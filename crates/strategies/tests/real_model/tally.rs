//! Statistics of the ends of runs.

use std::fmt;

use cogwork_strategies::{Asked, Call, SolveError, Solved, Solving, Spent};

/// How a run ended.
pub(crate) struct Ended {
    end: End,
    why: String,
    spent: Spent,
    /// The replies that couldn't be used.
    unusable: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// The run reached its final stage with an answer.
    Answered,
    /// The run was stopped before its final stage, by its budget or by the method.
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
            Ok(solved) => {
                let end = match solved.is_answered() && solved.answer().is_some() {
                    true => End::Answered,
                    false => End::Stopped,
                };
                let why = format!("{}: {:?}", solved.end(), solved.answer());
                Ok(Self::with(end, why, Some(solved.trace())))
            }
            Err(error) if error.is_unreadable() => Ok(Self::with(
                End::Unreadable,
                error.to_string(),
                error.so_far(),
            )),
            Err(error) => Err(format!("{error:#}")),
        }
    }

    fn with(end: End, why: String, trace: Option<&Solving>) -> Self {
        let calls = trace.map_or(&[][..], Solving::calls).iter();
        let tries = calls.flat_map(|call| match call {
            Call::Model(Asked { tries, .. }) => tries.as_slice(),
            _ => &[],
        });
        Self {
            end,
            why,
            spent: trace.map_or_else(Spent::default, Solving::spent),
            unusable: tries.filter(|tried| tried.complaint.is_some()).count(),
        }
    }
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

pub(crate) const HEAD: &str = "\
| strategy | runs | answered | stopped | unreadable | calls per run | unusable replies | seconds per run |
|---|---|---|---|---|---|---|---|";

/// Returns the line of the table about a strategy.
pub(crate) fn line(name: &str, runs: &[Ended]) -> String {
    let count = |end| runs.iter().filter(|run| run.end == end).count();
    let [answered, stopped, unreadable] = [End::Answered, End::Stopped, End::Unreadable].map(count);
    let calls: u32 = runs.iter().map(|run| run.spent.calls).sum();
    let unusable: usize = runs.iter().map(|run| run.unusable).sum();
    let seconds: f64 = runs.iter().map(|run| run.spent.time.as_secs_f64()).sum();

    let all = runs.len();
    let each = |sum: f64| sum / all.max(1) as f64;
    let (calls, seconds) = (each(f64::from(calls)), each(seconds));
    format!(
        "| `{name}` | {all} | {answered} | {stopped} | {unreadable} | {calls:.1} | {unusable} | {seconds:.1} |"
    )
}
