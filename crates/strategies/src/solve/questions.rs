//! Asks the model one or several questions within the remaining budget.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cogwork_llm::{
    Capability, ChatRequest, ChatResponse, FinishReason, LlmClient, LlmError, Message,
    ResponseLimits,
};
use cogwork_typed::ask::{
    AskLog, Asking, Format, Limit, Meter, Policy, RefusedFormats, Repair, Unanswered, Verdict,
};
use futures_util::{StreamExt, stream};
use tokio::time::timeout_at;

use super::ask::Question;
use super::context::Enough;
use super::form::Read;
use super::solving_event::Thinking;
use super::{AskProblem, Asked, StageReply};

/// The client and the settings for asking questions.
#[derive(Clone)]
pub(super) struct Questions {
    pub(super) client: Arc<dyn LlmClient>,
    pub(super) request: ChatRequest,
    pub(super) format: Option<Format>,
    pub(super) refused: RefusedFormats,
    pub(super) asks_again: u32,
    pub(super) at_once: usize,
}

/// The maximum number of tokens of a reply if the request sets no limit.
const DEFAULT_TOKENS: u32 = 8192;

impl Questions {
    /// Returns whether the client supports tools.
    pub(super) fn native_tools(&self) -> bool {
        self.client.capabilities().has(Capability::Tools)
    }

    /// Asks questions, up to [`at_once`](Self::at_once) concurrently, until all are answered, there
    /// are `enough` answers, or the time of the budget is over. Returns the results in order, and the
    /// first error of a client.
    pub(super) async fn ask_all(
        &self,
        stage: &str,
        asks: &[Question],
        enough: Option<&Enough>,
        meter: &Meter,
    ) -> (Vec<Asked>, Option<LlmError>) {
        let deadline = meter.deadline();
        let is_alone = asks.len() == 1;
        let unasked = AtomicU64::new(u64::try_from(asks.len()).unwrap_or(u64::MAX));

        // Collected first: the compiler can't prove that a stream over borrowed items is `Send`.
        let calls = asks.iter().enumerate().map(|(place, ask)| {
            let judge = Judge::new(self, ask, place, &unasked);
            async move { (place, self.ask(stage, judge, meter, is_alone).await) }
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

            first_error = first_error.or(error);
            if let Some(slot) = answered.get_mut(place) {
                *slot = Some(asked);
            }

            if enough.is_some_and(|enough| enough(&answered)) {
                break AskProblem::NotNeeded;
            }
        };

        drop(running);
        let left = |ask| Asked::new(stage, ask, AskLog::default(), Err(left.clone()));
        let asked = asks.iter().zip(answered);
        let asked = asked.map(|(ask, asked)| asked.unwrap_or_else(|| left(ask)));
        (asked.collect(), first_error)
    }

    /// Asks one question until the reply can be used.
    async fn ask(
        &self,
        stage: &str,
        mut judge: Judge<'_>,
        meter: &Meter,
        is_alone: bool,
    ) -> (Asked, Option<LlmError>) {
        let ask = judge.ask;

        // Only a single question is streamed, since the chunks of several would be interleaved.
        let mut asking = Asking::new(&self.client, &self.refused, self.formats(ask))
            .with_name(ask.name.as_str())
            .with_meter(meter)
            .with_asks_again(self.asks_again)
            .with_streaming(is_alone);
        let result = asking.run(&mut judge).await;

        let mut error = None;
        let mut repairs = Vec::new();
        let reply = match result {
            Ok((reply, corrected)) => {
                repairs = corrected;
                Ok(reply)
            }
            Err(Unanswered::Stopped(limit)) => Err(AskProblem::OutOf(limit)),
            Err(Unanswered::Unusable(problem)) => Err(AskProblem::Unreadable(problem)),
            Err(Unanswered::Client(failure)) => {
                let problem = AskProblem::Client(failure.to_string());
                error = Some(failure);
                Err(problem)
            }
        };

        let asked = Asked {
            repairs,
            ..Asked::new(stage, ask, asking.into_log(), reply)
        };
        (asked, error)
    }

    /// Returns the formats for a question, tightest first.
    fn formats(&self, ask: &Question) -> Vec<Format> {
        // The program has chosen a format itself.
        if self.request.format().is_some() {
            return vec![Format::Text];
        }

        let formats = Format::from_first(self.format, self.client.capabilities());
        ask.formats(formats, self.max_tokens())
    }

    /// Returns the maximum number of tokens of a reply.
    fn max_tokens(&self) -> u32 {
        self.request.max_tokens().unwrap_or(DEFAULT_TOKENS)
    }

    /// Returns the request for a reply in lines.
    pub(super) fn request_in_lines(&self, ask: &Question, place: usize) -> ChatRequest {
        let conversation = ask.conversation(Format::Text);
        self.request(ask, place).with_messages(conversation)
    }

    /// Returns the request without its conversation.
    fn request(&self, ask: &Question, place: usize) -> ChatRequest {
        let mut request = self.request.clone().with_tools(ask.tools.clone());

        if let Some(temperature) = ask.temperature {
            request = request.with_temperature(temperature);
        }

        if let Some(seed) = request.seed() {
            // With the same seed, the same question would get the same reply each time.
            request = request.with_seed(seed.wrapping_add(place as u64));
        }

        request
    }
}

/// Reads the replies to one question.
struct Judge<'a> {
    ask: &'a Question,
    /// The request without its conversation.
    request: ChatRequest,
    max_tokens: u32,
    /// The number of questions that haven't been asked yet. They share what is left.
    unasked: &'a AtomicU64,
    /// Whether this question has been asked.
    is_asked: bool,
    thinking: Thinking<'a>,
}

