use std::sync::Arc;

use cogwork_llm::{ChatResponse, FinishReason, LlmError};
use cogwork_typed::ask::{Meter, Spent};

use crate::memory::MemoryError;
use crate::metered::within;
use crate::thinking::Setup;
use crate::{Candidate, Report};

/// What is kept of a generation.
pub(crate) struct Record {
    pub(crate) setup: Arc<Setup>,
    /// The user's last message, for the memory.
    question: Arc<str>,
    pub(crate) report: Report,
    /// Measures all calls.
    pub(crate) calls: Meter,
    /// What hooks and memory have cost.
    thinking: Spent,
}

impl Record {
    pub(crate) fn new(setup: &Arc<Setup>, calls: &Meter, question: &str) -> Self {
        Self {
            setup: Arc::clone(setup),
            question: question.into(),
            report: Report::default(),
            calls: calls.share(),
            thinking: Spent::default(),
        }
    }

    /// Adds a text that was considered, if it is a new one.
    pub(crate) fn add_draft(&mut self, mode: Option<&str>, text: Arc<str>) {
        let drafts = &mut self.report.drafts;
        // Modes that keep a draft would repeat it otherwise.
        if drafts.iter().any(|draft| draft.text == text) {
            return;
        }

        drafts.push(Candidate {
            mode: mode.map(str::to_owned),
            text,
        });
    }

    /// Returns a meter with what is left for hooks and memory.
    pub(crate) fn meter(&self) -> Meter {
        Meter::new(self.setup.limits, self.thinking)
    }

    /// Adds what a hook or the memory has cost.
    pub(crate) fn add_cost(&mut self, meter: &Meter) -> Spent {
        let spent = meter.spent();
        self.thinking += spent;
        spent
    }

    /// Calls the memory within the remaining time. A failure is only reported.
    pub(crate) async fn of_memory<T>(
        &mut self,
        call: impl Future<Output = Result<T, MemoryError>>,
    ) -> Option<T> {
        let meter = self.meter();
        let called = within(&meter, call).await;
        self.add_cost(&meter);

        let problem = match called {
            Ok(Ok(done)) => return Some(done),
            Ok(Err(error)) => error.to_string(),
            Err(error) => error.to_string(),
        };
        // Without a memory, the answer is worse; without an answer, there is nothing.
        self.report.memory_failures.push(problem);
        None
    }

    /// Stores the answer in the memory, and returns the response with the usage of all calls.
    pub(crate) async fn done(mut self, response: ChatResponse) -> (ChatResponse, Report) {
        // Before the report, which contains a failure of the memory.
        self.remember(&response).await;
        let report = self.end();

        let usage = report.spent.usage;
        let response = match usage.total_tokens() {
            // A server that reports no usage still reports none.
            0 => response,
            _ => response.with_usage(usage),
        };
        (response, report)
    }

    /// Reports that there is no answer.
    pub(crate) fn failed(mut self, error: LlmError) -> LlmError {
        self.report.error = Some(error.to_string());
        self.end();
        error
    }

    fn end(mut self) -> Report {
        self.report.spent = self.calls.spent();
        if let Some(look) = &self.setup.reporter {
            look(&self.report);
        }

        self.report
    }

    async fn remember(&mut self, response: &ChatResponse) {
        let setup = Arc::clone(&self.setup);
        let memory = setup.memory.as_ref();
        let Some(memory) = memory.filter(|memory| memory.settings.remember) else {
            return;
        };

        if is_answer(response) {
            let question = self.question.trim();
            let answer = response.text().trim();
            // Question and answer in one item, because one is found by the words of the other.
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
