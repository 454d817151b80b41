use std::collections::{HashMap, VecDeque};
use std::num::{NonZeroU32, NonZeroU64};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

const MINUTE: Duration = Duration::from_secs(60);

/// How much may begin in a minute.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Limits {
    pub(super) requests: Option<NonZeroU32>,
    pub(super) tokens: Option<NonZeroU64>,
}

/// A call that asks to begin.
pub(super) struct Asking {
    pub(super) tokens: u64,
    pub(super) limits: Limits,
    pub(super) deadline: Instant,
}

/// What a call is told.
pub(super) enum Turn {
    Begin,
    /// Ask again at this time, or when woken. Without a time, only when woken.
    Wait(Option<Instant>),
    /// It would begin at this time, which is after its deadline. It has left the queue.
    TooLate(Instant),
}

/// The calls of the last minute, oldest first, and behind them those that wait, in the order in which they
/// came, each with the time at which it is to begin. The time of a call follows from all that are before
/// it, so a call that would wait for too long is known when it comes.
///
/// A list and not a bucket that drips, because a full bucket lets twice its size through in its first
/// minute, and servers count.
#[derive(Debug, Default)]
pub(super) struct Queue {
    calls: VecDeque<Call>,
    /// How many of the calls have begun.
    begun: usize,
    /// The tokens of all calls that have left at the front.
    tokens_gone: u128,
    next_number: u64,
    /// When the calls would begin that were sent away while they waited, until they are told.
    too_late: HashMap<u64, Instant>,
}

#[derive(Debug)]
struct Call {
    number: u64,
    /// When it began, or is to begin.
    at: Instant,
    tokens: u64,
    /// Its own tokens and those of all calls before it: the sum over any stretch is one subtraction.
    tokens_through: u128,
    /// Nothing once it has begun.
    waiting: Option<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    limits: Limits,
    deadline: Instant,
    wake: Arc<Notify>,
}

impl Queue {
    /// Puts a call at the end, and gives its number, unless it would begin too late. `wake` is notified
    /// when the call should ask for its [turn](Self::turn) again.
    pub(super) fn join(
        &mut self,
        asking: &Asking,
        wake: Arc<Notify>,
        now: Instant,
    ) -> Result<u64, Instant> {
        self.forget_old(now);

        let at = self.earliest(self.calls.len(), asking.tokens, asking.limits, now);
        if at > asking.deadline {
            return Err(at);
        }

        let number = self.next_number;
        self.next_number += 1;
        let waiting = Waiting {
            limits: asking.limits,
            deadline: asking.deadline,
            wake,
        };

        self.push(Call {
            number,
            at,
            tokens: asking.tokens,
            tokens_through: 0,
            waiting: Some(waiting),
        });

        Ok(number)
    }

    /// Whether it is the turn of a call that waits.
    pub(super) fn turn(&mut self, number: u64, now: Instant) -> Turn {
        if let Some(at) = self.too_late.remove(&number) {
            return Turn::TooLate(at);
        }

        self.forget_old(now);

        let first = self.begun;
        let call = self.calls.get(first).filter(|call| call.number == number);
        let Some((call, waiting)) = call.and_then(|call| Some((call, call.waiting.as_ref()?)))
        else {
            return Turn::Wait(None);
        };

        // Not as it was planned: the calls before it may have begun a little later than they were to.
        let at = self.earliest(first, call.tokens, waiting.limits, now);
        if at > waiting.deadline {
            self.leave(number, now);
            return Turn::TooLate(at);
        }

        if at > now {
            return Turn::Wait(Some(at));
        }

        if let Some(call) = self.calls.get_mut(first) {
            call.at = now;
            call.waiting = None;
        }

        self.begun += 1;
        self.wake_first();
        Turn::Begin
    }

