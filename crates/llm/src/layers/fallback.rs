use async_trait::async_trait;

use super::reply::reply_of;
use crate::backend::Capabilities;
use crate::{ChatRequest, ChatResponse, LlmClient, LlmError, LlmErrorKind, ReplyStream};

/// A client that calls a second client if the first one fails as a server does: with an error of kind
/// `RateLimit`, `Quota`, `Overloaded`, `Server`, `Timeout`, `Transport` or `InterruptedStream`. If both
/// fail, the error of the second is returned, with a note about the first.
///
/// A stream is returned once its first piece has arrived. After that, the second client is not called.
///
/// Put a [`Retry`](crate::layers::Retry) around each of the two rather than around both, so that the second
/// is called once the attempts of the first are used up. Nest `Fallback`s for more than two
/// clients.
///
/// ```
/// use cogwork_llm::layers::Fallback;
/// use cogwork_llm::{ChatRequest, LlmClient, LlmError, LlmErrorKind, ScriptedClient};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), LlmError> {
/// let far = ScriptedClient::default().then(LlmError::new(LlmErrorKind::Overloaded, "busy"));
/// let near = ScriptedClient::new(["Here."]);
/// let client = Fallback::new(far, near);
/// assert_eq!(client.complete(ChatRequest::default()).await?.text(), "Here.");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Fallback<A, B> {
    first: A,
    second: B,
}

impl<A, B> Fallback<A, B> {
    /// Wraps `first`, with `second` for its failures.
    pub fn new(first: A, second: B) -> Self {
        Self { first, second }
    }
}

impl<A: LlmClient, B: LlmClient> Fallback<A, B> {
    async fn reply(&self, request: ChatRequest, streamed: bool) -> Result<ReplyStream, LlmError> {
        let again = request.clone();
        let first = async {
            let reply = reply_of(&self.first, request, streamed).await?;
            // Once a piece was passed on, another client can no longer take over.
            reply.started().await
        };
        let before = match first.await {
            // An invalid key or request is a mistake to fix rather than to hide.
            Err(error) if may_work_elsewhere(&error) => error,
            outcome => return outcome,
        };

        let second = reply_of(&self.second, again, streamed).await;
        second.map_err(|error| {
            let attempts = before.attempts().saturating_add(error.attempts());
            error
                .with_attempts(attempts)
                // People who only see the second error would look for the fault in the wrong place.
                .with_note(format_args!("the first client failed with: {before}"))
        })
    }
}

fn may_work_elsewhere(error: &LlmError) -> bool {
    error.is_of_a_kind_that_passes() || error.kind() == LlmErrorKind::Quota
}

#[async_trait]
impl<A: LlmClient, B: LlmClient> LlmClient for Fallback<A, B> {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        self.reply(request, false).await?.collect().await
    }

    async fn stream(&self, request: ChatRequest) -> Result<ReplyStream, LlmError> {
        self.reply(request, true).await
    }

    /// Returns the capabilities that both clients have.
    fn capabilities(&self) -> Capabilities {
        self.first
            .capabilities()
            .in_common(self.second.capabilities())
    }
}
