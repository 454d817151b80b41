//! What the two forms of a reply have in common, so that a wrapper of a client is written once.

use crate::{ChatRequest, ChatResponse, Delta, LlmClient, LlmError, ReplyStream};

/// A complete reply or a stream.
pub(crate) trait Reply: From<ChatResponse> + Send + 'static {
    /// Asks `client` for a reply of this form.
    fn of(
        client: &impl LlmClient,
        request: ChatRequest,
    ) -> impl Future<Output = Result<Self, LlmError>> + Send;

    /// Waits until the reply has begun. Until then, no part of it has been passed on.
    fn started(self) -> impl Future<Output = Result<Self, LlmError>> + Send;

    /// Calls `look` with everything that arrives. Once the reply has ended or was dropped, `look`
    /// is dropped as well.
    fn watch(self, look: impl FnMut(Seen<'_>) + Send + 'static) -> Self;
}

/// Something that arrives of a reply.
pub(crate) enum Seen<'r> {
    Piece(&'r Delta),
    End(&'r ChatResponse),
    Failure(&'r LlmError),
}

impl Reply for ChatResponse {
    async fn of(client: &impl LlmClient, request: ChatRequest) -> Result<Self, LlmError> {
        client.complete(request).await
    }

    async fn started(self) -> Result<Self, LlmError> {
        Ok(self)
    }

    fn watch(self, mut look: impl FnMut(Seen<'_>) + Send + 'static) -> Self {
        look(Seen::End(&self));
        self
    }
}

impl Reply for ReplyStream {
    async fn of(client: &impl LlmClient, request: ChatRequest) -> Result<Self, LlmError> {
        client.stream(request).await
    }

    async fn started(self) -> Result<Self, LlmError> {
        Self::started(self).await
    }

    fn watch(self, mut look: impl FnMut(Seen<'_>) + Send + 'static) -> Self {
        self.inspect(move |delta| {
            look(match delta {
                Ok(Delta::End(response)) => Seen::End(response),
                Ok(piece) => Seen::Piece(piece),
                Err(error) => Seen::Failure(error),
            });
        })
    }
}

/// Implements [`LlmClient`] for a wrapper with the field `client` and the method `reply`, which
/// makes a [`Reply`] of any form.
macro_rules! client_from_reply {
    ($wrapper:ident) => {
        #[async_trait::async_trait]
        impl<C: $crate::LlmClient> $crate::LlmClient for $wrapper<C> {
            async fn complete(
                &self,
                request: $crate::ChatRequest,
            ) -> Result<$crate::ChatResponse, $crate::LlmError> {
                self.reply(request).await
            }

            async fn stream(
                &self,
                request: $crate::ChatRequest,
            ) -> Result<$crate::ReplyStream, $crate::LlmError> {
                self.reply(request).await
            }

            fn capabilities(&self) -> $crate::Capabilities {
                self.client.capabilities()
            }
        }
    };
}

pub(crate) use client_from_reply;