impl<'a> Judge<'a> {
    fn new(questions: &Questions, ask: &'a Question, place: usize, unasked: &'a AtomicU64) -> Self {
        Self {
            ask,
            request: questions.request(ask, place),
            max_tokens: questions.max_tokens(),
            unasked,
            is_asked: false,
            thinking: Thinking::new(&ask.name, &ask.form),
        }
    }

    /// Tightens the schema if the budget leaves fewer tokens for the reply than the request allows.
    fn with_fitting_format(&self, request: ChatRequest, format: Format) -> ChatRequest {
        let fewer = request.max_tokens().filter(|most| *most < self.max_tokens);
        let format = fewer.and_then(|most| self.ask.reply_format(format, most));

        match format {
            Some(format) => request.with_format(format),
            None => request,
        }
    }

    /// Returns the number of calls that share what is left.
    fn shares(&mut self) -> u64 {
        if std::mem::replace(&mut self.is_asked, true) {
            self.unasked.load(Ordering::Relaxed).saturating_add(1)
        } else {
            self.unasked.fetch_sub(1, Ordering::Relaxed)
        }
    }
}

impl Policy for Judge<'_> {
    type Reply = Read;
    type Problem = String;
    type Stop = Limit;

    fn request(&self, format: Format) -> ChatRequest {
        let conversation = self.ask.conversation(format);
        let request = self.request.clone().with_messages(conversation);

        match self.ask.reply_format(format, self.max_tokens) {
            Some(format) => request.with_format(format),
            None => request,
        }
    }

    fn fit(
        &mut self,
        meter: &Meter,
        request: ChatRequest,
        format: Format,
    ) -> Result<ChatRequest, Limit> {
        self.thinking.begin();
        let fitted = meter.fit(request, self.shares())?;
        Ok(self.with_fitting_format(fitted, format))
    }

    fn on_text(&mut self, text: &str) {
        self.thinking.push(text);
    }

    fn repairs<'r>(&self, read: &'r Read) -> &'r [Repair] {
        &read.1
    }

    async fn judge(&mut self, response: &ChatResponse, format: Format) -> Verdict<Read, String> {
        match read(self.ask, format, response) {
            Ok((mut reply, repairs)) => {
                reply.provider_data = response.provider_data().cloned();
                self.thinking.finish(&reply.text);
                Verdict::Usable((reply, repairs))
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

fn read(ask: &Question, format: Format, response: &ChatResponse) -> Result<Read, String> {
    let calls = response.tool_calls();

    if !calls.is_empty() && !ask.tools.is_empty() {
        // Checked because every one of these calls will be made.
        ResponseLimits::default()
            .check(response)
            .map_err(|error| error.to_string())?;

        let reply = StageReply {
            text: response.text().trim().to_owned(),
            tool_calls: calls.to_vec(),
            ..StageReply::default()
        };
        return Ok((reply, Vec::new()));
    }

    let is_at_limit = *response.finish_reason() == FinishReason::Length;
    ask.read(format, response.text())
        .map_err(|problem| match is_at_limit {
            true => {
                format!("{problem}; the reply was cut off at the limit of tokens, so be shorter")
            }
            false => problem,
        })
}
