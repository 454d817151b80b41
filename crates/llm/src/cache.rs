use std::sync::{Arc, Mutex};

use lru::LruCache;

use crate::locked::locked;
use crate::reply::{Reply, Seen, client_from_reply};
use crate::request::RequestKey;
use crate::{ChatRequest, ChatResponse, FinishReason, LlmClient, LlmError};

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
/// [`RateLimit`](crate::RateLimit), [`Budget`](crate::Budget).
///
/// ```
/// use cogwork_llm::{Cache, ChatRequest, LlmClient, LlmError, ScriptedClient};
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
    async fn reply<R: Reply>(&self, request: ChatRequest) -> Result<R, LlmError> {
        let Some(key) = RequestKey::of(&request) else {
            return R::of(&self.client, request).await;
        };

        let found = locked(&self.cached).find(&key);
        if let Some(response) = found {
            return Ok(response.into());
        }

        let reply = R::of(&self.client, request).await?;
        let cached = Arc::clone(&self.cached);
        let max_bytes = self.max_bytes;

        Ok(reply.watch(move |seen| {
            if let Seen::End(response) = seen
                && is_whole(response)
            {
                locked(&cached).insert(key.clone(), response.clone(), max_bytes);
            }
        }))
    }
}

client_from_reply!(Cache);

/// Returns whether a response can be reused.
fn is_whole(response: &ChatResponse) -> bool {
    matches!(
        response.finish_reason(),
        FinishReason::Stop | FinishReason::ToolCalls
    )
}

/// The most recently used responses.
#[derive(Debug)]
struct Cached {
    responses: LruCache<RequestKey, ChatResponse>,
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
    fn find(&mut self, key: &RequestKey) -> Option<ChatResponse> {
        self.responses.get(key).cloned()
    }

    /// Inserts a response, and removes others until there is room for it.
    fn insert(&mut self, key: RequestKey, response: ChatResponse, max_bytes: usize) {
        let bytes = size(&key, &response);
        if bytes > max_bytes {
            return;
        }

        self.bytes = self.bytes.saturating_add(bytes);
        if let Some((key, replaced)) = self.responses.push(key, response) {
            self.bytes = self.bytes.saturating_sub(size(&key, &replaced));
        }

        while self.bytes > max_bytes
            && let Some((key, oldest)) = self.responses.pop_lru()
        {
            self.bytes = self.bytes.saturating_sub(size(&key, &oldest));
        }
    }
}

fn size(key: &RequestKey, response: &ChatResponse) -> usize {
    ENTRY_BYTES
        .saturating_add(key.bytes())
        .saturating_add(response.bytes())
}
