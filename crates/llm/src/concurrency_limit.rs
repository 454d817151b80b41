use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{Capabilities, ChatRequest, ChatResponse, LlmClient, LlmError, ReplyStream};

/// A client that lets only so many calls to another one run at a time; the others wait, and go in
/// the order in which they came. A stream counts until its end, or until it is dropped.
///
/// Clones share the limit. Put it inside a [`Retry`](crate::Retry): a call that waits for its next
/// attempt then leaves its place to another one.
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
    /// `client`, with at most `N` calls at a time. None at all do not compile.
    pub fn of<const N: usize>(client: C) -> Self {
        const { assert!(N > 0, "a ConcurrencyLimit lets at least one call run") }
        Self::with_places(client, N)
    }

    /// `client`, with at most this many calls at a time.
    pub fn new(client: C, calls: NonZeroUsize) -> Self {
        Self::with_places(client, calls.get())
    }

    fn with_places(client: C, places: usize) -> Self {
        Self {
            client,
            places: Arc::new(Semaphore::new(places.min(Semaphore::MAX_PERMITS))),
        }
    }

    /// A place, held until it is dropped. None only of a semaphore that was closed, and nobody
    /// closes this one.
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

        // The stream drops what looks at it when it ends.
        Ok(reply.inspect(move |_| {
            let _held = &place;
        }))
    }

    fn capabilities(&self) -> Capabilities {
        self.client.capabilities()
    }
}
