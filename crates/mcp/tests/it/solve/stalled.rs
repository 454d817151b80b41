//! A model that answers some questions and then never again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cogwork_llm::{ChatRequest, ChatResponse, LlmClient, LlmError, ScriptedClient, async_trait};
use tokio::sync::watch;

/// The model. Clones share it.
#[derive(Clone)]
pub(super) struct Stalled {
    script: ScriptedClient,
    answers: Arc<AtomicUsize>,
    calls: Arc<watch::Sender<Calls>>,
}

/// What became of the calls that weren't answered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Calls {
    pub(super) waiting: usize,
    pub(super) dropped: usize,
}

impl Stalled {
    /// Answers these questions.
    pub(super) fn after<const N: usize>(replies: [&str; N]) -> Self {
        Self {
            script: ScriptedClient::new(replies),
            answers: Arc::new(AtomicUsize::new(N)),
            calls: Arc::default(),
        }
    }

    /// Waits until this many calls wait.
    pub(super) async fn waiting(&self, calls: usize) {
        let mut changes = self.calls.subscribe();
        let reached = changes.wait_for(|now| now.waiting >= calls).await;
        reached.expect("the model is there");
    }

    /// Waits until this many calls were dropped.
    pub(super) async fn dropped(&self, calls: usize) {
        let mut changes = self.calls.subscribe();
        let reached = changes.wait_for(|now| now.dropped >= calls).await;
        reached.expect("the model is there");
    }
}

struct Waiting(Arc<watch::Sender<Calls>>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.send_modify(|calls| calls.dropped += 1);
    }
}

#[async_trait]
impl LlmClient for Stalled {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let answered = self
            .answers
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
                left.checked_sub(1)
            });
        if answered.is_ok() {
            return self.script.complete(request).await;
        }

        self.calls.send_modify(|calls| calls.waiting += 1);
        let _waiting = Waiting(Arc::clone(&self.calls));
        std::future::pending().await
    }
}
