use std::num::{NonZeroU32, NonZeroU64};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use crate::locked::locked;
use crate::reply::{client_from_reply, watched};
use crate::{ChatRequest, Delta, LlmClient, LlmError, LlmErrorKind, ReplyStream};

const MINUTE: Duration = Duration::from_secs(60);
/// The longest time that is counted, which every clock can represent.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// A client that limits the rate of calls to another one. Further calls wait in a first-in,
/// first-out queue.
///
/// Each limit is a bucket that holds what one minute allows and refills evenly, as on most servers:
/// after a pause, the calls of a minute may begin at once, and then one after the other at the
/// rate of the limit. A call is initially counted with the estimated tokens of its conversation,
/// one per four bytes, plus its [token limit](ChatRequest::max_tokens). Once the response reports
/// its usage, the actual tokens are counted instead. A call that exceeds the limit on its own
/// waits until the bucket is full.
///
/// A call that would wait for longer than [`with_max_wait`](Self::with_max_wait) fails immediately
/// with an error of kind [`RateLimit`](LlmErrorKind::RateLimit), with the wait as
/// [`retry_after`](LlmError::retry_after). The error is not
/// [retryable](LlmError::is_retryable), so that no [`Retry`](crate::Retry) waits for it either.
/// A call that has begun to wait is never refused.
///
/// Clones share the limits. Put it inside a [`Retry`](crate::Retry), so that every attempt counts.
///
/// ```
/// use cogwork_llm::{ChatRequest, LlmClient, LlmError, RateLimit, ScriptedClient};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), LlmError> {
/// let client = RateLimit::new(ScriptedClient::new(["1", "2"])).with_requests_per_minute(1.try_into().unwrap());
/// let start = tokio::time::Instant::now();
/// client.complete(ChatRequest::default()).await?;
/// client.complete(ChatRequest::default()).await?;
/// assert_eq!(start.elapsed().as_secs(), 60);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct RateLimit<C> {
    client: C,
    requests: Option<NonZeroU32>,
    tokens: Option<NonZeroU64>,
    max_wait: Duration,
    queue: Arc<Queue>,
}

impl<C> RateLimit<C> {
    /// Wraps `client` without limits.
    pub fn new(client: C) -> Self {
        Self {
            client,
            requests: None,
            tokens: None,
            max_wait: MINUTE,
            queue: Arc::default(),
        }
    }

    /// Sets the maximum number of calls per minute. Unlimited by default.
    #[must_use]
    pub fn with_requests_per_minute(mut self, requests: NonZeroU32) -> Self {
        self.requests = Some(requests);
        self
    }

    /// Sets the maximum number of tokens per minute, read and written. Unlimited by default.
    #[must_use]
    pub fn with_tokens_per_minute(mut self, tokens: NonZeroU64) -> Self {
        self.tokens = Some(tokens);
        self
    }

    /// Sets the maximum time that a call may wait.
    ///
    /// The default is 60 s.
    #[must_use]
    pub fn with_max_wait(mut self, wait: Duration) -> Self {
        self.max_wait = wait;
        self
    }

    fn too_long(&self, wait: Duration) -> LlmError {
        let calls = self.requests.map(|calls| format!("{calls} calls"));
        let tokens = self.tokens.map(|tokens| format!("{tokens} tokens"));
        let limits: Vec<_> = calls.into_iter().chain(tokens).collect();

        let message = format!(
            "the limit of {} per minute allows no further call within {:?}",
            limits.join(" and "),
            self.max_wait
        );

        // Whole milliseconds are easier to read.
        let millis = wait.as_nanos().div_ceil(1_000_000);
        let wait = Duration::from_millis(u64::try_from(millis).unwrap_or(u64::MAX));
        LlmError::new(LlmErrorKind::RateLimit, message)
            .with_retry_after(wait)
            .not_retryable()
    }
}

impl<C: LlmClient> RateLimit<C> {
    async fn reply(&self, request: ChatRequest, streamed: bool) -> Result<ReplyStream, LlmError> {
        let limit = self.tokens;
        let most_written = request.max_tokens().unwrap_or_default().into();
        let tokens = request.estimated_tokens().saturating_add(most_written);
        let estimated = refilling(tokens, limit);
        let call = refilling(1, self.requests.map(NonZeroU64::from));

        self.queue
            .begin([call, estimated], self.max_wait)
            .await
            .map_err(|wait| self.too_long(wait))?;

        let queue = Arc::clone(&self.queue);
        watched(&self.client, request, streamed, move |delta| {
            if let Ok(Delta::End(response)) = delta
                && let Some(usage) = response.usage()
            {
                queue.correct(estimated, refilling(usage.total_tokens(), limit));
            }
        })
        .await
    }
}

