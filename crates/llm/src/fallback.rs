use async_trait::async_trait;

use crate::{
    Capabilities, ChatRequest, ChatResponse, LlmClient, LlmError, LlmErrorKind, ReplyStream,
};

/// Failures of a server that another server need not have.
const KINDS: [LlmErrorKind; 7] = [
    LlmErrorKind::RateLimit,
    LlmErrorKind::Quota,
    LlmErrorKind::Overloaded,
    LlmErrorKind::Server,
    LlmErrorKind::Timeout,
    LlmErrorKind::Transport,
    LlmErrorKind::InterruptedStream,
];

/// A client that asks a second one where the first one fails.
///
/// Put a [`Retry`](crate::Retry) around each of the two, not around both: the second is then asked
/// when the tries of the first are used up. More than two are a `Fallback` of a `Fallback`.
///
/// ```
/// use cogwork_llm::{ChatRequest, Fallback, LlmClient, LlmError, LlmErrorKind, ScriptedClient};
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
    kinds: Vec<LlmErrorKind>,
}

impl<A, B> Fallback<A, B> {
    /// `first`, and `second` where it fails.
    pub fn new(first: A, second: B) -> Self {
        Self {
            first,
            second,
            kinds: KINDS.into(),
        }
    }

    /// After which failures of the first the second is asked.
    ///
    /// # Default
    ///
    /// Those of the server and of the way to it: `RateLimit`, `Quota`, `Overloaded`, `Server`,
    /// `Timeout`, `Transport` and `InterruptedStream`. A wrong key or a wrong request is a mistake
    /// to mend, and not to hide.
    #[must_use]
    pub fn with_kinds(mut self, kinds: impl IntoIterator<Item = LlmErrorKind>) -> Self {
        self.kinds = kinds.into_iter().collect();
        self
    }

    /// What `first` gives, or else `second`.
    async fn either<T>(
        &self,
        first: impl Future<Output = Result<T, LlmError>>,
        second: impl Future<Output = Result<T, LlmError>>,
    ) -> Result<T, LlmError> {
        let before = match first.await {
            Err(error) if self.kinds.contains(&error.kind()) => error,
            outcome => return outcome,
        };
        second.await.map_err(|error| {
            let attempts = before.attempts().saturating_add(error.attempts());
            error
                .with_attempts(attempts)
                .with_note(format_args!("before it: {before}"))
        })
    }
}

#[async_trait]
impl<A: LlmClient, B: LlmClient> LlmClient for Fallback<A, B> {
    /// # Errors
    ///
    /// Of the first client, if it is of another kind; of the second, with a note of the first.
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let again = request.clone();
        self.either(self.first.complete(request), async {
            self.second.complete(again).await
        })
        .await
    }

    /// Answers when the first piece is there; after it, the other client is not asked any more.
    ///
    /// # Errors
    ///
    /// As of `complete`; later ones come through the stream.
    async fn stream(&self, request: ChatRequest) -> Result<ReplyStream, LlmError> {
        let again = request.clone();
        let first = async { self.first.stream(request).await?.started().await };
        self.either(first, async { self.second.stream(again).await })
            .await
    }

    /// What both can do.
    fn capabilities(&self) -> Capabilities {
        self.first
            .capabilities()
            .in_common(self.second.capabilities())
    }
}
