use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use cogwork_llm::backend::{Capabilities, ResponseLimits};
use cogwork_llm::{
    ChatRequest, ChatResponse, Delta, FinishReason, LlmClient, LlmError, LlmErrorKind, ReplyStream,
};
use cogwork_typed::ask::{Limit, Meter, MeteredCall, Spent};

use crate::draft::Content;
use crate::generating::{is_extended, within};
use crate::memory::MemoryError;
use crate::thinking::Setup;
use crate::{Candidate, Hook, HookReport, Outcome, Report, ThinkingError};

/// The record of one generation. Hooks write to it while they run, so that nothing is lost if one
/// fails or is cancelled.
pub(crate) struct Ledger {
    setup: Arc<Setup>,
    /// The user's last message, for the memory.
    question: Arc<str>,
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
    /// The failures that didn't end the running hook.
    problems: Vec<String>,
}

impl Ledger {
    pub(crate) fn new(setup: &Arc<Setup>, calls: &Meter, question: &str) -> Self {
        Self {
            setup: Arc::clone(setup),
            question: question.into(),
            entries: Mutex::default(),
            calls: calls.share(),
            hooks: Meter::new(setup.limits, Spent::default()),
        }
    }

    /// A panic elsewhere cannot leave an entry inconsistent, so a poisoned lock is still usable.
    pub(crate) fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a text that was considered, if it is a new one.
    pub(crate) fn add_draft(&self, mode: Option<&str>, text: Arc<str>) {
        let drafts = &mut self.entries().report.drafts;
        if drafts.iter().any(|draft| draft.text == text) {
            return;
        }

        drafts.push(Candidate {
            mode: mode.map(str::to_owned),
            text,
        });
    }

    pub(crate) fn add_problem(&self, problem: &ThinkingError) {
        self.entries().problems.push(problem.to_string());
    }

    /// Begins a hook.
    pub(crate) fn open(&self) {
        self.entries().hook = Meter::default();
    }

    /// Ends a hook.
    pub(crate) fn close(
        &self,
        mode: &str,
        hook: Hook,
        result: &Result<(), ThinkingError>,
        before: &Content,
        after: &Content,
    ) {
        let outcome = match result {
            Err(ThinkingError::Refused(reason)) => Outcome::Refused(reason.clone()),
            Err(error) => Outcome::Failed(error.to_string()),
            Ok(()) if before == after => Outcome::Kept,
            Ok(()) if is_extended(&before.text, &after.text) => Outcome::Appended,
            Ok(()) => Outcome::Replaced,
        };

        let mut entries = self.entries();
        let report = HookReport {
            mode: mode.to_owned(),
            hook,
            outcome,
            problems: std::mem::take(&mut entries.problems),
            spent: entries.hook.spent(),
        };
        entries.report.hooks.push(report);
    }

    /// Calls the memory within the remaining time. A failure is only reported.
    pub(crate) async fn of_memory<T>(
        &self,
        call: impl Future<Output = Result<T, MemoryError>>,
    ) -> Option<T> {
        let problem = match within(self, call).await {
            Ok(Ok(done)) => return Some(done),
            Ok(Err(error)) => error.to_string(),
            Err(error) => error.to_string(),
        };

        self.entries().report.memory_failures.push(problem);
        None
    }

    /// Stores the answer in the memory, and returns the response with the usage of all calls.
    pub(crate) async fn done(&self, response: ChatResponse) -> (ChatResponse, Report) {
        self.remember(&response).await;
        let report = self.end();

        let usage = report.spent.usage;
        let response = match usage.total_tokens() {
            0 => response,
            _ => response.with_usage(usage),
        };
        (response, report)
    }

    /// Reports that there is no answer.
    pub(crate) fn failed(&self, error: LlmError) -> LlmError {
        self.entries().report.error = Some(error.to_string());
        self.end();
        error
    }

    fn end(&self) -> Report {
        let report = Report {
            spent: self.calls.spent(),
            ..self.entries().report.clone()
        };
        if let Some(look) = &self.setup.reporter {
            look(&report);
        }

        report
    }

    async fn remember(&self, response: &ChatResponse) {
        let memory = self.setup.memory.as_ref();
        let Some(memory) = memory.filter(|memory| memory.settings.remember) else {
            return;
        };

        if is_answer(response) {
            let question = self.question.trim();
            let answer = response.text().trim();
            let text = format!("Asked: {question}\nAnswered: {answer}");
            self.of_memory(memory.store.add(&text)).await;
        }
    }
}

/// A reply with tool calls isn't an answer, and a truncated one would be wrong.
fn is_answer(response: &ChatResponse) -> bool {
    response.tool_calls().is_empty()
        && *response.finish_reason() == FinishReason::Stop
        && !response.text().trim().is_empty()
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
