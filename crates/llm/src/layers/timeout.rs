use std::time::Duration;

use futures_util::stream;
use tokio::time::{Instant, timeout_at};

use super::reply::{client_from_reply, reply_of};
use crate::{ChatRequest, LlmClient, LlmError, LlmErrorKind, ReplyStream};

/// What the total limit is for.
const WHOLE: &str = "complete reply";

/// A client that limits the time of calls to another one. A call that takes longer fails with an
/// error of kind [`Timeout`](LlmErrorKind::Timeout).
///
/// | limit | complete reply | stream |
/// |---|---|---|
/// | [`with_total`](Self::with_total) | until the reply | until its end |
/// | [`with_first`](Self::with_first) | | until its first piece |
/// | [`with_idle`](Self::with_idle) | | between one piece and the next |
///
/// Put it inside a [`Retry`](crate::layers::Retry) to limit each attempt, or around one to limit all
/// attempts together. The time that the program spends between two pieces counts only toward
/// `total`.
///
/// ```
/// use cogwork_llm::layers::Timeout;
/// use cogwork_llm::{ChatRequest, LlmClient, LlmErrorKind, ScriptedClient, ScriptedReply};
/// use std::time::Duration;
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

/// Awaits `future` for at most `limit` from `start` on. `missing` is what it is to return.
async fn within<T>(
    limit: Option<Duration>,
    start: Instant,
    missing: &str,
    future: impl Future<Output = Result<T, LlmError>>,
) -> Result<T, LlmError> {
    // A limit beyond the range of the clock never ends.
    let end = |limit| Some((limit, start.checked_add(limit)?));
    let Some((limit, end)) = limit.and_then(end) else {
        return future.await;
    };

    timeout_at(end, future).await.unwrap_or_else(|_| {
        let message = format!("no {missing} within {limit:?}");
        Err(LlmError::new(LlmErrorKind::Timeout, message))
    })
}

impl<C: LlmClient> Timeout<C> {
    async fn reply(&self, request: ChatRequest, streamed: bool) -> Result<ReplyStream, LlmError> {
        let start = Instant::now();
        let Self { idle, total, .. } = *self;

        // A reply that isn't streamed has its first piece at its end.
        let first = self.first.filter(|_| streamed);
        let reply = async {
            reply_of(&self.client, request, streamed)
                .await?
                .started()
                .await
        };
        let reply = within(first, start, "first piece of the reply", reply);
        let reply = within(total, start, WHOLE, reply).await?;

        Ok(ReplyStream::new(stream::unfold(
            reply,
            move |mut reply| async move {
                let next = async { reply.next().await.transpose() };
                // From here on, because what the program did since the last piece doesn't count.
                let next = within(idle, Instant::now(), "further piece of the reply", next);
                let delta = within(total, start, WHOLE, next).await;
                Some((delta.transpose()?, reply))
            },
        )))
    }
}

client_from_reply!(Timeout);
