use std::num::{NonZeroU32, NonZeroU64};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::reply::{client_from_reply, watched};
use crate::locked::locked;
use crate::{ChatRequest, Delta, LlmClient, LlmError, LlmErrorKind, ReplyStream};

const MINUTE: Duration = Duration::from_secs(60);
/// The longest time that is counted, which every clock can represent.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// A client that limits the rate of calls to another one. Further calls wait for their turn.
///
/// Each limit is a bucket that holds what one minute allows and refills evenly, as on most servers:
/// after a pause, the calls of a minute may begin at once, and then one after the other at the
/// rate of the limit. A call is initially counted with the estimated tokens of its conversation,
/// one per four bytes, plus its [token limit](ChatRequest::max_tokens). Once the response reports
/// its usage, the actual tokens are counted for later calls instead. A call that exceeds the limit on
/// its own waits until the bucket is full.
///
/// A call that would wait for longer than [`with_max_wait`](Self::with_max_wait) fails immediately
/// with an error of kind [`RateLimit`](LlmErrorKind::RateLimit), with the wait as
/// [`retry_after`](LlmError::retry_after). The error is not
/// [retryable](LlmError::is_retryable), so that no [`Retry`](crate::layers::Retry) waits for it either.
/// A call that has begun to wait is never refused, and counts even if it is dropped.
///
/// Clones share the limits. Put it inside a [`Retry`](crate::layers::Retry), so that every attempt counts.
///
/// ```
/// use cogwork_llm::layers::RateLimit;
/// use cogwork_llm::{ChatRequest, LlmClient, LlmError, ScriptedClient};
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
    buckets: Arc<Mutex<Buckets>>,
}

impl<C> RateLimit<C> {
    /// Wraps `client` without limits.
    pub fn new(client: C) -> Self {
        Self {
            client,
            requests: None,
            tokens: None,
            max_wait: MINUTE,
            buckets: Arc::default(),
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
            // Whoever retried this would wait for what was found to take too long.
            .not_retryable()
    }
}

impl<C: LlmClient> RateLimit<C> {
    async fn reply(&self, request: ChatRequest, streamed: bool) -> Result<ReplyStream, LlmError> {
        let limit = self.tokens;
        // Servers count the tokens that a reply may have when the request arrives.
        let most_written = request.max_tokens().unwrap_or_default().into();
        let tokens = request.estimated_tokens().saturating_add(most_written);
        let estimated = refilling(tokens, limit);
        let call = refilling(1, self.requests.map(NonZeroU64::from));

        // Taken before the wait, so that later calls queue behind this one.
        let wait = locked(&self.buckets).take([call, estimated], self.max_wait);
        let wait = wait.map_err(|wait| self.too_long(wait))?;
        if !wait.is_zero() {
            sleep(wait).await;
        }

        let buckets = Arc::clone(&self.buckets);
        watched(&self.client, request, streamed, move |delta| {
            if let Ok(Delta::End(response)) = delta
                && let Some(usage) = response.usage()
            {
                let actual = refilling(usage.total_tokens(), limit);
                locked(&buckets).correct(estimated, actual);
            }
        })
        .await
    }
}

client_from_reply!(RateLimit);

/// Returns the time in which a bucket refills by `amount`, rounded down, so that a full bucket has
/// room for the whole limit.
fn refilling(amount: u64, per_minute: Option<NonZeroU64>) -> Duration {
    let Some(per_minute) = per_minute else {
        return Duration::ZERO;
    };

    let nanos = MINUTE.as_nanos() * u128::from(amount) / u128::from(per_minute.get());
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)).min(LONGEST)
}

/// When the buckets of calls and of tokens are full again. `None` if they have always been full.
///
/// A bucket is measured in the time that refilling takes. It holds a minute.
#[derive(Debug, Default)]
struct Buckets([Option<Instant>; 2]);

impl Buckets {
    /// Takes what a call costs, and returns how long the call must wait until the buckets have had room
    /// for it. If that is more than `max_wait`, takes nothing and returns an error.
    fn take(&mut self, costs: [Duration; 2], max_wait: Duration) -> Result<Duration, Duration> {
        let now = Instant::now();
        let waits = self.0.iter().zip(costs).map(|(full_at, cost)| {
            // A bucket that has long been full holds no more than one that has just become full.
            let missing = full_at.map_or(Duration::ZERO, |at| at.saturating_duration_since(now));
            // A call that costs more than a minute waits for a full bucket, or it would wait
            // forever.
            (missing + cost.min(MINUTE)).saturating_sub(MINUTE)
        });

        let wait = waits.max().unwrap_or_default();
        if wait > max_wait {
            return Err(wait);
        }

        for (full_at, cost) in self.0.iter_mut().zip(costs) {
            // `None` is less than any time.
            *full_at = (*full_at).max(Some(now + wait)).map(|at| at + cost);
        }
        Ok(wait)
    }

    /// Replaces the estimated tokens of a call by its actual ones.
    fn correct(&mut self, estimated: Duration, actual: Duration) {
        let [_, tokens] = &mut self.0;
        let full_at = tokens.map(|at| at + actual);
        // A time before the first that the clock has is long past, as `None` is.
        *tokens = full_at.and_then(|at| at.checked_sub(estimated));
    }
}
