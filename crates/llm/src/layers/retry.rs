use std::time::Duration;

use async_trait::async_trait;
use cogwork_text::Backoff;

use super::reply::{client_from_reply, reply_of};
use crate::embedding::{Embedder, Embeddings};
use crate::{ChatRequest, LlmClient, LlmError, ReplyStream};

/// The maximum time that a server may ask to wait.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// A client or an [`Embedder`] that retries calls of another one if the error is
/// [retryable](LlmError::is_retryable). The error of the last attempt is returned, with the number
/// of [attempts](LlmError::attempts).
///
/// A stream is returned once its first piece has arrived, and retried until then. A reply that is
/// interrupted later is not retried, because pieces of it were already passed on.
///
/// Between attempts it waits for the delay of its [`Backoff`], or for as long as the server asks
/// ([`LlmError::retry_after`]) if that is longer. Jitter applies only to the backoff. If a server
/// asks for more than a minute, the error is returned immediately, without a further attempt.
///
/// Wrap it around a [`Timeout`](crate::layers::Timeout) to limit each attempt:
/// `Retry::new(Timeout::new(client), backoff)`. A timeout around the `Retry` limits all attempts
/// together.
///
/// ```
/// use cogwork_llm::layers::{Backoff, Retry};
/// use cogwork_llm::{ChatRequest, LlmClient, LlmError, LlmErrorKind, Message, ScriptedClient};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), LlmError> {
/// let flaky = ScriptedClient::default()
///     .then(LlmError::new(LlmErrorKind::Overloaded, "come back later"))
///     .then("Here I am.");
/// let client = Retry::new(flaky.clone(), Backoff::of::<3>());
///
/// let response = client.complete(ChatRequest::new([Message::user("Hello?")])).await?;
/// assert_eq!(response.text(), "Here I am.");
/// assert_eq!(flaky.requests().len(), 2);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Retry<C> {
    client: C,
    backoff: Backoff,
}

impl<C> Retry<C> {
    /// Wraps `client`, with the number of attempts and the delays of `backoff`.
    pub fn new(client: C, backoff: Backoff) -> Self {
        Self { client, backoff }
    }

    async fn tries<T, F>(&self, call: impl Fn() -> F) -> Result<T, LlmError>
    where
        F: Future<Output = Result<T, LlmError>>,
    {
        let mut delays = self.backoff.delays();
        let mut attempts = 0_u32;
        loop {
            let error = match call().await {
                Ok(done) => return Ok(done),
                Err(error) => error,
            };

            // The client inside may have made several attempts too.
            attempts = attempts.saturating_add(error.attempts());
            let error = error.with_attempts(attempts);
            if !error.is_retryable() {
                return Err(error);
            }

            let Some(delay) = delays.next() else {
                return Err(error);
            };

            let asked = error.retry_after().unwrap_or_default();
            // A program that waits for an hour looks as if it hangs.
            if asked > LONGEST_WAIT {
                return Err(error
                    .with_note(format_args!(
                        "not retried: the wait is over {LONGEST_WAIT:?}"
                    ))
                    .not_retryable());
            }

            // A call before the time that the server names would be refused again.
            tokio::time::sleep(delay.max(asked)).await;
        }
    }
}

impl<C: LlmClient> Retry<C> {
    async fn reply(&self, request: ChatRequest, streamed: bool) -> Result<ReplyStream, LlmError> {
        let call = || async {
            let reply = reply_of(&self.client, request.clone(), streamed).await?;
            // The pieces of a reply that has begun were passed on, so only its beginning is
            // retried.
            reply.started().await
        };
        self.tries(call).await
    }
}

client_from_reply!(Retry);

#[async_trait]
impl<C: Embedder> Embedder for Retry<C> {
    async fn embed(&self, texts: &[String]) -> Result<Embeddings, LlmError> {
        self.tries(|| self.client.embed(texts)).await
    }

    fn model(&self) -> &str {
        self.client.model()
    }

    fn dimension(&self) -> Option<usize> {
        self.client.dimension()
    }
}
