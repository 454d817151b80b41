use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use cogwork_llm::{ChatRequest, ChatResponse};
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep_until};

use crate::ask::{Limit, Limits, Reserve, Spent};

/// Measures what a step spends, and holds its calls to the limits of the run.
///
/// A retry calls `exec` several times with the same result of `prep`. If that result contains a
/// meter, attempts that failed, or that were dropped by a timeout, count as well. A meter that is
/// [shared](Self::share) with the state keeps their cost, so that it isn't lost if the step fails.
///
/// A clone doesn't change with the original. A meter is serialised as what was [`Spent`].
///
/// ```
/// use cogwork_llm::{ChatRequest, ChatResponse, Message};
/// use cogwork_typed::ask::{Limit, Limits, Meter, Spent};
///
/// let request = ChatRequest::new([Message::user("a".repeat(400))]);
/// let meter = Meter::new(Limits::default().with_tokens(500), Spent::default());
///
/// let fitted = meter.fit(request.clone(), 1).unwrap();
/// assert_eq!(fitted.max_tokens(), Some(400));
///
/// meter.begin(&fitted).end(&ChatResponse::new("b".repeat(1_200)));
/// assert_eq!(meter.spent().tokens(), 400);
/// assert_eq!(meter.fit(request, 1), Err(Limit::Tokens(500)));
/// ```
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(from = "Spent", into = "Spent")]
pub struct Meter {
    limits: Limits,
    /// The cost of earlier steps.
    before: Spent,
    metered: Arc<Mutex<Metered>>,
}

#[derive(Debug, Default)]
struct Metered {
    /// The cost of the step, without the time since [`since`](Self::since).
    spent: Spent,
    /// The number of [`Running`] guards.
    running: u32,
    /// When the first of them was created.
    since: Option<Instant>,
    /// The tokens that the calls in progress may still spend.
    reserved: u64,
    /// What is kept for the last call.
    reserve: Option<Reserve>,
    /// The tokens of a prompt, as estimated and as the server counted them.
    read: (u64, u64),
}

/// The maximum number of tokens of a reply to a request without `max_tokens`. Such a request is sent
/// unchanged as long as more than this is left, since servers refuse values that exceed what their
/// model can write.
const ASSUMED_REPLY_TOKENS: u32 = 8192;

/// The minimum number of tokens that must be left for a reply. No useful reply fits into fewer.
const LEAST_REPLY_TOKENS: u64 = 64;

/// The estimated number of bytes of a token.
const BYTES_PER_TOKEN: u64 = 4;

/// Longer than any run, and short enough not to overflow a clock.
const LONGEST: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

impl Meter {
    /// Creates the meter of a step after steps that cost this much.
    pub fn new(limits: Limits, before: Spent) -> Self {
        Self::default().with_limits(limits, before)
    }

