//! A client that records all calls independently of the node, to check the node's traces.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cogwork_cot::{ChatRequest, ChatResponse, FinishReason, LlmClient, LlmError, async_trait};
use cogwork_llm::{Capabilities, Capability};

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
        let started = Instant::now();
        let response = self.client.complete(request).await?;
        if let Some(folder) = std::env::var_os("SAVE_REPLIES") {
            save(folder.as_ref(), &response);
        }

        let call = Call {
            response: response.clone(),
            time: started.elapsed(),
        };
        self.calls.lock().unwrap().push(call);
        Ok(response)
    }

    /// All but streaming, which goes through `complete` here.
    fn capabilities(&self) -> Capabilities {
        self.client.capabilities().without(Capability::Streaming)
    }
}

/// Writes a reply to a file of its own, named by number and by why the model stopped.
fn save(folder: &Path, response: &ChatResponse) {
    static SAVED: AtomicUsize = AtomicUsize::new(1);
    let number = SAVED.fetch_add(1, Ordering::Relaxed);
    let reason = if *response.finish_reason() == FinishReason::Length {
        "length"
    } else {
        "stop"
    };

    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(
        folder.join(format!("{number:03}-{reason}.txt")),
        response.text(),
    )
    .unwrap();
}