client_from_reply!(RateLimit);

/// What a call takes from the bucket of calls and from that of tokens, as the time in which the
/// bucket refills by it.
type Cost = [Duration; 2];

/// Returns the time in which a bucket refills by `amount`, rounded down, so that a full bucket has
/// room for the whole limit.
fn refilling(amount: u64, per_minute: Option<NonZeroU64>) -> Duration {
    let Some(per_minute) = per_minute else {
        return Duration::ZERO;
    };

    let nanos = MINUTE.as_nanos() * u128::from(amount) / u128::from(per_minute.get());
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)).min(LONGEST)
}

/// The waiting calls.
#[derive(Debug, Default)]
struct Queue {
    /// For calls and for tokens.
    buckets: Mutex<[Bucket; 2]>,
    /// Held by the first of the waiting calls. The others wait for it in their order.
    turn: tokio::sync::Mutex<()>,
    /// Notified when a bucket may be fuller than the first of the waiting calls knows.
    corrected: Notify,
}

/// A bucket, measured in the time that refilling takes. It holds a minute.
#[derive(Debug, Default)]
struct Bucket {
    /// `None` if it has always been full.
    full_at: Option<Instant>,
    /// What the waiting calls will take.
    reserved: Duration,
}

impl Bucket {
    /// Returns how long a call must wait until the bucket has room for it, if `before` is taken
    /// before it.
    fn wait(&self, cost: Duration, before: Duration) -> Duration {
        let missing = self.full_at.map_or(Duration::ZERO, |full_at| {
            full_at.saturating_duration_since(Instant::now())
        });

        let needed = missing
            .saturating_add(before)
            .saturating_add(cost.min(MINUTE));
        needed.saturating_sub(MINUTE)
    }

    fn take(&mut self, cost: Duration) {
        self.full_at = self.full_at.max(Some(Instant::now())).map(|at| at + cost);
        self.give_up(cost);
    }

    fn give_up(&mut self, reserved: Duration) {
        self.reserved = self.reserved.saturating_sub(reserved);
    }
}

impl Queue {
    /// Waits until a call may begin, or returns how long that would take if it is more than
    /// `max_wait`. This is decided at once. Dropping the future gives up the place.
    async fn begin(&self, cost: Cost, max_wait: Duration) -> Result<(), Duration> {
        let mut place = self.reserve(cost, max_wait)?;
        let _turn = self.turn.lock().await;

        while let Some(wait) = place.take() {
            // It makes no difference whether the time or a correction ends the wait.
            let _ = timeout(wait, self.corrected.notified()).await;
        }

        Ok(())
    }

    fn reserve(&self, cost: Cost, max_wait: Duration) -> Result<Place<'_>, Duration> {
        let mut buckets = locked(&self.buckets);
        let waits = buckets
            .iter()
            .zip(cost)
            .map(|(bucket, cost)| bucket.wait(cost, bucket.reserved));

        let wait = waits.max().unwrap_or_default();
        if wait > max_wait {
            return Err(wait);
        }

        for (bucket, cost) in buckets.iter_mut().zip(cost) {
            bucket.reserved = bucket.reserved.saturating_add(cost);
        }
        Ok(Place { queue: self, cost })
    }

    /// Replaces the estimated tokens of a call by its actual ones.
    fn correct(&self, estimated: Duration, actual: Duration) {
        let [_, tokens] = &mut *locked(&self.buckets);
        let full_at = tokens.full_at.map(|at| at + actual);
        tokens.full_at = full_at.and_then(|at| at.checked_sub(estimated));
        self.corrected.notify_one();
    }
}

/// The place of a waiting call.
struct Place<'q> {
    queue: &'q Queue,
    cost: Cost,
}

impl Place<'_> {
    /// Takes what is reserved, or returns how long to wait for it.
    fn take(&mut self) -> Option<Duration> {
        let mut buckets = locked(&self.queue.buckets);
        let waits = buckets
            .iter()
            .zip(self.cost)
            .map(|(bucket, cost)| bucket.wait(cost, Duration::ZERO));

        let wait = waits.max().filter(|wait| !wait.is_zero());
        if wait.is_some() {
            return wait;
        }

        for (bucket, cost) in buckets.iter_mut().zip(std::mem::take(&mut self.cost)) {
            bucket.take(cost);
        }
        None
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        for (bucket, cost) in locked(&self.queue.buckets).iter_mut().zip(self.cost) {
            bucket.give_up(cost);
        }
    }
}
