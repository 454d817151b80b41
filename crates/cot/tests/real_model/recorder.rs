//! A client that records all calls independently of the node, to check the node's traces.

use std::sync::{Arc, Mutex};

use cogwork_llm::backend::{Capabilities, Capability};
use cogwork_llm::{ChatRequest, ChatResponse, LlmClient, LlmError, async_trait};

/// Hands every request on and keeps every answer.
pub(crate) struct Recorder<C> {
    client: C,
    calls: Calls,
}

pub(crate) type Calls = Arc<Mutex<Vec<ChatResponse>>>;

impl<C> Recorder<C> {
    pub(crate) fn new(client: C) -> (Self, Calls) {
        let calls = Calls::default();
        (
            Self {
                client,
                calls: Arc::clone(&calls),
            },
            calls,
        )
    }
}

#[async_trait]
impl<C: LlmClient> LlmClient for Recorder<C> {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let response = self.client.complete(request).await?;
        self.calls.lock().unwrap().push(response.clone());
        Ok(response)
    }

    /// All but streaming, which goes through `complete` here.
    fn capabilities(&self) -> Capabilities {
        self.client.capabilities().without(Capability::Streaming)
    }
}
