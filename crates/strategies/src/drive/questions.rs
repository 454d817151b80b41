//! Asks the model one or several questions within the remaining budget.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cogwork_llm::{
    Capability, ChatRequest, ChatResponse, FinishReason, LlmClient, LlmError, Message,
    ResponseLimits,
};
use cogwork_typed::ask::{
    Asking, Format, Meter, Policy, RefusedFormats, Repair, Unanswered, Verdict,
};
use futures_util::{StreamExt, stream};
use tokio::time::timeout_at;

use super::form::Read;
use super::solving_event::Thinking;
use super::work::Enough;
use super::{Ask, AskProblem, Asked, EndReason, StageReply};

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

/// The results of several questions.
pub(super) struct AllAsked {
    /// The result of each question, in order.
    pub(super) asked: Vec<Asked>,
    /// The first error of a client.
    pub(super) error: Option<LlmError>,
}

/// The result of one question.
struct OneAsked {
    /// The index of the question.
    place: usize,
    asked: Asked,
    error: Option<LlmError>,
}

impl Questions {
    /// Sets the client. What another one has refused says nothing about it.
    pub(super) fn set_client(&mut self, client: Arc<dyn LlmClient>) {
        self.refused = RefusedFormats::default();
        self.client = client;
    }

    /// Returns whether the client supports tools.
    pub(super) fn native_tools(&self) -> bool {
        self.client.capabilities().has(Capability::Tools)
    }

    /// Asks questions, up to [`at_once`](Self::at_once) concurrently, until all are answered,
    /// `enough` returns `true`, or the time of the budget is over.
    pub(super) async fn ask_all(
        &self,
        asks: &[Ask],
        enough: Option<&Enough>,
        meter: &Meter,
    ) -> AllAsked {
        let deadline = meter.deadline();
        let is_alone = asks.len() == 1;
        let unasked = AtomicU64::new(u64::try_from(asks.len()).unwrap_or(u64::MAX));

        // Collected first: the compiler can't prove that a stream over borrowed items is `Send`.
        let calls: Vec<_> = asks
            .iter()
            .enumerate()
            .map(|(place, ask)| self.ask(ask, place, meter, &unasked, is_alone))
            .collect();

        let mut running = stream::iter(calls).buffer_unordered(self.at_once);

        let mut answered: Vec<Option<Asked>> = asks.iter().map(|_| None).collect();
        let mut error = None;

        let unasked = loop {
            let one = match timeout_at(deadline, running.next()).await {
                Ok(Some(one)) => one,
                Ok(None) => break AskProblem::NotNeeded,
                Err(_) => break AskProblem::OutOf(meter.out_of_time().into()),
            };

            error = error.or(one.error);
            if let Some(slot) = answered.get_mut(one.place) {
                *slot = Some(one.asked);
            }

            if enough.is_some_and(|enough| enough(&answered)) {
                break AskProblem::NotNeeded;
            }
        };

        drop(running);
        let left = |ask: &Ask| Asked {
            name: ask.name.clone(),
            tries: Vec::new(),
            format: Format::default(),
            refusals: Vec::new(),
            repairs: Vec::new(),
            reply: Err(unasked.clone()),
        };

        let asked = asks.iter().zip(answered);
        let asked = asked.map(|(ask, asked)| asked.unwrap_or_else(|| left(ask)));
        AllAsked {
            asked: asked.collect(),
            error,
        }
    }

    /// Asks one question until the reply can be used.
    async fn ask(
        &self,
        ask: &Ask,
        place: usize,
        meter: &Meter,
        unasked: &AtomicU64,
        is_alone: bool,
    ) -> OneAsked {
        let mut question = Question {
            ask,
            request: self.request(ask, place),
            max_tokens: self.max_tokens(),
            unasked,
            is_asked: false,
            thinking: Thinking::new(&ask.name, &ask.form),
        };

        // Only a single question is streamed, since the chunks of several would be interleaved.
        let mut asking = Asking::new(&self.client, &self.refused, self.formats(ask))
            .with_name(ask.name.as_str())
            .with_meter(meter)
            .with_asks_again(self.asks_again)
            .with_streaming(is_alone);
        let result = asking.run(&mut question).await;
        let record = asking.into_log();

        let mut error = None;
        let mut repairs = Vec::new();
        let reply = match result {
            Ok(read) => {
                repairs = read.repairs;
                Ok(read.reply)
            }
            Err(Unanswered::Stopped(reason)) => Err(AskProblem::OutOf(reason)),
            Err(Unanswered::Unusable(problem)) => Err(AskProblem::Unreadable(problem)),
            Err(Unanswered::Client(failure)) => {
                let problem = AskProblem::Client(failure.to_string());
                error = Some(failure);
                Err(problem)
            }
        };

        let asked = Asked {
            name: ask.name.clone(),
            tries: record.tries,
            format: record.format,
            refusals: record.refusals,
            repairs,
            reply,
        };

        OneAsked {
            place,
            asked,
            error,
        }
    }

    /// Returns the formats for a question, tightest first.
    fn formats(&self, ask: &Ask) -> Vec<Format> {
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
    pub(super) fn request_in_lines(&self, ask: &Ask, place: usize) -> ChatRequest {
        let conversation = ask.conversation(Format::Text);
        self.request(ask, place).with_messages(conversation)
    }

    /// Returns the request without its conversation.
    fn request(&self, ask: &Ask, place: usize) -> ChatRequest {
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
struct Question<'a> {
    ask: &'a Ask,
    /// The request without its conversation.
    request: ChatRequest,
    max_tokens: u32,
    /// The number of questions that haven't been asked yet. They share what is left.
    unasked: &'a AtomicU64,
    /// Whether this question has been asked.
    is_asked: bool,
    thinking: Thinking<'a>,
}

impl Question<'_> {
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

impl Policy for Question<'_> {
    type Reply = Read;
    type Problem = String;
    type Stop = EndReason;

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
    ) -> Result<ChatRequest, EndReason> {
        self.thinking.begin();
        let fitted = meter.fit(request, self.shares())?;
        Ok(self.with_fitting_format(fitted, format))
    }

    fn on_text(&mut self, text: &str) {
        self.thinking.push(text);
    }

    fn repairs<'r>(&self, read: &'r Read) -> &'r [Repair] {
        &read.repairs
    }

    async fn judge(&mut self, response: &ChatResponse, format: Format) -> Verdict<Read, String> {
        match read(self.ask, format, response) {
            Ok(mut read) => {
                read.reply.provider_data = response.provider_data().cloned();
                self.thinking.finish(&read.reply.text);
                Verdict::Usable(read)
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

fn read(ask: &Ask, format: Format, response: &ChatResponse) -> Result<Read, String> {
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
        return Ok(reply.into());
    }

    let is_at_limit = *response.finish_reason() == FinishReason::Length;
    ask.read_with_repairs(format, response.text())
        .map_err(|problem| match is_at_limit {
            true => {
                format!("{problem}; the reply was cut off at the limit of tokens, so be shorter")
            }
            false => problem,
        })
}
