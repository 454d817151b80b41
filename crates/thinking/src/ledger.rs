use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use cogwork_llm::{
    Capabilities, ChatRequest, ChatResponse, Delta, LlmClient, LlmError, LlmErrorKind, ReplyStream,
    ResponseLimits,
};
use cogwork_typed::ask::{Limit, Meter, MeteredCall};

use crate::{Candidate, Hook, HookReport, Outcome, Payload, Report};

/// The record of one generation. Hooks write to it while they run, so that nothing is lost if one
/// fails or is cancelled.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    entries: Mutex<Entries>,
    /// Measures all calls.
    calls: Meter,
    /// Measures the calls of hooks, and the time of hooks and memory.
    pub(crate) hooks: Meter,
}

#[derive(Debug, Default)]
pub(crate) struct Entries {
    pub(crate) report: Report,
    /// Measures the calls of the running hook.
    hook: Meter,
    /// The payload that the running hook has accepted so far.
    pub(crate) accepted: Option<Payload>,
    pub(crate) problems: Vec<String>,
}

impl Ledger {
    pub(crate) fn new(calls: &Meter, hooks: Meter) -> Self {
        Self {
            entries: Mutex::default(),
            calls: calls.share(),
            hooks,
        }
    }

    /// A panic elsewhere cannot leave an entry inconsistent, so a poisoned lock is still usable.
    pub(crate) fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the report so far.
    pub(crate) fn report(&self) -> Report {
        Report {
            spent: self.calls.spent(),
            ..self.entries().report.clone()
        }
    }

    pub(crate) fn add_draft(&self, mode: Option<&str>, text: Arc<str>) {
        self.entries().report.drafts.push(Candidate {
            mode: mode.map(str::to_owned),
            text,
        });
    }

    /// Begins a hook.
    pub(crate) fn open(&self) {
        self.entries().hook = Meter::default();
    }

    /// Ends a hook, and returns the payload that it had accepted.
    pub(crate) fn close(&self, mode: &str, hook: Hook, outcome: Outcome) -> Option<Payload> {
        let mut entries = self.entries();
        let problems = std::mem::take(&mut entries.problems);
        let spent = entries.hook.spent();

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

/// A client whose calls are counted in the ledger, and limited if a hook makes them.
#[derive(Clone)]
pub(crate) struct Metered<'a> {
    pub(crate) client: &'a dyn LlmClient,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) by_hook: bool,
}

impl Metered<'_> {
    /// Counts a call with each meter that it concerns, and fits its request into the limits.
    fn begin(&self, request: ChatRequest) -> Result<(Vec<MeteredCall>, ChatRequest), LlmError> {
        let Ledger { calls, hooks, .. } = &*self.ledger;
        let hook = self.ledger.entries().hook.share();
        if !self.by_hook {
            let begun = vec![calls.begin(&request), hook.begin(&request)];
            return Ok((begun, request));
        }

        let request = match hooks.fit(request.clone(), 1) {
            Ok(fitted) => fitted,
            // The hook itself is interrupted when its time is over.
            Err(Limit::Time(_)) => request,
            Err(limit) => {
                let message = format!("the limit of {limit} by hooks has been reached");
                return Err(LlmError::new(LlmErrorKind::Budget, message));
            }
        };

        let begun = [calls, hooks, &hook].map(|meter| meter.begin(&request));
        Ok((begun.into(), request))
    }
}

fn end(calls: Vec<MeteredCall>, response: &ChatResponse) {
    for call in calls {
        call.end(response);
    }
}

#[async_trait]
impl LlmClient for Metered<'_> {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let (calls, request) = self.begin(request)?;
        let response = self.client.complete(request).await?;
        ResponseLimits::default().check_text(response.text().len())?;
        end(calls, &response);

        Ok(response)
    }

    async fn stream(&self, request: ChatRequest) -> Result<ReplyStream, LlmError> {
        let (mut calls, request) = self.begin(request)?;
        let reply = self.client.stream(request).await?;

        Ok(reply.inspect(move |delta| {
            if let Ok(Delta::End(response)) = delta {
                end(std::mem::take(&mut calls), response);
            }
        }))
    }

    fn capabilities(&self) -> Capabilities {
        self.client.capabilities()
    }
}
