//! Decides whether a reply can be used, and builds the complaint if it can't.

use cogwork_ask::{GrowingText, Growth, Policy, Rung, Spent, Verdict, offload};
use cogwork_llm::{ChatRequest, ChatResponse, FinishReason, LlmError};
use tokio::time::Instant;

use crate::form::Form;
use crate::open_steps::OpenSteps;
use crate::{Brief, ChainOfThought, EarlyEnd, Limit, Read, ReplyProblem, ReplyProblemKind};

/// Judges the replies of one turn, within its limits.
pub(crate) struct Judge<'a> {
    node: &'a ChainOfThought,
    brief: &'a Brief,
    started: Instant,
    spent: Spent,
    /// The reply that ends the reasoning early, once the model has been asked about it.
    early_end: Option<Read>,
    thinking: GrowingText,
}

impl<'a> Judge<'a> {
    pub(crate) fn new(node: &'a ChainOfThought, brief: &'a Brief) -> Self {
        Self {
            node,
            brief,
            started: Instant::now(),
            spent: Spent::default(),
            early_end: None,
            thinking: GrowingText::new("current_thinking"),
        }
    }

    /// Returns the cost of the turn so far.
    pub(crate) fn spent(&self) -> Spent {
        let mut spent = self.spent;
        spent.time = self.started.elapsed();
        spent
    }

    /// Returns the reply that ends the reasoning early, if the model was asked about one.
    pub(crate) fn into_early_end(mut self) -> Option<Read> {
        let read = self.early_end.take()?;
        self.finish_thinking(&read);

        Some(read)
    }

    /// Reports what is missing of the text of the thought.
    fn finish_thinking(&mut self, read: &Read) {
        let growth = self.thinking.finish(&read.reply.current_thinking);
        let Some(growth) = growth else { return };

        report_thinking(self.node, self.brief, growth);
    }

    fn judge_end(&mut self, read: Read, open: &OpenSteps) -> Verdict<Read, ReplyProblem> {
        let problem = open.problem();
        let message = self.node.prompts.ended_early(&open.lines());

        match self.node.early_end {
            EarlyEnd::Refuse => Verdict::Unusable { problem, message },
            EarlyEnd::Ask if self.early_end.is_none() => {
                self.early_end = Some(read);
                Verdict::Questionable { problem, message }
            }
            EarlyEnd::Ask | EarlyEnd::Accept => Verdict::Usable(read),
        }
    }
}

impl Policy for Judge<'_> {
    type Reply = Read;
    type Problem = ReplyProblem;
    type Limit = Limit;

    fn request(&self, rung: Rung) -> ChatRequest {
        self.brief.request(rung)
    }

    fn before_call(&mut self) -> Result<(), Limit> {
        let limits = self.node.limits;

        if self.spent.tokens() >= self.brief.tokens_left {
            return Err(Limit::Tokens(limits.tokens));
        }

        // The timeout around the turn cannot fire if every call is immediately ready.
        if self.started.elapsed() >= self.brief.time_left {
            return Err(Limit::Time(limits.time));
        }

        self.spent.count_call();
        self.thinking.reset();
        Ok(())
    }

    fn on_text(&mut self, text: &str) {
        self.node.reporter.delta(self.brief.thought_number, text);

        if let Some(growth) = self.thinking.push(text) {
            report_thinking(self.node, self.brief, growth);
        }
    }

    fn on_refusal(&mut self, rung: Rung, next: Rung, error: &LlmError) {
        self.node
            .reporter
            .format_refused(self.brief.thought_number, rung, next, error);
    }

    fn after_call(&mut self, request: &ChatRequest, response: &ChatResponse) {
        self.spent.count_tokens(request, response);
    }

    async fn judge(&mut self, response: &ChatResponse, rung: Rung) -> Verdict<Read, ReplyProblem> {
        let form = Form::from(rung);
        let reader = self.node.limits.reader(self.node.reading).asked_for(form);
        let text = response.text().to_owned();
        let reason = response.finish_reason().clone();

        let read = offload(text.len(), move || reader.read_finished(&text, &reason)).await;
        let read = match read {
            Ok(read) => read,
            Err(problem) => {
                let is_too_long = problem.kind() == ReplyProblemKind::CutOff
                    && *response.finish_reason() == FinishReason::Length;

                // A shorter reply only helps if this one was too long.
                let message = if is_too_long {
                    self.node.prompts.cut_off(form)
                } else {
                    self.node.prompts.unreadable(&format!("{problem:#}"), form)
                };

                return Verdict::Unusable { problem, message };
            }
        };

        self.finish_thinking(&read);

        match OpenSteps::left_by(&read.reply) {
            Some(open) => self.judge_end(read, &open),
            None => Verdict::Usable(read),
        }
    }

    fn on_ask_again(&mut self, problem: &ReplyProblem) {
        self.node
            .reporter
            .asking_again(self.brief.thought_number, problem);
    }
}

fn report_thinking(node: &ChainOfThought, brief: &Brief, growth: Growth<'_>) {
    node.reporter.thinking(brief.thought_number, growth);
}
