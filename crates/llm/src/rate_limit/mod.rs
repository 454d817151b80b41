use std::num::{NonZeroU32, NonZeroU64};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use crate::{
    Capabilities, ChatRequest, ChatResponse, Delta, LlmClient, LlmError, LlmErrorKind, ReplyStream,
    guess,
};

mod queue;
use queue::{Asking, Limits, Queue, Turn};

/// No wait is longer; any clock can reach it.
const LONGEST_WAIT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// A client that calls another one so often and no more: in no sixty seconds are more calls begun,
/// or more tokens taken, than the limits allow. Calls that are too many wait, and go in the order in
/// which they came.
///
/// A call is held to take the tokens of its conversation, one for every four bytes, and its
/// [limit of tokens](ChatRequest::max_tokens), as servers do; once the reply says what it took, that
/// counts. One that takes more than the limit by itself is let through alone.
///
/// A call that would wait for longer than [`with_max_wait`](Self::with_max_wait) fails at once, those before it in the
/// queue counted. One that waits already fails as soon as it is known that it would wait for too long, which
/// only happens when a call before it took more tokens than it was held to take.
///
/// Clones share the limits. Put it inside a [`Retry`](crate::Retry), so that attempts count.
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
    limits: Limits,
    max_wait: Duration,
    queue: Arc<Mutex<Queue>>,
}

impl<C> RateLimit<C> {
    /// `client`, without limits so far.
    pub fn new(client: C) -> Self {
        let max_wait = Duration::from_secs(60);
        Self {
            client,
            limits: Limits::default(),
            max_wait,
            queue: Arc::default(),
        }
    }

    /// How many calls may begin in a minute. Unset: no limit.
    #[must_use]
    pub fn with_requests_per_minute(mut self, requests: NonZeroU32) -> Self {
        self.limits.requests = Some(requests);
        self
    }

    /// How many tokens the calls of a minute may take, read and written. Unset: no limit.
    #[must_use]
    pub fn with_tokens_per_minute(mut self, tokens: NonZeroU64) -> Self {
        self.limits.tokens = Some(tokens);
        self
    }

    /// The longest that a call may wait.
    ///
    /// # Default
    ///
    /// 60 s.
    #[must_use]
    pub fn with_max_wait(mut self, wait: Duration) -> Self {
        self.max_wait = wait;
        self
    }

    /// Waits until a call may begin.
    async fn admit(&self, request: &ChatRequest) -> Result<Ticket, LlmError> {
        let most_written = request.max_tokens().unwrap_or_default();
        let now = Instant::now();
        let asking = Asking {
            tokens: guess::of_request(request).saturating_add(most_written.into()),
            limits: self.limits,
            deadline: now + self.max_wait.min(LONGEST_WAIT),
        };

        let wake = Arc::new(Notify::new());
        let joined = locked(&self.queue).join(&asking, Arc::clone(&wake), now);
        let number = joined.map_err(|at| self.too_late(at))?;
        let mut place = Place {
            queue: Arc::clone(&self.queue),
            number,
            is_waiting: true,
        };

        loop {
            let turn = locked(&self.queue).turn(number, Instant::now());
            match turn {
                Turn::Begin => {
                    place.is_waiting = false;
                    return Ok(Ticket {
                        queue: Arc::clone(&self.queue),
                        number,
                    });
                }
                Turn::TooLate(at) => return Err(self.too_late(at)),
                Turn::Wait(None) => wake.notified().await,
                // It is asked again whether the time has come or something has changed.
                Turn::Wait(Some(at)) => drop(timeout_at(at, wake.notified()).await),
            }
        }
    }

    /// The error of a call that could begin at this time.
    fn too_late(&self, at: Instant) -> LlmError {
        let message = format!(
            "the client's own limit leaves no room within {:?}",
            self.max_wait
        );
        let wait = at.saturating_duration_since(Instant::now());

        LlmError::new(LlmErrorKind::RateLimit, message).with_retry_after(wait)
    }
}

/// A panic elsewhere cannot leave the queue half changed, so a poisoned lock is still good.
fn locked(queue: &Mutex<Queue>) -> MutexGuard<'_, Queue> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The place of a call in the queue. A call that is dropped while it waits gives it up.
struct Place {
    queue: Arc<Mutex<Queue>>,
    number: u64,
    is_waiting: bool,
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.is_waiting {
            locked(&self.queue).leave(self.number, Instant::now());
        }
    }
}

/// A call that was let through.
struct Ticket {
    queue: Arc<Mutex<Queue>>,
    number: u64,
}

impl Ticket {
    /// Counts what the call took in place of what it was held to take.
    fn settle(&self, response: &ChatResponse) {
        let Some(usage) = response.usage() else {
            return;
        };

        locked(&self.queue).settle(self.number, usage.total_tokens(), Instant::now());
    }
}

#[async_trait]
impl<C: LlmClient> LlmClient for RateLimit<C> {
    /// # Errors
    ///
    /// Of kind [`RateLimit`](LlmErrorKind::RateLimit) without a status, if the wait would be too long, with
    /// the wait it would be; and those of the client.
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let ticket = self.admit(&request).await?;
        let response = self.client.complete(request).await?;
        ticket.settle(&response);

        Ok(response)
    }

    /// # Errors
    ///
    /// As of `complete`; later ones come through the stream.
    async fn stream(&self, request: ChatRequest) -> Result<ReplyStream, LlmError> {
        let ticket = self.admit(&request).await?;
        let reply = self.client.stream(request).await?;
        Ok(reply.inspect(move |delta| {
            if let Ok(Delta::End(response)) = delta {
                ticket.settle(response);
            }
        }))
    }

    fn capabilities(&self) -> Capabilities {
        self.client.capabilities()
    }
}
