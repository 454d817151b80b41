use std::sync::Arc;

use async_trait::async_trait;

use crate::{Capabilities, ChatRequest, ChatResponse, LlmError, ReplyStream};

/// A language model: takes a conversation, gives the next message.
///
/// Implement it for a backend of your own; wrap it to add retries or anything else that
/// surrounds a call. The trait is object-safe, so programs hold `Arc<dyn LlmClient>`. Requests
/// go by value, so that a mock can keep them without lifetimes; cloning one copies no text.
///
/// A call may be dropped at any `await` (a timeout, a cancelled run): an implementation must
/// leave nothing half done that the next call would see.
///
/// # Example
///
/// See the [crate's front page](crate).
#[async_trait]
pub trait LlmClient: Send + Sync {
    /// Asks the model for the next message of the conversation in `request`.
    ///
    /// # Errors
    ///
    /// An [`LlmError`] whose [kind](LlmError::kind) says what failed, and whether
    /// [another try](LlmError::is_retryable) could help.
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError>;

    /// Asks for the same, and gives the reply as it grows.
    ///
    /// # Default
    ///
    /// The reply of [`complete`](Self::complete) as one piece, when it is whole.
    ///
    /// # Errors
    ///
    /// As of [`complete`](Self::complete), if the call fails before the reply begins; later
    /// failures come [through the stream](ReplyStream).
    async fn stream(&self, request: ChatRequest) -> Result<ReplyStream, LlmError> {
        Ok(self.complete(request).await?.into())
    }

    /// What this client is known to be able to do. One that wraps another answers for that one.
    ///
    /// # Default
    ///
    /// Nothing known.
    fn capabilities(&self) -> Capabilities {
        Capabilities::none()
    }
}

#[async_trait]
impl<C: LlmClient + ?Sized> LlmClient for &C {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        (**self).complete(request).await
    }

    async fn stream(&self, request: ChatRequest) -> Result<ReplyStream, LlmError> {
        (**self).stream(request).await
    }

    fn capabilities(&self) -> Capabilities {
        (**self).capabilities()
    }
}

#[async_trait]
impl<C: LlmClient + ?Sized> LlmClient for Arc<C> {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        self.as_ref().complete(request).await
    }

    async fn stream(&self, request: ChatRequest) -> Result<ReplyStream, LlmError> {
        self.as_ref().stream(request).await
    }

    fn capabilities(&self) -> Capabilities {
        self.as_ref().capabilities()
    }
}

#[async_trait]
impl<C: LlmClient + ?Sized> LlmClient for Box<C> {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        self.as_ref().complete(request).await
    }

    async fn stream(&self, request: ChatRequest) -> Result<ReplyStream, LlmError> {
        self.as_ref().stream(request).await
    }

    fn capabilities(&self) -> Capabilities {
        self.as_ref().capabilities()
    }
}