    /// Sets the limits of the run, and what it has cost before this step.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits, before: Spent) -> Self {
        self.limits = limits;
        self.before = before;
        self
    }

    /// Returns a meter that measures the same step.
    #[must_use]
    pub fn share(&self) -> Self {
        Self {
            limits: self.limits,
            before: self.before,
            metered: Arc::clone(&self.metered),
        }
    }

    /// Returns the cost of the step so far.
    pub fn spent(&self) -> Spent {
        self.locked().spent()
    }

    /// Returns whether the step has cost nothing.
    pub fn is_zero(&self) -> bool {
        self.spent().is_zero()
    }

    /// Forgets the cost, because the step has ended.
    pub fn clear(&self) {
        *self.locked() = Metered::default();
    }

    /// Measures time until the guard is dropped. Time with several guards counts once.
    pub fn run(&self) -> Running {
        let mut metered = self.locked();
        metered.running = metered.running.saturating_add(1);
        metered.since.get_or_insert_with(Instant::now);

        Running(Arc::clone(&self.metered))
    }

    /// Adds the time of a recorded call, which isn't made again.
    pub fn add_time(&self, time: Duration) {
        let mut metered = self.locked();
        metered.spent.time = metered.spent.time.saturating_add(time);
    }

    /// Counts a call to a tool that is about to be made.
    pub(super) fn count_tool_call(&self) {
        let spent = &mut self.locked().spent;
        spent.tool_calls = spent.tool_calls.saturating_add(1);
    }

    /// Takes a call to a tool back, because an earlier attempt has counted it.
    pub(super) fn take_tool_call_back(&self) {
        let spent = &mut self.locked().spent;
        spent.tool_calls = spent.tool_calls.saturating_sub(1);
    }

    /// Keeps this for the last call, or nothing if it is about to be made.
    pub fn keep(&self, reserve: Option<Reserve>) {
        self.locked().reserve = reserve;
    }

    /// Expects this number of tokens of a prompt at least, because the server counted them for the
    /// one before it.
    pub fn expect_prompt(&self, tokens: u64) {
        self.locked().read = (0, tokens);
    }

    /// Returns a request that fits into what is left, or into one of `shares` equal parts of it.
    ///
    /// # Errors
    ///
    /// Returns the limit that doesn't allow the call.
    pub fn fit(&self, request: ChatRequest, shares: u64) -> Result<ChatRequest, Limit> {
        let metered = self.locked();
        let spent = self.total(&metered);

        let is_kept = u32::from(metered.reserve.is_some());
        let calls = spent.calls.saturating_add(is_kept);
        if let Some(limit) = self.limits.calls.filter(|limit| calls >= *limit) {
            return Err(Limit::Calls(limit));
        }

        // A timeout can't fire while every call is ready at once.
        if self.time_left(&metered).is_zero() {
            return Err(self.out_of_time());
        }

        let limit = self.limits.tokens.unwrap_or(u64::MAX);
        let left = limit.saturating_sub(spent.tokens());
        let by_tokens = metered
            .room(left, metered.read_by(&request), shares)
            .ok_or(Limit::Tokens(limit))?;

        // The bytes are counted as tokens, so that the same rule holds for both limits.
        let limit = self.limits.bytes.unwrap_or(u64::MAX);
        let left = limit.saturating_sub(spent.bytes) / BYTES_PER_TOKEN;
        let bytes = u64::try_from(request.bytes()).unwrap_or(u64::MAX);
        let by_bytes = metered
            .room(left, bytes.div_ceil(BYTES_PER_TOKEN), shares)
            .ok_or(Limit::Bytes(limit))?;

        let room = by_tokens.min(by_bytes);
        let most = request.max_tokens().unwrap_or(ASSUMED_REPLY_TOKENS);
        match u32::try_from(room) {
            Ok(room) if room < most => Ok(request.with_max_tokens(room)),
            _ => Ok(request),
        }
    }

    /// Counts a call that is about to be made with a request that fits.
    pub fn begin(&self, request: &ChatRequest) -> MeteredCall {
        let reply = request.max_tokens().unwrap_or(ASSUMED_REPLY_TOKENS);
        let most = request.estimated_tokens().saturating_add(reply.into());

        let mut metered = self.locked();
        metered.reserved = metered.reserved.saturating_add(most);
        metered.spent.calls = metered.spent.calls.saturating_add(1);
        drop(metered);

        MeteredCall {
            request: request.clone(),
            most,
            running: self.run(),
        }
    }

    /// Returns how many more calls fit into the limits on calls and time, at the pace so far and
    /// besides what is kept. It is `None` before the first call, and without these limits.
    pub fn calls_left(&self) -> Option<u32> {
        let metered = self.locked();
        let spent = self.total(&metered);
        let is_kept = u32::from(metered.reserve.is_some());
        let calls = spent.calls.saturating_add(is_kept);
        let by_calls = self.limits.calls.map(|limit| limit.saturating_sub(calls));

        let by_time = self.limits.time.and_then(|_| {
            // Calls at the same time count once, so that the pace includes them.
            let pace = spent.time.checked_div(spent.calls)?.as_nanos();
            let left = self.time_left(&metered).as_nanos().checked_div(pace)?;
            u32::try_from(left).ok()
        });
        by_calls.into_iter().chain(by_time).min()
    }

    /// Returns when the time runs out, except for what is kept.
    pub fn deadline(&self) -> Instant {
        let left = self.time_left(&self.locked());
        Instant::now() + left.min(LONGEST)
    }

    /// Returns the limit on time.
    pub fn out_of_time(&self) -> Limit {
        let times = [self.limits.time, self.limits.hard_time];
        let shortest = times.into_iter().flatten().min();
        Limit::Time(shortest.unwrap_or(Duration::MAX))
    }

    /// Returns the output of `future`, and measures its time.
    ///
    /// # Errors
    ///
    /// Returns the limit if the time runs out before.
    pub async fn limit<T>(&self, future: impl Future<Output = T>) -> Result<T, Limit> {
        let _running = self.run();
        if self.limits.time.or(self.limits.hard_time).is_none() {
            return Ok(future.await);
        }

        let mut future = pin!(future);
        let mut timer = pin!(sleep_until(self.deadline()));

        poll_fn(|context| {
            if let Poll::Ready(output) = future.as_mut().poll(context) {
                return Poll::Ready(Ok(output));
            }

            // A timer that is set to the present is never ready at once.
            let left = self.time_left(&self.locked());
            if left.is_zero() {
                return Poll::Ready(Err(self.out_of_time()));
            }

            // Recorded calls bring the deadline forward.
            timer.as_mut().reset(Instant::now() + left.min(LONGEST));
            let ended = timer.as_mut().poll(context);
            ended.map(|()| Err(self.out_of_time()))
        })
        .await
    }

    /// Returns what the run has cost so far.
    fn total(&self, metered: &Metered) -> Spent {
        let mut spent = self.before;
        spent += metered.spent();
        spent
    }

    fn time_left(&self, metered: &Metered) -> Duration {
        let (limit, kept) = match metered.reserve {
            Some(kept) => (self.limits.time, kept.time),
            // The last call may take longer.
            None => (self.limits.hard_time.or(self.limits.time), Duration::ZERO),
        };
        let Some(limit) = limit else {
            return Duration::MAX;
        };

        let spent = self.total(metered).time;
        limit.saturating_sub(spent).saturating_sub(kept)
    }

    fn locked(&self) -> MutexGuard<'_, Metered> {
        locked(&self.metered)
    }
}

