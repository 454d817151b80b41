//! Measures the cost of a turn, and fits its calls into the budget.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cogwork_llm::{ChatRequest, ChatResponse};
use cogwork_typed::ask::{Allowance, Exceeded, RunningAttempt, Spent, Tally};
use tokio::time::Instant;

use super::{EndReason, SolveBudget};

/// Measures the cost of a turn over all its attempts. Concurrent calls share one meter.
#[derive(Debug)]
pub(super) struct Meter<'a> {
    budget: SolveBudget,
    /// The cost of earlier turns.
    before: Spent,
    tally: &'a Tally,
    /// Ends with the attempt, even if a timeout drops it.
    _running: RunningAttempt<'a>,
    /// When the time of the budget is over.
    ends: Instant,
    turn: Mutex<Turn>,
}

/// The state of a turn.
#[derive(Debug, Default)]
struct Turn {
    /// What the running calls may still spend.
    running: Cost,
    /// The number of questions that haven't been asked yet.
    unasked: u64,
    /// What is kept for the last question.
    reserve: Option<Reserve>,
}

/// What is kept for the last question.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Reserve {
    pub(super) cost: Cost,
    pub(super) time: Duration,
}

/// The tokens and bytes of a call, read and written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Cost {
    pub(super) tokens: u64,
    pub(super) bytes: u64,
}

impl Cost {
    /// Returns the cost of a request whose reply has `reply_tokens`.
    pub(super) fn of(request: &ChatRequest, reply_tokens: u64) -> Self {
        let read = u64::try_from(request.bytes()).unwrap_or(u64::MAX);
        let written = reply_tokens.saturating_mul(4);

        Self {
            tokens: request.estimated_tokens().saturating_add(reply_tokens),
            bytes: read.saturating_add(written),
        }
    }

    /// Returns the maximum cost of a call.
    fn most(request: &ChatRequest) -> Self {
        let most = request.max_tokens();
        let most = most.unwrap_or(Allowance::ASSUMED_REPLY_TOKENS);
        Self::of(request, u64::from(most))
    }
}

/// Longer than any run, and short enough not to overflow a clock.
const LONGEST: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

impl<'a> Meter<'a> {
    /// Starts an attempt at a turn.
    pub(super) fn new(budget: SolveBudget, before: Spent, tally: &'a Tally) -> Self {
        let earlier_attempts = tally.spent().time;
        let used = before.time.saturating_add(earlier_attempts);
        let left = budget.time.saturating_sub(used);

        Self {
            budget,
            before,
            tally,
            _running: tally.start(),
            ends: Instant::now() + left.min(LONGEST),
            turn: Mutex::default(),
        }
    }

    /// Keeps a part of the budget for the last question.
    pub(super) fn keep(&self, reserve: Option<Reserve>) {
        self.locked().reserve = reserve;
    }

    /// Announces the number of questions that share what is left.
    pub(super) fn announce(&self, questions: usize) {
        let questions = u64::try_from(questions).unwrap_or(u64::MAX);
        let mut turn = self.locked();

        turn.unasked = questions;
        turn.running = Cost::default();
    }

    /// Returns the cost of this turn.
    pub(super) fn spent(&self) -> Spent {
        self.tally.spent()
    }

    /// Returns the instant at which the time budget runs out, except for what is kept.
    pub(super) fn deadline(&self) -> Instant {
        let kept = self.locked().reserve.unwrap_or_default();
        let ends = self.ends.checked_sub(kept.time);
        ends.unwrap_or_else(Instant::now)
    }

    /// Counts a call before it is made, and returns the request to send, which fits into what is
    /// left. `is_first` is whether this is the first call for a question.
    ///
    /// # Errors
    ///
    /// Returns the limit that doesn't allow the call.
    pub(super) fn begin_call(
        &self,
        request: ChatRequest,
        is_first: bool,
    ) -> Result<ChatRequest, EndReason> {
        let mut turn = self.locked();
        let budget = &self.budget;

        let mut spent = self.before;
        spent += self.tally.spent();
        let kept_calls = u32::from(turn.reserve.is_some());
        if spent.calls.saturating_add(kept_calls) >= budget.calls {
            return Err(EndReason::OutOfCalls {
                limit: budget.calls,
            });
        }

        // A timeout cannot fire while every call is ready at once.
        let kept_time = turn.reserve.map_or(Duration::ZERO, |kept| kept.time);
        if spent.time.saturating_add(kept_time) >= budget.time {
            return Err(self.out_of_time());
        }

        let left = self.left(&turn, &spent);
        let sharing = turn.unasked.saturating_add(u64::from(!is_first)).max(1);
        turn.unasked = turn.unasked.saturating_sub(u64::from(is_first));
        let share = Allowance::new(left.tokens / sharing, left.bytes / sharing);

        // If a share is too small, some of the questions are asked.
        let fitted = share
            .fit(request.clone())
            .or_else(|_| left.fit(request))
            .map_err(|exceeded| self.out_of(exceeded))?;

        let most = Cost::most(&fitted);
        turn.running.tokens = turn.running.tokens.saturating_add(most.tokens);
        turn.running.bytes = turn.running.bytes.saturating_add(most.bytes);
        self.tally.count_call();

        Ok(fitted)
    }

    /// Ends a call that was begun with `request`, with or without a response.
    pub(super) fn end_call(&self, request: &ChatRequest, response: Option<&ChatResponse>) {
        let mut turn = self.locked();
        let most = Cost::most(request);
        turn.running.tokens = turn.running.tokens.saturating_sub(most.tokens);
        turn.running.bytes = turn.running.bytes.saturating_sub(most.bytes);

        if let Some(response) = response {
            self.tally.count_tokens(request, response);
        }
    }

    pub(super) fn count_tool_call(&self) {
        self.tally.count_tool_call();
    }

    pub(super) fn out_of_time(&self) -> EndReason {
        EndReason::OutOfTime {
            limit: self.budget.time,
        }
    }

    /// Returns what is left for new calls.
    fn left(&self, turn: &Turn, spent: &Spent) -> Allowance {
        let kept = turn.reserve.unwrap_or_default().cost;
        let left = |limit: u64, spent: u64, running: u64, kept: u64| {
            limit
                .saturating_sub(spent)
                .saturating_sub(running)
                .saturating_sub(kept)
        };

        Allowance::new(
            left(
                self.budget.tokens,
                spent.tokens(),
                turn.running.tokens,
                kept.tokens,
            ),
            left(
                self.budget.bytes,
                spent.bytes,
                turn.running.bytes,
                kept.bytes,
            ),
        )
    }

    fn out_of(&self, exceeded: Exceeded) -> EndReason {
        match exceeded {
            Exceeded::Tokens => EndReason::OutOfTokens {
                limit: self.budget.tokens,
            },
            Exceeded::Bytes => EndReason::OutOfBytes {
                limit: self.budget.bytes,
            },
        }
    }

    /// A panic can't leave the numbers half changed, so a poisoned lock can still be used.
    fn locked(&self) -> MutexGuard<'_, Turn> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
