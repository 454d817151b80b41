use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream;
use tokio::time::{Instant, timeout_at};

use crate::{
    Capabilities, ChatRequest, ChatResponse, LlmClient, LlmError, LlmErrorKind, ReplyStream,
};

/// A client that limits the time of calls to another one. A call that takes longer fails with an
/// error of kind [`Timeout`](LlmErrorKind::Timeout).
///
/// | limit | complete reply | stream |
/// |---|---|---|
/// | [`with_total`](Self::with_total) | until the reply | until its end |
/// | [`with_first`](Self::with_first) | | until its first piece |
/// | [`with_idle`](Self::with_idle) | | between one piece and the next |
///
/// Put it inside a [`Retry`](crate::Retry) to limit each attempt, or around one to limit all
/// attempts together. The time that the program spends between two pieces counts only toward
/// `total`.
///
/// ```
/// use std::time::Duration;
/// use cogwork_llm::{ChatRequest, LlmClient, LlmErrorKind, ScriptedClient, ScriptedReply, Timeout};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let slow = ScriptedClient::new([ScriptedReply::from("At last.").after(Duration::from_secs(90))]);
/// let client = Timeout::new(slow).with_total(Duration::from_secs(60));
/// let error = client.complete(ChatRequest::default()).await.unwrap_err();
/// assert_eq!(error.to_string(), "timeout: no complete reply within 60s");
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Timeout<C> {
    client: C,
    first: Option<Duration>,
    idle: Option<Duration>,
    total: Option<Duration>,
}

impl<C> Timeout<C> {
    /// Wraps `client` without limits.
    pub fn new(client: C) -> Self {
        Self {
            client,
            first: None,
            idle: None,
            total: None,
        }
    }

    /// Sets the maximum time until the first piece of a stream. Unlimited by default.
    #[must_use]
    pub fn with_first(mut self, limit: Duration) -> Self {
        self.first = Some(limit);
        self
    }

    /// Sets the maximum time between two pieces of a stream. Unlimited by default.
    #[must_use]
    pub fn with_idle(mut self, limit: Duration) -> Self {
        self.idle = Some(limit);
        self
    }

    /// Sets the maximum time of a whole reply, streamed or not. Unlimited by default.
    #[must_use]
    pub fn with_total(mut self, limit: Duration) -> Self {
        self.total = Some(limit);
        self
    }
}

/// A limit with its start and end.
#[derive(Clone, Copy)]
struct Limit {
    /// `None` if it is beyond the range of the clock.
    end: Option<Instant>,
    limit: Duration,
    missing: &'static str,
}

impl Limit {
    fn from_now(limit: Option<Duration>, missing: &'static str) -> Option<Self> {
        limit.map(|limit| Self {
            end: Instant::now().checked_add(limit),
            limit,
            missing,
        })
    }

    fn error(self) -> LlmError {
        LlmError::new(
            LlmErrorKind::Timeout,
            format!("no {} within {:?}", self.missing, self.limit),
        )
    }
}

/// Awaits `future` until the earliest limit, and returns that limit's error if it expires.
async fn within<T>(
    limits: [Option<Limit>; 2],
    future: impl Future<Output = T>,
) -> Result<T, LlmError> {
    let soonest = limits
        .into_iter()
        .flatten()
        .filter_map(|limit| Some((limit.end?, limit)));
    match soonest.min_by_key(|(end, _)| *end) {
        Some((end, limit)) => timeout_at(end, future).await.map_err(|_| limit.error()),
        None => Ok(future.await),
    }
}

#[async_trait]
impl<C: LlmClient> LlmClient for Timeout<C> {
    /// # Errors
    ///
    /// Returns an error of kind [`Timeout`](LlmErrorKind::Timeout), or the error of the client.
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let total = Limit::from_now(self.total, "complete reply");
        within([total, None], self.client.complete(request)).await?
    }

    /// Returns once the first piece has arrived.
    ///
    /// # Errors
    ///
    /// Returns the errors of `complete`. Later errors are returned by the stream.
    async fn stream(&self, request: ChatRequest) -> Result<ReplyStream, LlmError> {
        let total = Limit::from_now(self.total, "complete reply");
        let first = Limit::from_now(self.first, "first piece of the reply");
        let started = async { self.client.stream(request).await?.started().await };
        let reply = within([total, first], started).await??;
        let idle = self.idle;

        Ok(ReplyStream::new(stream::unfold(
            reply,
            move |mut reply| async move {
                let idle = Limit::from_now(idle, "further piece of the reply");
                let delta = within([total, idle], reply.next()).await;
                Some((delta.unwrap_or_else(|late| Some(Err(late)))?, reply))
            },
        )))
    }

    fn capabilities(&self) -> Capabilities {
        self.client.capabilities()
    }
}
