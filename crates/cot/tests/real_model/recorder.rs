//! What went over the wire, told by someone who is not the node: its traces are held against this.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cogwork_cot::{ChatRequest, ChatResponse, LlmClient, LlmError, async_trait};

/// One call that had an answer.
pub(crate) struct Call {
    pub(crate) response: ChatResponse,
    pub(crate) time: Duration,
}

/// Hands every request on and keeps every answer.
pub(crate) struct Recorder<C> {
    client: C,
    calls: Calls,
}

pub(crate) type Calls = Arc<Mutex<Vec<Call>>>;

impl<C> Recorder<C> {
    pub(crate) fn new(client: C) -> (Self, Calls) {
        let calls = Calls::default();
        (Self { client, calls: Arc::clone(&calls) }, calls)
    }
}

#[async_trait]
impl<C: LlmClient> LlmClient for Recorder<C> {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let started = Instant::now();
        let response = self.client.complete(request).await?;
        let call = Call { response: response.clone(), time: started.elapsed() };
        self.calls.lock().unwrap().push(call);
        Ok(response)
    }
}
