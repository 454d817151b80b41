use std::sync::Arc;

use tokio::sync::Semaphore;

use super::reply::{client_from_reply, reply_of};
use crate::{ChatRequest, LlmClient, LlmError, ReplyStream};

/// A client that limits the number of concurrent calls to another one. Further calls wait in a
/// first-in, first-out queue. A stream counts until it ends or is dropped.
///
/// Clones share the limit. Put it inside a [`Retry`](crate::layers::Retry), so that a call that waits for
/// its next attempt frees its place.
///
/// ```
/// use cogwork_llm::layers::ConcurrencyLimit;
/// use cogwork_llm::{ChatRequest, LlmClient, LlmError, ScriptedClient};
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
        // With no place, every call would wait forever.
        const { assert!(N > 0, "a ConcurrencyLimit must allow at least one call") }
        let places = Semaphore::new(N.min(Semaphore::MAX_PERMITS));
        Self {
            client,
            places: Arc::new(places),
        }
    }
}

impl<C: LlmClient> ConcurrencyLimit<C> {
    async fn reply(&self, request: ChatRequest, streamed: bool) -> Result<ReplyStream, LlmError> {
        // An error only if the semaphore is closed, which never happens.
        let place = self.places.clone().acquire_owned().await.ok();
        let reply = reply_of(&self.client, request, streamed).await?;

        // A stream drops this closure, and with it the place, when it ends.
        Ok(reply.inspect(move |_| {
            let _held = &place;
        }))
    }
}

client_from_reply!(ConcurrencyLimit);
