//! Statistics of the ends of runs.

use std::time::Duration;

use cogwork_strategies::{Asked, Call, SolveError, Solved};

/// The runs of a strategy.
#[derive(Default)]
pub(crate) struct Tally {
    runs: u32,
    /// How many runs reached their final stage with an answer.
    answered: u32,
    /// How many runs were stopped with an answer.
    concluded: u32,
    /// How many runs ended because no reply could be used.
    unreadable: u32,
    calls: u32,
    /// How many replies couldn't be used.
    unusable: usize,
    time: Duration,
}

pub(crate) const HEAD: &str = "\
| strategy | runs | answered | stopped with an answer | without | unreadable | calls per run | unusable replies | seconds per run |
|---|---|---|---|---|---|---|---|---|";

impl Tally {
    /// Adds a run, and returns how it ended.
    ///
    /// # Errors
    ///
    /// Returns the error of a run that failed for a reason other than unreadable replies.
    pub(crate) fn add(&mut self, result: Result<Solved, SolveError>) -> Result<String, SolveError> {
        let (trace, end) = match &result {
            Ok(solved) => {
                let is_stopped = !solved.is_answered() && solved.answer().is_some();
                self.answered += u32::from(solved.is_answered());
                self.concluded += u32::from(is_stopped);
                (
                    solved.trace(),
                    format!("{}: {:?}", solved.end(), solved.answer()),
                )
            }
            Err(error) => {
                let message = error.to_string();
                let is_unreadable = message.contains("no reply could be used: ");
                match error.so_far().filter(|_| is_unreadable) {
                    Some(so_far) => (so_far, message),
                    None => return result.map(|_| String::new()),
                }
            }
        };

        let spent = trace.spent();
        let tries = trace.calls().iter().flat_map(|call| match call {
            Call::Model(Asked { log, .. }) => log.tries.as_slice(),
            _ => &[],
        });
        let unusable = tries.filter(|tried| tried.complaint.is_some()).count();

        self.runs += 1;
        self.unreadable += u32::from(result.is_err());
        self.calls += spent.calls;
        self.unusable += unusable;
        self.time += spent.time;
        Ok(format!("{end}, {spent}, {unusable} unusable"))
    }

    /// Returns the line of the table.
    pub(crate) fn line(&self, name: &str) -> String {
        let Self {
            runs,
            answered,
            concluded,
            unreadable,
            unusable,
            ..
        } = self;
        let without = runs - answered - concluded - unreadable;
        let each = |sum: f64| sum / f64::from(*runs).max(1.0);
        let (calls, seconds) = (each(self.calls.into()), each(self.time.as_secs_f64()));
        format!(
            "| `{name}` | {runs} | {answered} | {concluded} | {without} | {unreadable} | {calls:.1} | {unusable} | {seconds:.1} |"
        )
    }
}
