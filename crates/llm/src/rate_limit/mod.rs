use std::num::{NonZeroU32, NonZeroU64};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use crate::embedding::estimated_tokens;
use crate::locked::locked;
use crate::{
    Capabilities, ChatRequest, ChatResponse, Delta, Embedder, Embeddings, LlmClient, LlmError,
    LlmErrorKind, ReplyStream, Usage,
};

mod queue;
use queue::{Asking, Limits, Queue, Turn};

/// The maximum wait, which every clock can represent.
const LONGEST_WAIT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// A client or an [`Embedder`] that limits the rate of calls to another one: within any 60 seconds, no more calls
/// begin and no more tokens are used than the limits allow. Further calls wait in a first-in,
/// first-out queue.
///
/// As on most servers, a call is initially counted with the estimated tokens of its conversation,
/// one per four bytes, plus its [token limit](ChatRequest::max_tokens). Once the response reports
/// its usage, the actual tokens are counted instead. A call that exceeds the limit on its own runs
/// alone.
///
/// A call that would wait for longer than [`with_max_wait`](Self::with_max_wait) fails immediately.
/// A call that is already waiting fails as soon as its wait becomes too long, which happens only if
/// an earlier call used more tokens than estimated.
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
    limits: Limits,
    max_wait: Duration,
    queue: Arc<Mutex<Queue>>,
}

impl<C> RateLimit<C> {
    /// Wraps `client` without limits.
    pub fn new(client: C) -> Self {
        let max_wait = Duration::from_secs(60);
        Self {
            client,
            limits: Limits::default(),
            max_wait,
            queue: Arc::default(),
        }
    }

    /// Sets the maximum number of calls per minute. Unlimited by default.
    #[must_use]
    pub fn with_requests_per_minute(mut self, requests: NonZeroU32) -> Self {
        self.limits.requests = Some(requests);
        self
    }

    /// Sets the maximum number of tokens per minute, read and written. Unlimited by default.
    #[must_use]
    pub fn with_tokens_per_minute(mut self, tokens: NonZeroU64) -> Self {
        self.limits.tokens = Some(tokens);
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

    /// Waits until the call may begin.
    async fn admit(&self, request: &ChatRequest) -> Result<Ticket, LlmError> {
        let most_written = request.max_tokens().unwrap_or_default();
        let read = request.estimated_tokens();

        self.admit_tokens(read.saturating_add(most_written.into()))
            .await
    }

    /// Waits until a call with this estimated number of tokens may begin.
    async fn admit_tokens(&self, tokens: u64) -> Result<Ticket, LlmError> {
        let now = Instant::now();
        let asking = Asking {
            tokens,
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
                // Checks again once the time has come or the queue has changed.
                Turn::Wait(Some(at)) => drop(timeout_at(at, wake.notified()).await),
            }
        }
    }

    /// Returns the error for a call that could begin at this time.
    fn too_late(&self, at: Instant) -> LlmError {
        let message = format!(
            "the client's limit allows no call within {:?}",
            self.max_wait
        );
        let wait = at.saturating_duration_since(Instant::now());

        LlmError::new(LlmErrorKind::RateLimit, message).with_retry_after(wait)
    }
}

/// The place of a call in the queue. Dropping it removes a waiting call from the queue.
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

/// A call that may begin.
struct Ticket {
    queue: Arc<Mutex<Queue>>,
    number: u64,
}

impl Ticket {
    /// Replaces the estimated tokens of the call by its usage.
    fn settle(&self, usage: Option<Usage>) {
        let Some(usage) = usage else {
            return;
        };

        locked(&self.queue).settle(self.number, usage.total_tokens(), Instant::now());
    }
}

#[async_trait]
impl<C: LlmClient> LlmClient for RateLimit<C> {
    /// # Errors
    ///
    /// Returns an error of kind [`RateLimit`](LlmErrorKind::RateLimit) without a status if the call
    /// would wait for too long, with the wait as [`retry_after`](LlmError::retry_after); or the
    /// error of the client.
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let ticket = self.admit(&request).await?;
        let response = self.client.complete(request).await?;
        ticket.settle(response.usage());

        Ok(response)
    }

    /// # Errors
    ///
    /// Returns the errors of `complete`. Later errors are returned by the stream.
    async fn stream(&self, request: ChatRequest) -> Result<ReplyStream, LlmError> {
        let ticket = self.admit(&request).await?;
        let reply = self.client.stream(request).await?;
        Ok(reply.inspect(move |delta| {
            if let Ok(Delta::End(response)) = delta {
                ticket.settle(response.usage());
            }
        }))
    }

    fn capabilities(&self) -> Capabilities {
        self.client.capabilities()
    }
}

#[async_trait]
impl<C: Embedder> Embedder for RateLimit<C> {
    /// # Errors
    ///
    /// Returns an error of kind [`RateLimit`](LlmErrorKind::RateLimit) without a status if the call
    /// would wait for too long, or the error of the embedder.
    async fn embed(&self, texts: &[String]) -> Result<Embeddings, LlmError> {
        let ticket = self.admit_tokens(estimated_tokens(texts)).await?;
        let embeddings = self.client.embed(texts).await?;
        ticket.settle(embeddings.usage());

        Ok(embeddings)
    }

    fn model(&self) -> &str {
        self.client.model()
    }

    fn dimension(&self) -> Option<usize> {
        self.client.dimension()
    }
}
