use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use cogwork_llm::{
    Capabilities, ChatRequest, ChatResponse, Delta, LlmClient, LlmError, LlmErrorKind, ReplyStream,
    ResponseLimits,
};
use cogwork_typed::ask::Spent;
use tokio::time::Instant;

use crate::{Candidate, Hook, HookReport, Outcome, Payload, Report};

/// The record of one generation. Hooks write to it while they run, so that nothing is lost if one
/// fails or is cancelled.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    entries: Mutex<Entries>,
    /// The maximum number of calls by hooks.
    max_hook_calls: u32,
}

#[derive(Debug, Default)]
pub(crate) struct Entries {
    pub(crate) report: Report,
    /// The number of calls by all hooks.
    hook_calls: u32,
    /// What the running hook has spent.
    hook_spent: Spent,
    /// The payload that the running hook has accepted so far.
    pub(crate) accepted: Option<Payload>,
    pub(crate) problems: Vec<String>,
    /// The time that hooks and memory took.
    pub(crate) time: Duration,
    /// The number of calls that are running.
    running: u32,
    /// The time since when at least one call has been running.
    running_since: Option<Instant>,
}

/// The calls of a visit: those of one generation and the ones after it.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct CallCosts(pub(crate) Arc<Ledger>);

impl CallCosts {
    pub(crate) fn new(max_hook_calls: u32) -> Self {
        Self(Arc::new(Ledger {
            entries: Mutex::default(),
            max_hook_calls,
        }))
    }

    /// Returns what the calls have spent so far.
    pub fn spent(&self) -> Spent {
        self.0.entries().report.spent
    }

    /// Wraps a client so that its calls are counted.
    pub fn counted<'c>(&self, client: &'c dyn LlmClient) -> impl LlmClient + 'c {
        Metered {
            client,
            ledger: Arc::clone(&self.0),
            by_hook: false,
        }
    }
}

impl Ledger {
    /// A panic elsewhere cannot leave an entry inconsistent, so a poisoned lock is still usable.
    pub(crate) fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add_draft(&self, mode: Option<&str>, text: Arc<str>) {
        self.entries().report.drafts.push(Candidate {
            mode: mode.map(str::to_owned),
            text,
        });
    }

    /// Begins a hook.
    pub(crate) fn open(&self) {
        self.entries().hook_spent = Spent::default();
    }

    /// Ends a hook, and returns the payload that it had accepted.
    pub(crate) fn close(&self, mode: &str, hook: Hook, outcome: Outcome) -> Option<Payload> {
        let mut entries = self.entries();
        let problems = std::mem::take(&mut entries.problems);
        let spent = std::mem::take(&mut entries.hook_spent);

        entries.report.hooks.push(HookReport {
            mode: mode.to_owned(),
            hook,
            outcome,
            problems,
            spent,
        });

        entries.accepted.take()
    }

    /// Adds problems since the end of the last hook to its report.
    pub(crate) fn settle(&self, problem: Option<String>) {
        let mut entries = self.entries();
        let problems = std::mem::take(&mut entries.problems);
        if let Some(hook) = entries.report.hooks.last_mut() {
            hook.problems.extend(problems.into_iter().chain(problem));
        }
    }
}

/// A call that is counted. Its time ends when it is dropped.
struct Call {
    ledger: Arc<Ledger>,
    request: ChatRequest,
}

impl Call {
    fn begin(metered: &Metered<'_>, request: &ChatRequest) -> Result<Self, LlmError> {
        let mut entries = metered.ledger.entries();
        if metered.by_hook {
            let max = metered.ledger.max_hook_calls;
            if entries.hook_calls >= max {
                let message = format!("the limit of {max} calls by hooks has been reached");
                return Err(LlmError::new(LlmErrorKind::Budget, message));
            }

            entries.hook_calls += 1;
        }

        entries.report.spent.count_call();
        entries.hook_spent.count_call();
        entries.running += 1;
        entries.running_since.get_or_insert_with(Instant::now);

        Ok(Self {
            ledger: metered.ledger.clone(),
            request: request.clone(),
        })
    }

    fn count_tokens(&self, response: &ChatResponse) {
        let mut entries = self.ledger.entries();
        entries.report.spent.count_tokens(&self.request, response);
        entries.hook_spent.count_tokens(&self.request, response);
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        let mut entries = self.ledger.entries();
        entries.running = entries.running.saturating_sub(1);
        if entries.running > 0 {
            return;
        }

        if let Some(since) = entries.running_since.take() {
            let time = since.elapsed();
            entries.report.spent.time += time;
            entries.hook_spent.time += time;
        }
    }
}

/// A client whose calls are counted in the ledger, and limited if a hook makes them.
#[derive(Clone)]
pub(crate) struct Metered<'a> {
    pub(crate) client: &'a dyn LlmClient,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) by_hook: bool,
}

#[async_trait]
impl LlmClient for Metered<'_> {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let call = Call::begin(self, &request)?;
        let response = self.client.complete(request).await?;
        ResponseLimits::default().check_text(response.text().len())?;
        call.count_tokens(&response);

        Ok(response)
    }

    async fn stream(&self, request: ChatRequest) -> Result<ReplyStream, LlmError> {
        let call = Call::begin(self, &request)?;
        let reply = self.client.stream(request).await?;

        Ok(reply.inspect(move |delta| {
            if let Ok(Delta::End(response)) = delta {
                call.count_tokens(response);
            }
        }))
    }

    fn capabilities(&self) -> Capabilities {
        self.client.capabilities()
    }
}