impl Metered {
    fn spent(&self) -> Spent {
        let mut spent = self.spent;
        let running = self.since.map(|since| since.elapsed());
        spent.time = spent.time.saturating_add(running.unwrap_or_default());
        spent
    }

    /// Returns the tokens that a request costs without its reply. One that is as long as the request
    /// before it costs at least as many tokens as the server counted for that.
    fn read_by(&self, request: &ChatRequest) -> u64 {
        let tokens = request.estimated_tokens();
        match self.read {
            (estimated, counted) if tokens >= estimated => tokens.max(counted),
            _ => tokens,
        }
    }

    /// Returns the tokens for which there is room in a reply to a request that reads this much, in
    /// one of `shares` equal parts of what is left of a limit.
    fn room(&self, left: u64, read: u64, shares: u64) -> Option<u64> {
        let kept = self.reserve.and_then(|kept| {
            let request = kept.read?;
            Some(request.saturating_add(kept.tokens))
        });
        let left = left
            .saturating_sub(self.reserved)
            .saturating_sub(kept.unwrap_or_default());

        let room = self.room_in(left / shares.max(1), read);
        // If a share is too small, some of the calls are made.
        room.or_else(|| self.room_in(left, read))
    }

    fn room_in(&self, left: u64, read: u64) -> Option<u64> {
        let mut room = left.saturating_sub(read);

        // If one more request follows, which repeats this one and its reply, its reply may take the
        // reserve; it is time for it if this reply could take less.
        if let Some(kept) = self.reserve.filter(|kept| kept.read.is_none()) {
            room = room.saturating_sub(read).saturating_sub(kept.tokens) / 2;
            if room < kept.tokens {
                return None;
            }
        }

        (room >= LEAST_REPLY_TOKENS).then_some(room)
    }
}

/// A call in progress. If it is dropped without a response, it counts as a call without tokens.
#[derive(Debug)]
pub struct MeteredCall {
    request: ChatRequest,
    /// The maximum number of its tokens.
    most: u64,
    running: Running,
}

impl MeteredCall {
    /// Counts the cost of the response.
    pub fn end(self, response: &ChatResponse) {
        let mut metered = locked(&self.running.0);
        metered.spent.count_tokens(&self.request, response);

        if let Some(usage) = response.usage() {
            metered.read = (self.request.estimated_tokens(), usage.prompt_tokens);
        }
    }

    /// Takes the call back, because an earlier attempt has counted it.
    pub fn take_back(self) {
        let spent = &mut locked(&self.running.0).spent;
        spent.calls = spent.calls.saturating_sub(1);
    }
}

impl Drop for MeteredCall {
    fn drop(&mut self) {
        let mut metered = locked(&self.running.0);
        metered.reserved = metered.reserved.saturating_sub(self.most);
    }
}

/// Measures time until it is dropped. Created by [`Meter::run`].
#[derive(Debug)]
pub struct Running(Arc<Mutex<Metered>>);

impl Drop for Running {
    fn drop(&mut self) {
        let mut metered = locked(&self.0);
        metered.running = metered.running.saturating_sub(1);

        if metered.running == 0 {
            metered.spent = metered.spent();
            metered.since = None;
        }
    }
}

/// A panic can't leave the numbers half changed, so a poisoned lock can still be used.
fn locked(metered: &Mutex<Metered>) -> MutexGuard<'_, Metered> {
    metered.lock().unwrap_or_else(PoisonError::into_inner)
}

impl From<Spent> for Meter {
    /// Creates a meter without limits for a step that has cost this much.
    fn from(spent: Spent) -> Self {
        let meter = Self::default();
        meter.locked().spent = spent;
        meter
    }
}

impl From<Meter> for Spent {
    fn from(meter: Meter) -> Self {
        meter.spent()
    }
}

impl Clone for Meter {
    fn clone(&self) -> Self {
        Self::from(self.spent()).with_limits(self.limits, self.before)
    }
}
