use std::collections::{HashMap, VecDeque};
use std::num::{NonZeroU32, NonZeroU64};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

const MINUTE: Duration = Duration::from_secs(60);

/// The limits per minute.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Limits {
    pub(super) requests: Option<NonZeroU32>,
    pub(super) tokens: Option<NonZeroU64>,
}

/// A call that is about to begin.
pub(super) struct Asking {
    pub(super) tokens: u64,
    pub(super) limits: Limits,
    pub(super) deadline: Instant,
}

/// The state of a call in the queue.
pub(super) enum Turn {
    Begin,
    /// Check again at this time or when notified. Without a time, only when notified.
    Wait(Option<Instant>),
    /// The call could begin at this time, which is after its deadline. It has left the queue.
    TooLate(Instant),
}

/// The calls of the last minute, oldest first, followed by the waiting calls in order of arrival,
/// each with its planned start. The start of a call depends only on those before it, so a call that
/// would wait for too long is refused on arrival.
///
/// A sliding window rather than a token bucket, because a full bucket allows twice its size within
/// the first minute, and servers would notice.
#[derive(Debug, Default)]
pub(super) struct Queue {
    calls: VecDeque<Call>,
    /// The number of calls that have begun.
    begun: usize,
    /// The tokens of all calls that have left the queue.
    tokens_gone: u128,
    next_number: u64,
    /// The possible starts of calls that were removed while waiting, until they check again.
    too_late: HashMap<u64, Instant>,
    /// The first place from which the plan is out of date, because a call in front of it left.
    outdated_from: Option<usize>,
}

#[derive(Debug)]
struct Call {
    number: u64,
    /// The actual or planned start.
    at: Instant,
    tokens: u64,
    /// The total tokens of this call and all calls before it, so that any range is one subtraction.
    tokens_through: u128,
    /// `None` once the call has begun.
    waiting: Option<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    limits: Limits,
    deadline: Instant,
    wake: Arc<Notify>,
    /// Whether the call was dropped. It is removed when the queue is planned again.
    has_left: bool,
}

impl Queue {
    /// Appends a call and returns its number, unless it would begin too late. `wake` is notified
    /// when the call should check its [turn](Self::turn) again.
    pub(super) fn join(
        &mut self,
        asking: &Asking,
        wake: Arc<Notify>,
        now: Instant,
    ) -> Result<u64, Instant> {
        self.update(now);

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
            has_left: false,
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

    /// Returns whether a waiting call may begin.
    pub(super) fn turn(&mut self, number: u64, now: Instant) -> Turn {
        self.update(now);

        if let Some(at) = self.too_late.remove(&number) {
            return Turn::TooLate(at);
        }

        let first = self.begun;
        let call = self.calls.get(first).filter(|call| call.number == number);
        let Some((call, waiting)) = call.and_then(|call| Some((call, call.waiting.as_ref()?)))
        else {
            return Turn::Wait(None);
        };

        // Recomputed, because earlier calls may have begun later than planned.
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

    /// Sets the actual tokens of a call.
    pub(super) fn settle(&mut self, number: u64, tokens: u64, now: Instant) {
        self.update(now);

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

    /// Removes a waiting call from the queue.
    ///
    /// The calls behind it are planned again when one of them begins or a new one joins, so that
    /// dropping all calls of a long queue doesn't plan the rest again for each of them.
    pub(super) fn leave(&mut self, number: u64, now: Instant) {
        self.too_late.remove(&number);
        let Some(place) = self.place(number).filter(|place| *place >= self.begun) else {
            return;
        };

        if let Some(waiting) = self.waiting_mut(place) {
            waiting.has_left = true;
        }
        self.outdate(place);

        // Only the first one has a timer that is worth setting again.
        if place == self.begun {
            self.drop_first();
            self.forget_old(now);
            self.wake_first();
        }
    }

    fn waiting_mut(&mut self, place: usize) -> Option<&mut Waiting> {
        self.calls.get_mut(place)?.waiting.as_mut()
    }

    fn outdate(&mut self, place: usize) {
        let from = self.outdated_from.unwrap_or(place);
        self.outdated_from = Some(from.min(place));
    }

    /// Removes the calls at the head of the waiting ones that have left.
    fn drop_first(&mut self) {
        while self
            .waiting_mut(self.begun)
            .is_some_and(|waiting| waiting.has_left)
        {
            self.calls.remove(self.begun);
        }
    }

    /// Brings the plan up to date.
    fn update(&mut self, now: Instant) {
        if let Some(place) = self.outdated_from.take() {
            self.replan(place, now);
        }

        self.forget_old(now);
    }

    /// Recomputes the token sums from `place` on and the starts of the waiting calls. Removes calls
    /// that have left, and those that would begin too late.
    fn replan(&mut self, place: usize, now: Instant) {
        for mut call in self.calls.split_off(place) {
            let Some(waiting) = &call.waiting else {
                self.push(call);
                continue;
            };

            if waiting.has_left {
                continue;
            }

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

    /// Returns the earliest start of a call that follows the first `place` ones.
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

    /// A call that exceeds the limit on its own runs alone.
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
            self.outdated_from = self.outdated_from.map(|place| place.saturating_sub(1));
        }
    }
}
