//! A client without native tools, because many small servers refuse them.

use cogwork_llm::backend::{Capabilities, Capability};
use cogwork_llm::{ChatRequest, ChatResponse, LlmClient, LlmError, async_trait};

/// Passes requests on. Tools are described to the model in the text.
pub(crate) struct TextTools<C>(pub(crate) C);

#[async_trait]
impl<C: LlmClient> LlmClient for TextTools<C> {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        self.0.complete(request).await
    }

    fn capabilities(&self) -> Capabilities {
        let all = self.0.capabilities();
        all.without(Capability::Tools)
            .without(Capability::Streaming)
    }
}
