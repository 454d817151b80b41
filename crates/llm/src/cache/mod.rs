use std::sync::{Arc, Mutex};

use async_trait::async_trait;

use crate::locked::locked;
use crate::request::RequestKey;
use crate::{
    Capabilities, ChatRequest, ChatResponse, Delta, FinishReason, LlmClient, LlmError, ReplyStream,
};

mod kept;
use kept::{Kept, Most};

mod vectors;

/// A client that caches the responses of another client in memory.
///
/// A response is reused for a request that is equal in every message and setting, if it is complete
/// ([`FinishReason::Stop`] or [`FinishReason::ToolCalls`]). It is returned unchanged, including the
/// usage of the first call. Errors are not cached. When the cache is full, the least recently used
/// response is removed. Two equal requests at the same time result in two calls.
///
/// Around an [`Embedder`](crate::Embedder), it caches the vector of each text, and only texts
/// without a cached vector are embedded. The usage is that of this call, if there was one.
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
    most: Most,
    responses: Arc<Mutex<Kept<RequestKey, ChatResponse>>>,
    vectors: Arc<Mutex<Kept<String, Arc<[f32]>>>>,
}

impl<C> Cache<C> {
    /// Wraps `client` with an empty cache.
    pub fn new(client: C) -> Self {
        Self {
            client,
            most: Most {
                entries: 1000,
                bytes: 64 * 1024 * 1024,
            },
            responses: Arc::default(),
            vectors: Arc::default(),
        }
    }

    /// Sets the maximum number of cached responses.
    ///
    /// The default is 1,000.
    #[must_use]
    pub fn with_max_entries(mut self, entries: usize) -> Self {
        self.most.entries = entries;
        self
    }

    /// Sets the approximate maximum size of the cached responses and their requests, in bytes.
    ///
    /// The default is 64 MiB.
    #[must_use]
    pub fn with_max_bytes(mut self, bytes: usize) -> Self {
        self.most.bytes = bytes;
        self
    }
}

/// Returns whether a response can be reused.
fn is_whole(response: &ChatResponse) -> bool {
    matches!(
        response.finish_reason(),
        FinishReason::Stop | FinishReason::ToolCalls
    )
}

/// Keeps a response, if it can be reused.
fn keep(
    kept: &Mutex<Kept<RequestKey, ChatResponse>>,
    key: RequestKey,
    response: &ChatResponse,
    most: Most,
) {
    if is_whole(response) {
        let bytes = key.bytes().saturating_add(response.bytes());
        locked(kept).keep(key, response.clone(), bytes, most);
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

        let found = locked(&self.responses).find(&key);
        if let Some(response) = found {
            return Ok(response);
        }

        let response = self.client.complete(request).await?;
        keep(&self.responses, key, &response, self.most);
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

        let found = locked(&self.responses).find(&key);
        if let Some(response) = found {
            return Ok(response.into());
        }

        let reply = self.client.stream(request).await?;
        let kept = self.responses.clone();
        let most = self.most;
        let mut key = Some(key);

        Ok(reply.inspect(move |delta| {
            if let Ok(Delta::End(response)) = delta
                && let Some(key) = key.take()
            {
                keep(&kept, key, response, most);
            }
        }))
    }

    fn capabilities(&self) -> Capabilities {
        self.client.capabilities()
    }
}
