//! A reply is a stream for wrappers of a client, complete or not, so that each is written once.

use crate::{ChatRequest, Delta, LlmClient, LlmError, ReplyStream};

/// Calls a client, for a reply that is streamed or complete.
pub(crate) async fn reply_of(
    client: &impl LlmClient,
    request: ChatRequest,
    is_streamed: bool,
) -> Result<ReplyStream, LlmError> {
    if is_streamed {
        client.stream(request).await
    } else {
        Ok(client.complete(request).await?.into())
    }
}

/// Calls a client. `look` sees each delta and the error of its reply.
pub(crate) async fn watched(
    client: &impl LlmClient,
    request: ChatRequest,
    is_streamed: bool,
    mut look: impl FnMut(Result<&Delta, &LlmError>) + Send + 'static,
) -> Result<ReplyStream, LlmError> {
    match reply_of(client, request, is_streamed).await {
        Ok(reply) => Ok(reply.inspect(move |delta| look(delta.as_ref()))),
        Err(error) => {
            look(Err(&error));
            Err(error)
        }
    }
}

/// Implements [`LlmClient`] for a wrapper of a client by its method `reply`.
macro_rules! client_from_reply {
    ($wrapper:ident) => {
        #[async_trait::async_trait]
        impl<C: $crate::LlmClient> $crate::LlmClient for $wrapper<C> {
            async fn complete(
                &self,
                request: $crate::ChatRequest,
            ) -> Result<$crate::ChatResponse, $crate::LlmError> {
                self.reply(request, false).await?.collect().await
            }

            async fn stream(
                &self,
                request: $crate::ChatRequest,
            ) -> Result<$crate::ReplyStream, $crate::LlmError> {
                self.reply(request, true).await
            }

            fn capabilities(&self) -> $crate::backend::Capabilities {
                self.client.capabilities()
            }
        }
    };
}

pub(crate) use client_from_reply;
