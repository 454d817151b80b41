use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;

use crate::locked::locked;
use crate::request::RequestKey;
use crate::{
    Capabilities, ChatRequest, ChatResponse, Delta, FinishReason, LlmClient, LlmError, ReplyStream,
};

/// The approximate overhead of an entry in addition to its texts, in bytes.
const ENTRY_BYTES: usize = 256;

/// A client that caches the responses of another client in memory.
///
/// A response is reused for a request that is equal in every message and setting, if it is complete
/// ([`FinishReason::Stop`] or [`FinishReason::ToolCalls`]). It is returned unchanged, including the
/// usage of the first call. Errors are not cached. When the cache is full, the least recently used
/// response is removed. Two equal requests at the same time result in two calls.
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
    max_entries: usize,
    max_bytes: usize,
    kept: Arc<Mutex<Kept>>,
}

impl<C> Cache<C> {
    /// Wraps `client` with an empty cache.
    pub fn new(client: C) -> Self {
        Self {
            client,
            max_entries: 1000,
            max_bytes: 64 * 1024 * 1024,
            kept: Arc::default(),
        }
    }

    /// Sets the maximum number of cached responses.
    ///
    /// The default is 1,000.
    #[must_use]
    pub fn with_max_entries(mut self, entries: usize) -> Self {
        self.max_entries = entries;
        self
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

#[derive(Debug)]
struct Entry {
    response: ChatResponse,
    bytes: usize,
    /// The last use, counted in requests.
    used: u64,
}

#[derive(Debug, Default)]
struct Kept {
    entries: HashMap<Arc<RequestKey>, Entry>,
    /// The keys by last use, so that making room examines no other entries.
    by_use: BTreeMap<u64, Arc<RequestKey>>,
    bytes: usize,
    requests: u64,
}

impl Kept {
    fn find(&mut self, key: &RequestKey) -> Option<ChatResponse> {
        self.requests += 1;
        let entry = self.entries.get_mut(key)?;

        if let Some(key) = self.by_use.remove(&entry.used) {
            self.by_use.insert(self.requests, key);
        }

        entry.used = self.requests;

        Some(entry.response.clone())
    }

    fn keep(
        &mut self,
        key: RequestKey,
        response: &ChatResponse,
        max_entries: usize,
        max_bytes: usize,
    ) {
        let bytes = ENTRY_BYTES
            .saturating_add(key.bytes())
            .saturating_add(response.bytes());
        let is_whole = matches!(
            response.finish_reason(),
            FinishReason::Stop | FinishReason::ToolCalls
        );
        if !is_whole || bytes > max_bytes || max_entries == 0 {
            return;
        }

        self.remove(&key);
        while self.entries.len() >= max_entries || self.bytes.saturating_add(bytes) > max_bytes {
            let Some((_, oldest)) = self.by_use.pop_first() else {
                break;
            };

            self.remove(&oldest);
        }

        // Counted separately, because the key may have been added and removed again since the
        // request was counted.
        self.requests += 1;
        let key = Arc::new(key);
        let entry = Entry {
            response: response.clone(),
            bytes,
            used: self.requests,
        };

        self.by_use.insert(entry.used, Arc::clone(&key));
        self.entries.insert(key, entry);
        self.bytes += bytes;
    }

    fn remove(&mut self, key: &RequestKey) {
        let Some(entry) = self.entries.remove(key) else {
            return;
        };

        self.by_use.remove(&entry.used);
        self.bytes = self.bytes.saturating_sub(entry.bytes);
    }
}

#[async_trait]
impl<C: LlmClient> LlmClient for Cache<C> {
    /// # Errors
    ///
    /// Returns the error of the client.
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let Some(key) = RequestKey::of(&request) else {
            return self.client.complete(request).await;
        };

        let found = locked(&self.kept).find(&key);
        if let Some(response) = found {
            return Ok(response);
        }

        let response = self.client.complete(request).await?;
        locked(&self.kept).keep(key, &response, self.max_entries, self.max_bytes);
        Ok(response)
    }

    /// Returns a cached response as one piece. A streamed response is cached at its end.
    ///
    /// # Errors
    ///
    /// Returns the error of the client.
    async fn stream(&self, request: ChatRequest) -> Result<ReplyStream, LlmError> {
        let Some(key) = RequestKey::of(&request) else {
            return self.client.stream(request).await;
        };

        let found = locked(&self.kept).find(&key);
        if let Some(response) = found {
            return Ok(response.into());
        }

        let reply = self.client.stream(request).await?;
        let kept = self.kept.clone();
        let max_entries = self.max_entries;
        let max_bytes = self.max_bytes;
        let mut key = Some(key);

        Ok(reply.inspect(move |delta| {
            if let Ok(Delta::End(response)) = delta
                && let Some(key) = key.take()
            {
                let mut kept = locked(&kept);
                kept.keep(key, response, max_entries, max_bytes);
            }
        }))
    }

    fn capabilities(&self) -> Capabilities {
        self.client.capabilities()
    }
}
