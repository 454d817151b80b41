//! Measures the cost of a turn.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cogwork_ask::Spent;
use cogwork_llm::{ChatRequest, ChatResponse};
use tokio::time::Instant;

use super::{EndReason, SolveBudget};

/// Measures the cost of a turn. Concurrent calls share one meter.
pub(super) struct Meter {
    budget: SolveBudget,
    /// The cost of earlier turns.
    before: Spent,
    /// The cost of this turn, except for its time.
    spent: Mutex<Spent>,
    started: Instant,
}

/// Longer than any run, and short enough not to overflow a clock.
const LONGEST: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

impl Meter {
    pub(super) fn new(budget: SolveBudget, before: Spent) -> Self {
        Self {
            budget,
            before,
            spent: Mutex::default(),
            started: Instant::now(),
        }
    }

    /// Returns the cost of this turn.
    pub(super) fn spent(&self) -> Spent {
        let mut spent = *self.locked();
        spent.time = self.started.elapsed();
        spent
    }

    /// Returns the instant at which the time budget runs out.
    pub(super) fn deadline(&self) -> Instant {
        let left = self.budget.time.saturating_sub(self.before.time);
        self.started + left.min(LONGEST)
    }

    /// Counts a call before it is made, or returns the limit that doesn't allow it.
    pub(super) fn begin_call(&self) -> Result<(), EndReason> {
        let mut spent = self.locked();

        let mut all = self.before;
        all += *spent;

        match self.budget.over_calls(&all) {
            Some(reason) => Err(reason),
            None => {
                spent.count_call();
                Ok(())
            }
        }
    }

    pub(super) fn count_tokens(&self, request: &ChatRequest, response: &ChatResponse) {
        self.locked().count_tokens(request, response);
    }

    pub(super) fn count_tool_call(&self) {
        self.locked().count_tool_call();
    }

    pub(super) fn out_of_time(&self) -> EndReason {
        EndReason::OutOfTime {
            limit: self.budget.time,
        }
    }

    /// A panic can't leave the numbers half changed, so a poisoned lock can still be used.
    fn locked(&self) -> MutexGuard<'_, Spent> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
