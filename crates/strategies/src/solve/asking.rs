//! Asks the model one or several questions within the remaining budget.

use std::sync::atomic::{AtomicU64, Ordering};

use cogwork_flow::watch::is_followed;
use cogwork_llm::backend::{Capability, ResponseLimits};
use cogwork_llm::{
    ChatRequest, ChatResponse, FinishReason, LlmError, Message, Messages, ToolChoice,
};
use cogwork_typed::GrowingText;
use cogwork_typed::ask::{
    AskLog, Asking, Format, Limit, Meter, Policy, Repair, Unanswered, Verdict,
};
use futures_util::{StreamExt, stream};
use serde_json::Value;
use tokio::time::timeout_at;

use super::context::Batch;
use super::question::Question;
use super::solving_event::report_thinking;
use super::{AskProblem, Asked, Solver, StageReply};

/// The maximum number of tokens of a reply if the request sets no limit.
const DEFAULT_TOKENS: u32 = 8192;

impl Solver {
    /// Returns whether the client supports tools.
    pub(super) fn native_tools(&self) -> bool {
        self.client.capabilities().has(Capability::Tools)
    }

    /// Asks the questions of a batch, up to [`at_once`](Self::at_once) concurrently, until all are
    /// answered, there are enough answers, or the time of the budget is over. Returns the results
    /// in order, and the first error of a client.
    pub(super) async fn ask_all(
        &self,
        batch: &Batch,
        meter: &Meter,
    ) -> (Vec<Asked>, Option<LlmError>) {
        let asks = &batch.questions;
        // The soft limit of time: what is kept for the conclusion is left.
        let deadline = meter.deadline();
        let is_alone = asks.len() == 1;
        let unasked = AtomicU64::new(u64::try_from(asks.len()).unwrap_or(u64::MAX));

        // Collected first: the compiler can't prove that a stream over borrowed items is `Send`.
        let calls = asks.iter().enumerate().map(|(place, ask)| {
            let policy = QuestionPolicy {
                solver: self,
                batch,
                ask,
                place,
                unasked: &unasked,
                is_asked: false,
                // Reading a growing text costs something, which a run without a reader needn't pay.
                growing: is_followed().then(|| ask.form.growing_thought()),
            };
            async move { (place, self.ask(policy, meter, is_alone).await) }
        });
        let calls: Vec<_> = calls.collect();
        let mut running = stream::iter(calls).buffer_unordered(self.at_once);

        let mut answered: Vec<Option<Asked>> = asks.iter().map(|_| None).collect();
        let mut first_error = None;
        let left = loop {
            let (place, (asked, error)) = match timeout_at(deadline, running.next()).await {
                Ok(Some(one)) => one,
                Ok(None) => break AskProblem::NotNeeded,
                Err(_) => break AskProblem::OutOf(meter.out_of_time()),
            };

            // The others are still of use without a lost question, so the error only counts if all are
            // lost.
            first_error = first_error.or(error);
            if let Some(slot) = answered.get_mut(place) {
                *slot = Some(asked);
            }
            if batch
                .enough
                .as_ref()
                .is_some_and(|enough| enough(&answered))
            {
                break AskProblem::NotNeeded;
            }
        };

        // Calls in progress are cancelled before their questions are declared unanswered.
        drop(running);
        let left = |ask| Asked::new(&batch.stage, ask, AskLog::default(), Err(left.clone()));
        let asked = asks.iter().zip(answered);
        let asked = asked.map(|(ask, asked)| asked.unwrap_or_else(|| left(ask)));
        (asked.collect(), first_error)
    }

    /// Asks one question until the reply can be used.
    async fn ask(
        &self,
        mut policy: QuestionPolicy<'_>,
        meter: &Meter,
        is_alone: bool,
    ) -> (Asked, Option<LlmError>) {
        let QuestionPolicy { batch, ask, .. } = policy;

        // Only a single question is streamed, since the chunks of several would be interleaved.
        let mut asking = Asking::new(&self.client, &self.refused, self.formats(ask))
            .with_name(ask.name.as_str())
            .with_meter(meter)
            .with_asks_again(self.asks_again)
            .with_streaming(is_alone);

        let mut error = None;
        let reply = match asking.run(&mut policy).await {
            Ok(reply) => Ok(reply),
            Err(Unanswered::Stopped(limit)) => Err(AskProblem::OutOf(limit)),
            Err(Unanswered::Unusable(problem)) => Err(AskProblem::Unreadable(problem)),
            Err(Unanswered::Client(failure)) => {
                let problem = AskProblem::Client(failure.to_string());
                error = Some(failure);
                Err(problem)
            }
        };

        let asked = Asked::new(&batch.stage, ask, asking.into_log(), reply);
        (asked, error)
    }

    /// Returns the formats for a question, tightest first.
    fn formats(&self, ask: &Question) -> Vec<Format> {
        // The program has chosen a format itself, or tools are an alternative to the form.
        if self.request.format().is_some() || !ask.tools.is_empty() {
            return vec![Format::Text];
        }

        let mut formats = Format::from_first(self.format, self.client.capabilities());
        let most = self.max_tokens();
        // Some forms have no schema that servers take, or none that fits into the limit of tokens.
        formats.retain(|format| !format.is_json() || ask.reply_format(*format, most).is_some());
        formats
    }

    /// Returns the maximum number of tokens of a reply.
    fn max_tokens(&self) -> u32 {
        self.request.max_tokens().unwrap_or(DEFAULT_TOKENS)
    }

