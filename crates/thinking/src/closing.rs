use std::sync::Arc;

use cogwork_llm::{ChatResponse, FinishReason, LlmError};

use crate::ledger::Ledger;
use crate::run;
use crate::setup::Reporter;
use crate::{Recall, Report};

/// The end of a generation, which is reached either directly or at the end of a stream.
pub(crate) struct Closing {
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) memory: Option<Recall>,
    pub(crate) question: Arc<str>,
    pub(crate) reporter: Option<Reporter>,
}

impl Closing {
    /// Stores the answer in the memory, and returns the response with the usage of all calls.
    pub(crate) async fn done(self, response: ChatResponse) -> (ChatResponse, Report) {
        self.remember(&response).await;
        let report = self.ledger.report();
        self.show(&report);

        let usage = report.spent.usage;
        let response = if usage.total_tokens() > 0 {
            response.with_usage(usage)
        } else {
            response
        };

        (response, report)
    }

    /// Reports that there is no answer.
    pub(crate) fn failed(self, error: LlmError) -> LlmError {
        self.ledger.entries().report.error = Some(error.to_string());
        self.show(&self.ledger.report());
        error
    }

    fn show(&self, report: &Report) {
        if let Some(look) = &self.reporter {
            look(report);
        }
    }

    async fn remember(&self, response: &ChatResponse) {
        let Some(memory) = &self.memory else { return };
        if !memory.settings.remember || !is_answer(response) {
            return;
        }

        let question = self.question.trim();
        let answer = response.text().trim();
        let text = format!("Asked: {question}\nAnswered: {answer}");

        let add = memory.store.add(&text);
        if let Err(problem) = run::recall(&self.ledger, add).await {
            self.ledger.entries().report.memory_failures.push(problem);
        }
    }
}

/// A reply with tool calls isn't an answer, and a truncated one would be wrong.
fn is_answer(response: &ChatResponse) -> bool {
    response.tool_calls().is_empty()
        && *response.finish_reason() == FinishReason::Stop
        && !response.text().trim().is_empty()
}
