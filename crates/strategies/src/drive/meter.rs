//! Measures the cost of a turn.

use std::time::Duration;

use cogwork_ask::{RunningAttempt, Spent, Tally};
use cogwork_llm::{ChatRequest, ChatResponse};
use tokio::time::Instant;

use super::{EndReason, SolveBudget};

/// Measures the cost of a turn over all its attempts. Concurrent calls share one meter.
#[derive(Debug)]
pub(super) struct Meter {
    budget: SolveBudget,
    /// The cost of earlier turns.
    before: Spent,
    /// The cost of this turn.
    tally: Tally,
}

/// Longer than any run, and short enough not to overflow a clock.
const LONGEST: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

impl Meter {
    pub(super) fn new(budget: SolveBudget, before: Spent) -> Self {
        Self {
            budget,
            before,
            tally: Tally::default(),
        }
    }

    /// Starts to measure the time of an attempt.
    pub(super) fn start(&self) -> RunningAttempt<'_> {
        self.tally.start()
    }

    /// Returns the cost of this turn.
    pub(super) fn spent(&self) -> Spent {
        self.tally.spent()
    }

    /// Returns the cost of earlier turns and of this one.
    fn total(&self) -> Spent {
        let mut total = self.before;
        total += self.spent();
        total
    }

    /// Returns the instant at which the time budget runs out.
    pub(super) fn deadline(&self) -> Instant {
        let left = self.budget.time.saturating_sub(self.total().time);
        Instant::now() + left.min(LONGEST)
    }

    /// Counts a call before it is made, or returns the limit that doesn't allow it.
    pub(super) fn begin_call(&self) -> Result<(), EndReason> {
        match self.budget.over_calls(&self.total()) {
            Some(reason) => Err(reason),
            None => {
                self.tally.count_call();
                Ok(())
            }
        }
    }

    pub(super) fn count_tokens(&self, request: &ChatRequest, response: &ChatResponse) {
        self.tally.count_tokens(request, response);
    }

    pub(super) fn count_tool_call(&self) {
        self.tally.count_tool_call();
    }

    pub(super) fn out_of_time(&self) -> EndReason {
        EndReason::OutOfTime {
            limit: self.budget.time,
        }
    }
}
