//! The calls of hooks.

use std::sync::Arc;

use async_trait::async_trait;
use cogwork_llm::backend::Capabilities;
use cogwork_llm::{ChatRequest, ChatResponse, LlmClient, LlmError, LlmErrorKind};
use cogwork_typed::ask::{Limit, Meter, Reporting, record_call};

/// A client whose calls are counted, limited, recorded and reported.
pub(crate) struct HookClient {
    pub(crate) client: Arc<dyn LlmClient>,
    /// Measures all calls of the generation.
    pub(crate) calls: Meter,
    /// Measures the hook that makes the calls.
    pub(crate) hook: Meter,
}

impl HookClient {
    fn fit(&self, mut request: ChatRequest) -> Result<ChatRequest, LlmError> {
        for (meter, whose) in [(&self.hook, " by hooks"), (&self.calls, "")] {
            request = match meter.fit(request.clone(), 1) {
                Ok(fitted) => fitted,
                // The hook itself is interrupted when its time is over.
                Err(Limit::Time(_)) => request,
                Err(limit) => {
                    let message = format!("the limit of {limit}{whose} has been reached");
                    return Err(LlmError::new(LlmErrorKind::Budget, message));
                }
            };
        }
        Ok(request)
    }
}

#[async_trait]
impl LlmClient for HookClient {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let request = self.fit(request)?;
        let metered = [&self.calls, &self.hook].map(|meter| meter.begin(&request));

        // A run that is killed in a hook doesn't ask for the replies again that it has, and its page
        // shows them.
        let question = request.clone();
        let client = Reporting::new(&*self.client);
        let called = record_call(&question, || client.complete(request)).await;
        for call in metered {
            called.count(call);
        }

        called.result
    }

    fn capabilities(&self) -> Capabilities {
        self.client.capabilities()
    }
}
