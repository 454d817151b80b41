use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use cogwork_llm::{
    Capabilities, ChatRequest, ChatResponse, Delta, LlmClient, LlmError, LlmErrorKind, ReplyStream,
    ResponseLimits, Usage,
};

use crate::{Candidate, HookReport, Payload, Report};

/// The record of one generation. Hooks write to it while they run, so that nothing is lost if one
/// fails or is cancelled.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    entries: Mutex<Entries>,
    /// The maximum number of calls by hooks.
    most_calls: u32,
}

#[derive(Debug, Default)]
pub(crate) struct Entries {
    pub(crate) report: Report,
    /// Whether any response reported its usage.
    pub(crate) usage_is_known: bool,
    /// The number of calls by hooks.
    hook_calls: u32,
    /// The payload that the running hook has accepted so far.
    pub(crate) standing: Option<Payload>,
    pub(crate) problems: Vec<String>,
    /// The time that hooks and memory took.
    pub(crate) spent: Duration,
    /// The value when the hook began.
    calls_before: u32,
    usage_before: Usage,
    hook_usage: Usage,
}

impl Ledger {
    pub(crate) fn new(most_calls: u32) -> Arc<Self> {
        Arc::new(Self {
            entries: Mutex::default(),
            most_calls,
        })
    }

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
        let mut entries = self.entries();
        entries.calls_before = entries.hook_calls;
        entries.usage_before = entries.hook_usage;
    }

    /// Ends a hook, and returns the payload that it had accepted.
    pub(crate) fn close(
        &self,
        mode: &str,
        hook: crate::Hook,
        outcome: crate::Outcome,
    ) -> Option<Payload> {
        let mut entries = self.entries();
        let problems = std::mem::take(&mut entries.problems);
        let calls = entries.hook_calls.saturating_sub(entries.calls_before);
        let usage = difference(entries.hook_usage, entries.usage_before);

        entries.report.hooks.push(HookReport {
            mode: mode.to_owned(),
            hook,
            outcome,
            problems,
            calls,
            usage,
        });

        entries.standing.take()
    }

    /// Adds problems since the end of the last hook to its report.
    pub(crate) fn settle(&self, problem: Option<String>) {
        let mut entries = self.entries();
        let problems = std::mem::take(&mut entries.problems);
        if let Some(hook) = entries.report.hooks.last_mut() {
            hook.problems.extend(problems.into_iter().chain(problem));
        }
    }

    /// Counts a draft that wasn't requested through the generation.
    pub(crate) fn count_foreign(&self, draft: &ChatResponse) {
        let is_foreign = {
            let entries = self.entries();
            entries.report.calls == entries.hook_calls
        };
        if is_foreign && self.begin(false).is_ok() {
            self.charge(false, draft);
        }
    }

    fn begin(&self, by_hook: bool) -> Result<(), LlmError> {
        let mut entries = self.entries();
        if by_hook {
            if entries.hook_calls >= self.most_calls {
                let message = format!(
                    "the hooks of a generation may make {} calls, and have",
                    self.most_calls
                );
                return Err(LlmError::new(LlmErrorKind::Budget, message));
            }

            entries.hook_calls += 1;
        }

        entries.report.calls = entries.report.calls.saturating_add(1);
        Ok(())
    }

    fn charge(&self, by_hook: bool, response: &ChatResponse) {
        let Some(usage) = response.usage() else {
            return;
        };

        let mut entries = self.entries();
        entries.usage_is_known = true;
        entries.report.usage += usage;

        if by_hook {
            entries.hook_usage += usage;
        }
    }
}

fn difference(after: Usage, before: Usage) -> Usage {
    let prompt = after.prompt_tokens.saturating_sub(before.prompt_tokens);
    Usage::new(
        prompt,
        after
            .completion_tokens
            .saturating_sub(before.completion_tokens),
    )
    .with_cached_tokens(after.cached_tokens.saturating_sub(before.cached_tokens))
    .with_reasoning_tokens(
        after
            .reasoning_tokens
            .saturating_sub(before.reasoning_tokens),
    )
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
        self.ledger.begin(self.by_hook)?;
        let response = self.client.complete(request).await?;
        ResponseLimits::default().check_text(response.text().len())?;
        self.ledger.charge(self.by_hook, &response);

        Ok(response)
    }

    async fn stream(&self, request: ChatRequest) -> Result<ReplyStream, LlmError> {
        self.ledger.begin(self.by_hook)?;
        let reply = self.client.stream(request).await?;
        let ledger = self.ledger.clone();
        let by_hook = self.by_hook;

        Ok(reply.inspect(move |delta| {
            if let Ok(Delta::End(response)) = delta {
                ledger.charge(by_hook, response);
            }
        }))
    }

    fn capabilities(&self) -> Capabilities {
        self.client.capabilities()
    }
}
