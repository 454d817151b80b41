use std::sync::{Mutex, MutexGuard, PoisonError};

use cogwork_llm::{ChatRequest, ChatResponse};
use tokio::time::Instant;

use crate::ask::{FailedAttempts, Spent};

/// The cost of a step over all its attempts, counted while it arises.
///
/// A retry calls `exec` several times with the same result of `prep`. If that result contains a
/// tally, the cost of attempts that failed, or were dropped by a timeout, is included in the cost
/// of the attempt that succeeds, and limits apply to all of them together.
///
/// ```
/// use cogwork_typed::ask::Tally;
///
/// let tally = Tally::default();
/// for _attempt in 1..=2 {
///     let _running = tally.start();
///     tally.count_call();
/// }
/// assert_eq!(tally.spent().calls, 2);
/// ```
#[derive(Debug, Default)]
pub struct Tally {
    tallied: Mutex<Tallied>,
    failed: FailedAttempts,
}

#[derive(Debug, Default)]
struct Tallied {
    /// The cost, except for the time of the running attempt.
    spent: Spent,
    /// The start of the running attempt.
    started: Option<Instant>,
}

/// Measures the time of an attempt until it is dropped. Created by [`Tally::start`].
#[derive(Debug)]
pub struct RunningAttempt<'a>(&'a Tally);

impl Tally {
    /// Creates a tally that begins with the cost of earlier attempts at the same step, which are
    /// part of the state.
    pub fn after(failed: &FailedAttempts) -> Self {
        let tallied = Tallied {
            spent: failed.spent(),
            started: None,
        };

        Self {
            tallied: Mutex::new(tallied),
            failed: failed.share(),
        }
    }

    /// Writes the cost so far into the state, because the attempt has failed.
    pub fn fail(&self) {
        self.failed.set(self.spent());
    }

    /// Starts to measure the time of an attempt. Attempts follow one another; the time between them
    /// doesn't count.
    pub fn start(&self) -> RunningAttempt<'_> {
        self.locked().started = Some(Instant::now());
        RunningAttempt(self)
    }

    /// Counts a call to a model that is about to be made.
    pub fn count_call(&self) {
        self.locked().spent.count_call();
    }

    /// Counts a call to a tool that is about to be made.
    pub fn count_tool_call(&self) {
        self.locked().spent.count_tool_call();
    }

    /// Adds the tokens of a call: those that the server reported, or an estimate.
    pub fn count_tokens(&self, request: &ChatRequest, response: &ChatResponse) {
        self.locked().spent.count_tokens(request, response);
    }

    /// Returns the cost so far, including the time of the running attempt.
    pub fn spent(&self) -> Spent {
        let tallied = self.locked();
        let mut spent = tallied.spent;

        let running = tallied.started.map(|started| started.elapsed());
        spent.time = spent.time.saturating_add(running.unwrap_or_default());
        spent
    }

    /// A panic can't leave the numbers half changed, so a poisoned lock can still be used.
    fn locked(&self) -> MutexGuard<'_, Tallied> {
        self.tallied.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for RunningAttempt<'_> {
    fn drop(&mut self) {
        let mut tallied = self.0.locked();
        if let Some(started) = tallied.started.take() {
            let time = tallied.spent.time.saturating_add(started.elapsed());
            tallied.spent.time = time;
        }
    }
}
