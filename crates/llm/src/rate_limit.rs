use std::collections::VecDeque;
use std::num::{NonZeroU32, NonZeroU64};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::{
    Capabilities, ChatRequest, ChatResponse, Delta, LlmClient, LlmError, LlmErrorKind, ReplyStream, guess,
};

const MINUTE: Duration = Duration::from_secs(60);
/// No wait is longer; any clock can reach it.
const LONGEST_WAIT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// A client that calls another one so often and no more: in no sixty seconds are more calls begun,
/// or more tokens taken, than the limits allow. Calls that are too many wait, and go in the order in
/// which they came.
///
/// A call is held to take the tokens of its conversation, one for every four bytes, and its
/// [limit of tokens](ChatRequest::max_tokens), as servers do; once the reply says what it took, that
/// counts. One that takes more than the limit by itself is let through alone. A call that would wait
/// for longer than [`max_wait`](Self::max_wait) fails at once.
///
/// Clones share the limits. Put it inside a [`Retry`](crate::Retry), so that attempts count.
///
/// ```
/// use cogwork_llm::{ChatRequest, LlmClient, LlmError, RateLimit, ScriptedClient};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), LlmError> {
/// let client = RateLimit::new(ScriptedClient::new(["1", "2"])).requests_per_minute(1.try_into().unwrap());
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
    window: Arc<Window>,
}

impl<C> RateLimit<C> {
    /// `client`, without limits so far.
    pub fn new(client: C) -> Self {
        Self { client, requests: None, tokens: None, max_wait: MINUTE, window: Arc::default() }
    }

    /// How many calls may begin in a minute. Unset: no limit.
    #[must_use]
    pub fn requests_per_minute(mut self, requests: NonZeroU32) -> Self {
        self.requests = Some(requests);
        self
    }

    /// How many tokens the calls of a minute may take, read and written. Unset: no limit.
    #[must_use]
    pub fn tokens_per_minute(mut self, tokens: NonZeroU64) -> Self {
        self.tokens = Some(tokens);
        self
    }

    /// The longest that a call may wait.
    ///
    /// # Default
    ///
    /// 60 s.
    #[must_use]
    pub fn max_wait(mut self, wait: Duration) -> Self {
        self.max_wait = wait;
        self
    }

    /// Waits until a call may begin.
    async fn admit(&self, request: &ChatRequest) -> Result<Ticket, LlmError> {
        let tokens =
            guess::of_request(request).saturating_add(request.max_tokens().unwrap_or_default().into());
        let deadline = Instant::now() + self.max_wait.min(LONGEST_WAIT);
        let too_long = || {
            let message = format!("the client's own limit leaves no room within {:?}", self.max_wait);
            LlmError::new(LlmErrorKind::RateLimit, message)
        };
        // The lock is held during the wait, and tokio gives it in the order it is asked for: that
        // is the queue. A call dropped in it leaves nothing behind.
        let turn = timeout_at(deadline, self.window.queue.lock()).await.map_err(|_| too_long())?;
        loop {
            match self.window.enter(self.requests, self.tokens, tokens) {
                Ok(number) => {
                    drop(turn);
                    return Ok(Ticket { window: self.window.clone(), number });
                }
                Err(free) if free > deadline => {
                    return Err(too_long().with_retry_after(free.saturating_duration_since(Instant::now())));
                }
                // What calls took may have become known meanwhile, so it is looked at again.
                Err(free) => sleep_until(free).await,
            }
        }
    }
}

#[derive(Debug, Default)]
struct Window {
    queue: tokio::sync::Mutex<()>,
    calls: Mutex<Calls>,
}

/// The calls of the last minute, oldest first: a list and not a bucket that drips, because a full
/// bucket lets twice its size through in its first minute, and servers count.
#[derive(Debug, Default)]
struct Calls {
    begun: VecDeque<Begun>,
    next: u64,
}

#[derive(Debug)]
struct Begun {
    at: Instant,
    number: u64,
    tokens: u64,
}

impl Window {
    /// Enters a call that begins now, or says when there may be room for it.
    fn enter(
        &self,
        requests: Option<NonZeroU32>,
        limit: Option<NonZeroU64>,
        tokens: u64,
    ) -> Result<u64, Instant> {
        let now = Instant::now();
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        while calls.begun.front().is_some_and(|call| call.at + MINUTE <= now) {
            calls.begun.pop_front();
        }
        let mut free = None;
        if let Some(requests) = requests {
            let requests = usize::try_from(requests.get()).unwrap_or(usize::MAX);
            let too_many = (calls.begun.len() + 1).saturating_sub(requests);
            free = too_many.checked_sub(1).and_then(|last| calls.begun.get(last)).map(|call| call.at);
        }
        if let Some(limit) = limit {
            let wanted = tokens.min(limit.get());
            let mut taken = calls.begun.iter().fold(0, |sum, call| call.tokens.saturating_add(sum));
            for call in &calls.begun {
                if taken.saturating_add(wanted) <= limit.get() {
                    break;
                }
                taken = taken.saturating_sub(call.tokens);
                free = free.max(Some(call.at));
            }
        }
        if let Some(free) = free {
            return Err(free + MINUTE);
        }
        let number = calls.next;
        calls.next += 1;
        calls.begun.push_back(Begun { at: now, number, tokens });
        Ok(number)
    }
}

/// A call that was let through.
struct Ticket {
    window: Arc<Window>,
    number: u64,
}

impl Ticket {
    /// Counts what the call took in place of what it was held to take.
    fn settle(&self, response: &ChatResponse) {
        let Some(usage) = response.usage() else { return };
        let mut calls = self.window.calls.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(call) = calls.begun.iter_mut().find(|call| call.number == self.number) {
            call.tokens = usage.total_tokens();
        }
    }
}

#[async_trait]
impl<C: LlmClient> LlmClient for RateLimit<C> {
    /// # Errors
    ///
    /// Of kind [`RateLimit`](LlmErrorKind::RateLimit) without a status, if the wait would be too
    /// long, with the wait where it is known; and those of the client.
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
