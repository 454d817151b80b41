use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{
    Capabilities, ChatRequest, ChatResponse, Embedder, Embeddings, LlmClient, LlmError, ReplyStream,
};

/// A client or an [`Embedder`] that limits the number of concurrent calls to another one. Further calls wait in a
/// first-in, first-out queue. A stream counts until it ends or is dropped.
///
/// Clones share the limit. Put it inside a [`Retry`](crate::Retry), so that a call that waits for
/// its next attempt frees its place.
///
/// ```
/// use cogwork_llm::{ChatRequest, ConcurrencyLimit, LlmClient, LlmError, ScriptedClient};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), LlmError> {
/// let client = ConcurrencyLimit::of::<4>(ScriptedClient::new(["Hi."]));
/// assert_eq!(client.complete(ChatRequest::default()).await?.text(), "Hi.");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct ConcurrencyLimit<C> {
    client: C,
    places: Arc<Semaphore>,
}

impl<C> ConcurrencyLimit<C> {
    /// Wraps `client` with at most `N` concurrent calls. `N` = 0 doesn't compile.
    pub fn of<const N: usize>(client: C) -> Self {
        const { assert!(N > 0, "a ConcurrencyLimit must allow at least one call") }
        Self::with_places(client, N)
    }

    /// Wraps `client` with at most `calls` concurrent calls.
    pub fn new(client: C, calls: NonZeroUsize) -> Self {
        Self::with_places(client, calls.get())
    }

    fn with_places(client: C, places: usize) -> Self {
        Self {
            client,
            places: Arc::new(Semaphore::new(places.min(Semaphore::MAX_PERMITS))),
        }
    }

    /// Returns a permit, which is released when it is dropped. Returns `None` only if the semaphore
    /// is closed, which never happens.
    async fn place(&self) -> Option<OwnedSemaphorePermit> {
        self.places.clone().acquire_owned().await.ok()
    }
}

#[async_trait]
impl<C: LlmClient> LlmClient for ConcurrencyLimit<C> {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let _place = self.place().await;
        self.client.complete(request).await
    }

    async fn stream(&self, request: ChatRequest) -> Result<ReplyStream, LlmError> {
        let place = self.place().await;
        let reply = self.client.stream(request).await?;

        // The stream drops this closure, and with it the permit, when it ends.
        Ok(reply.inspect(move |_| {
            let _held = &place;
        }))
    }

    fn capabilities(&self) -> Capabilities {
        self.client.capabilities()
    }
}

#[async_trait]
impl<C: Embedder> Embedder for ConcurrencyLimit<C> {
    async fn embed(&self, texts: &[String]) -> Result<Embeddings, LlmError> {
        let _place = self.place().await;
        self.client.embed(texts).await
    }

    fn model(&self) -> &str {
        self.client.model()
    }

    fn dimension(&self) -> Option<usize> {
        self.client.dimension()
    }
}