    /// Returns the request for a reply in a format, which doesn't require it yet.
    pub(super) fn request(
        &self,
        conversation: &Messages,
        ask: &Question,
        format: Format,
    ) -> ChatRequest {
        let mut messages = conversation.clone();
        messages.add(ask.message(format));
        let has_calls = messages.iter().any(|said| !said.tool_calls().is_empty());
        let request = self.request.clone().with_messages(messages);
        let request = match ask.tools.is_empty() && has_calls {
            // Servers refuse earlier calls of tools that they aren't told.
            true => request
                .with_tools(self.tools.definitions())
                .with_tool_choice(ToolChoice::None),
            false => request.with_tools(ask.tools.clone()),
        };

        match ask.temperature {
            Some(temperature) => request.with_temperature(temperature),
            None => request,
        }
    }
}

/// Reads the replies to one question.
struct QuestionPolicy<'a> {
    solver: &'a Solver,
    batch: &'a Batch,
    ask: &'a Question,
    /// The number of the question among those of the batch.
    place: usize,
    /// The number of questions that haven't been asked yet. They share what is left.
    unasked: &'a AtomicU64,
    /// Whether this question has been asked.
    is_asked: bool,
    /// The thought in a reply that arrives, if somebody follows it.
    growing: Option<GrowingText<Value>>,
}

impl QuestionPolicy<'_> {
    /// Requires the format. A reply has at most this many tokens.
    fn with_format(&self, request: ChatRequest, format: Format, most: u32) -> ChatRequest {
        match self.ask.reply_format(format, most) {
            Some(format) => request.with_format(format),
            None => request,
        }
    }

    /// Returns the number of calls that share what is left.
    fn shares(&mut self) -> u64 {
        // A question that is asked again shares with those that are still to be asked, and with
        // itself.
        if std::mem::replace(&mut self.is_asked, true) {
            self.unasked.load(Ordering::Relaxed).saturating_add(1)
        } else {
            self.unasked.fetch_sub(1, Ordering::Relaxed)
        }
    }
}

impl Policy for QuestionPolicy<'_> {
    type Reply = StageReply;
    type Problem = String;
    type Stop = Limit;

    fn request(&self, format: Format) -> ChatRequest {
        let request = self.solver.request(&self.batch.messages, self.ask, format);
        let request = match request.seed() {
            // With the same seed, the same question would get the same reply each time.
            Some(seed) => request.with_seed(seed.wrapping_add(self.place as u64)),
            None => request,
        };
        self.with_format(request, format, self.solver.max_tokens())
    }

    fn fit(
        &mut self,
        meter: &Meter,
        request: ChatRequest,
        format: Format,
    ) -> Result<ChatRequest, Limit> {
        // The text of a refused reply must not be continued by the next one.
        self.growing.iter_mut().for_each(GrowingText::reset);
        let request = meter.fit(request, self.shares())?;

        // The schema is tightened if the budget leaves fewer tokens than the request allows.
        Ok(match request.max_tokens() {
            Some(most) if most < self.solver.max_tokens() => {
                self.with_format(request, format, most)
            }
            _ => request,
        })
    }

    fn on_text(&mut self, text: &str) {
        let growing = self.growing.as_mut();
        report_thinking(
            &self.ask.name,
            growing.and_then(|growing| growing.push(text)),
        );
    }

    fn repairs<'r>(&self, reply: &'r StageReply) -> &'r [Repair] {
        &reply.repairs
    }

    async fn judge(
        &mut self,
        response: &ChatResponse,
        format: Format,
    ) -> Verdict<StageReply, String> {
        match read(self.ask, format, response) {
            Ok(mut reply) => {
                reply.provider_data = response.provider_data().cloned();
                let growing = self.growing.as_mut();
                let rest = growing.and_then(|growing| growing.finish(&reply.text));
                report_thinking(&self.ask.name, rest);
                Verdict::Usable(reply)
            }
            Err(problem) => {
                let message = Message::user(format!(
                    "That reply cannot be used: {problem}.\n\
                     Write the whole reply again, in the form that was asked for."
                ));
                Verdict::Unusable { problem, message }
            }
        }
    }
}

fn read(ask: &Question, format: Format, response: &ChatResponse) -> Result<StageReply, String> {
    let calls = response.tool_calls();
    let calls_tools = !calls.is_empty() && !ask.tools.is_empty();
    if calls_tools {
        // Checked because every one of these calls will be made.
        ResponseLimits::default()
            .check(response)
            .map_err(|error| error.to_string())?;
    }

    let cut = match response.finish_reason() {
        // A model that isn't told why would write the same length again.
        FinishReason::Length => "the reply was cut off at the limit of tokens, so be shorter",
        FinishReason::ContentFilter => "the reply was withheld in part by a filter",
        _ if calls_tools => {
            return Ok(StageReply {
                text: response.text().trim().to_owned(),
                tool_calls: calls.to_vec(),
                ..StageReply::default()
            });
        }
        _ => return ask.read(format, response.text()),
    };
    if calls_tools {
        return Err(cut.to_owned());
    }

    match ask.read(format, response.text()) {
        Ok(read) if ask.may_be_cut(format, response.text()) => Ok(read),
        Ok(_) => Err(cut.to_owned()),
        Err(problem) => Err(format!("{problem}; {cut}")),
    }
}
