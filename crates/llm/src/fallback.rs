use async_trait::async_trait;

use crate::{
    Capabilities, ChatRequest, ChatResponse, LlmClient, LlmError, LlmErrorKind, ReplyStream,
};

/// Failures that may not affect a different server.
const KINDS: [LlmErrorKind; 7] = [
    LlmErrorKind::RateLimit,
    LlmErrorKind::Quota,
    LlmErrorKind::Overloaded,
    LlmErrorKind::Server,
    LlmErrorKind::Timeout,
    LlmErrorKind::Transport,
    LlmErrorKind::InterruptedStream,
];

/// A client that calls a second client if the first one fails.
///
/// Put a [`Retry`](crate::Retry) around each of the two rather than around both, so that the second
/// is called once the attempts of the first are used up. Nest `Fallback`s for more than two
/// clients.
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
    /// Wraps `first`, with `second` for its failures.
    pub fn new(first: A, second: B) -> Self {
        Self {
            first,
            second,
            kinds: KINDS.into(),
        }
    }

    /// Sets the kinds of failures of the first client after which the second is called.
    ///
    /// The default is the failures of a server or the connection to it: `RateLimit`, `Quota`,
    /// `Overloaded`, `Server`, `Timeout`, `Transport` and `InterruptedStream`. An invalid key or
    /// request is a mistake to fix rather than to hide.
    #[must_use]
    pub fn with_kinds(mut self, kinds: impl IntoIterator<Item = LlmErrorKind>) -> Self {
        self.kinds = kinds.into_iter().collect();
        self
    }

    /// Awaits `first`, and `second` if it fails.
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
                .with_note(format_args!("the first client failed with: {before}"))
        })
    }
}

#[async_trait]
impl<A: LlmClient, B: LlmClient> LlmClient for Fallback<A, B> {
    /// # Errors
    ///
    /// Returns the error of the first client if its kind isn't selected, otherwise the error of the
    /// second, with a note about the first.
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let again = request.clone();
        self.either(self.first.complete(request), async {
            self.second.complete(again).await
        })
        .await
    }

    /// Returns once the first piece has arrived. After that, the second client is not called.
    ///
    /// # Errors
    ///
    /// Returns the errors of `complete`. Later errors are returned by the stream.
    async fn stream(&self, request: ChatRequest) -> Result<ReplyStream, LlmError> {
        let again = request.clone();
        let first = async { self.first.stream(request).await?.started().await };
        self.either(first, async { self.second.stream(again).await })
            .await
    }

    /// Returns the capabilities that both clients have.
    fn capabilities(&self) -> Capabilities {
        self.first
            .capabilities()
            .in_common(self.second.capabilities())
    }
}
