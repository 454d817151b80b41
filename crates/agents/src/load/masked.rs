//! A client whose errors contain no values from the environment.

use std::sync::Arc;

use cogwork_llm::backend::Capabilities;
use cogwork_llm::{ChatRequest, ChatResponse, LlmClient, LlmError, ReplyStream, async_trait};
use futures_util::{StreamExt, TryStreamExt};

use crate::secrets::Secrets;

/// Hides secrets in the errors of a client. A server may repeat the key or the prompt that it was
/// sent, and journals, events and traces contain the texts of errors.
pub(super) struct MaskedClient {
    pub(super) client: Arc<dyn LlmClient>,
    pub(super) secrets: Secrets,
}

#[async_trait]
impl LlmClient for MaskedClient {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let response = self.client.complete(request).await;
        response.map_err(|error| self.secrets.hide_in(error))
    }

    async fn stream(&self, request: ChatRequest) -> Result<ReplyStream, LlmError> {
        let reply = self.client.stream(request).await;
        let reply = reply.map_err(|error| self.secrets.hide_in(error))?;

        let secrets = self.secrets.clone();
        let masked = reply.map_err(move |error| secrets.hide_in(error));
        Ok(ReplyStream::new(masked.boxed()))
    }

    fn capabilities(&self) -> Capabilities {
        self.client.capabilities()
    }
}
