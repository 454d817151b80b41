use std::sync::{Arc, Mutex};

use lru::LruCache;

use super::reply::{client_from_reply, watched};
use crate::locked::locked;
use crate::{ChatRequest, ChatResponse, Delta, FinishReason, LlmClient, LlmError, ReplyStream};

/// The approximate overhead of a cached response in addition to its content, in bytes.
const ENTRY_BYTES: usize = 256;

/// A client that caches the responses of another client in memory.
///
/// A response is reused for a request that is equal in every message and setting, if it is complete
/// ([`FinishReason::Stop`] or [`FinishReason::ToolCalls`]). It is returned unchanged, including the
/// usage of the first call; in a stream, as one piece. Errors are not cached. When the cache is full,
/// the least recently used response is removed. Two equal requests at the same time result in two
/// calls.
///
/// Clones share the cache. Put it around everything that costs time or money: `Retry`,
/// [`RateLimit`](crate::layers::RateLimit), [`Budget`](crate::layers::Budget).
///
/// ```
/// use cogwork_llm::layers::Cache;
/// use cogwork_llm::{ChatRequest, LlmClient, LlmError, ScriptedClient};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), LlmError> {
/// let script = ScriptedClient::new(["Hi."]);
/// let client = Cache::new(script.clone());
/// client.complete(ChatRequest::default()).await?;
/// assert_eq!(client.complete(ChatRequest::default()).await?.text(), "Hi.");
/// assert_eq!(script.requests().len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Cache<C> {
    client: C,
    max_bytes: usize,
    cached: Arc<Mutex<Cached>>,
}

impl<C> Cache<C> {
    /// Wraps `client` with an empty cache.
    pub fn new(client: C) -> Self {
        Self {
            client,
            max_bytes: 64 * 1024 * 1024,
            cached: Arc::default(),
        }
    }

    /// Sets the approximate maximum size of the cached responses and their requests, in bytes.
    ///
    /// The default is 64 MiB.
    #[must_use]
    pub fn with_max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }
}

impl<C: LlmClient> Cache<C> {
    async fn reply(&self, request: ChatRequest, streamed: bool) -> Result<ReplyStream, LlmError> {
        let key = request.key();
        // The lock isn't held during the call, which may take minutes.
        let found = locked(&self.cached).responses.get(&key).cloned();
        if let Some(response) = found {
            return Ok(response.into());
        }

        let cached = Arc::clone(&self.cached);
        let max_bytes = self.max_bytes;
        watched(&self.client, request, streamed, move |delta| {
            // A reply that was cut off or withheld may be complete the next time.
            if let Ok(Delta::End(response)) = delta
                && let FinishReason::Stop | FinishReason::ToolCalls = response.finish_reason()
            {
                locked(&cached).insert(key.clone(), response.clone(), max_bytes);
            }
        })
        .await
    }
}

client_from_reply!(Cache);

#[derive(Debug)]
struct Cached {
    responses: LruCache<String, ChatResponse>,
    bytes: usize,
}

impl Default for Cached {
    fn default() -> Self {
        Self {
            responses: LruCache::unbounded(),
            bytes: 0,
        }
    }
}

impl Cached {
    fn insert(&mut self, key: String, response: ChatResponse, max_bytes: usize) {
        let size = |key: &str, response: &ChatResponse| key.len() + response.bytes() + ENTRY_BYTES;
        let bytes = size(&key, &response);
        // Otherwise it would push out all other responses, and then itself.
        if bytes > max_bytes {
            return;
        }

        self.bytes += bytes;
        if let Some((key, replaced)) = self.responses.push(key, response) {
            self.bytes -= size(&key, &replaced);
        }
        while self.bytes > max_bytes
            && let Some((key, oldest)) = self.responses.pop_lru()
        {
            self.bytes -= size(&key, &oldest);
        }
    }
}