    /// Sets what a call that has begun took in the end.
    pub(super) fn settle(&mut self, number: u64, tokens: u64, now: Instant) {
        let Some(place) = self.place(number) else {
            return;
        };

        let Some(call) = self
            .calls
            .get_mut(place)
            .filter(|call| call.tokens != tokens)
        else {
            return;
        };

        call.tokens = tokens;
        self.replan(place, now);
    }

    /// Takes a call that waits out of the queue.
    pub(super) fn leave(&mut self, number: u64, now: Instant) {
        self.too_late.remove(&number);
        let Some(place) = self.place(number).filter(|place| *place >= self.begun) else {
            return;
        };

        self.calls.remove(place);
        self.replan(place, now);
    }

    /// Computes anew what depends on the calls from `place` on: their sums, and when those begin that wait.
    /// Calls that would begin too late are sent away.
    fn replan(&mut self, place: usize, now: Instant) {
        for mut call in self.calls.split_off(place) {
            let Some(waiting) = &call.waiting else {
                self.push(call);
                continue;
            };

            call.at = self.earliest(self.calls.len(), call.tokens, waiting.limits, now);
            if call.at > waiting.deadline {
                self.too_late.insert(call.number, call.at);
                waiting.wake.notify_one();
            } else {
                self.push(call);
            }
        }

        self.wake_first();
    }

    /// The earliest time at which a call may begin that follows the first `place` ones.
    fn earliest(&self, place: usize, tokens: u64, limits: Limits, now: Instant) -> Instant {
        let after_last = place
            .checked_sub(1)
            .and_then(|last| self.calls.get(last))
            .map(|last| last.at);
        let of_requests = limits
            .requests
            .and_then(|limit| self.when_requests_are_free(place, limit));
        let of_tokens = limits
            .tokens
            .and_then(|limit| self.when_tokens_are_free(place, tokens, limit));

        [after_last, of_requests, of_tokens]
            .into_iter()
            .flatten()
            .fold(now, Instant::max)
    }

    fn when_requests_are_free(&self, place: usize, limit: NonZeroU32) -> Option<Instant> {
        let limit = usize::try_from(limit.get()).unwrap_or(usize::MAX);
        let last_in_the_way = self.calls.get(place.checked_sub(limit)?)?;

        Some(last_in_the_way.at + MINUTE)
    }

    /// A call that takes more than the limit by itself is let through alone.
    fn when_tokens_are_free(
        &self,
        place: usize,
        tokens: u64,
        limit: NonZeroU64,
    ) -> Option<Instant> {
        let room = u128::from(limit.get() - tokens.min(limit.get()));
        let must_be_gone = self.tokens_before(place).checked_sub(room)?;
        if self.tokens_gone >= must_be_gone {
            return None;
        }

        let last_in_the_way = self
            .calls
            .partition_point(|call| call.tokens_through < must_be_gone);

        Some(self.calls.get(last_in_the_way)?.at + MINUTE)
    }

    fn tokens_before(&self, place: usize) -> u128 {
        let last = place.checked_sub(1).and_then(|last| self.calls.get(last));
        last.map_or(self.tokens_gone, |last| last.tokens_through)
    }

    fn push(&mut self, mut call: Call) {
        call.tokens_through = self.tokens_before(self.calls.len()) + u128::from(call.tokens);
        self.calls.push_back(call);
    }

    fn place(&self, number: u64) -> Option<usize> {
        self.calls
            .binary_search_by_key(&number, |call| call.number)
            .ok()
    }

    fn wake_first(&self) {
        let first = self
            .calls
            .get(self.begun)
            .and_then(|call| call.waiting.as_ref());
        if let Some(first) = first {
            first.wake.notify_one();
        }
    }

    /// Drops the calls that began over a minute ago.
    fn forget_old(&mut self, now: Instant) {
        let is_old = |call: &Call| call.waiting.is_none() && call.at + MINUTE <= now;
        while let Some(old) = self.calls.front().filter(|call| is_old(call)) {
            self.tokens_gone = old.tokens_through;
            self.begun -= 1;
            self.calls.pop_front();
        }
    }
}
