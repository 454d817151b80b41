use std::fmt;
use std::pin::pin;

use cogwork_flow::watch::{is_followed, note, note_growth, report_from};
use cogwork_llm::backend::{Capability, ResponseLimits};
use cogwork_llm::{ChatRequest, ChatResponse, Delta, LlmClient, LlmError, LlmErrorKind, Message};
use tokio::time::Instant;

use crate::ask::events::{ChatEvent, ChatVerdict};
use crate::ask::format::refuses_format;
use crate::ask::record_call::{conversation, model_label, record, record_formats, unrecorded};
use crate::ask::reported_call::{ReportedCall, SOURCE};
use crate::ask::{AskLog, Format, FormatRefusal, Limit, Meter, RefusedFormats, Repair, Spent};

/// Defines the requests, and judges the replies.
///
/// [`Asking::run`] calls the methods in the order in which they are listed here, once per call to
/// the model.
pub trait Policy: Send {
    /// The type of a usable reply.
    type Reply: Send;
    /// The reason why a reply cannot be used.
    type Problem: fmt::Display + Send;
    /// The reason why no further call is made.
    type Stop: From<Limit> + Send;

    /// Returns the request for a reply in this format.
    ///
    /// The conversation should always be the same for a format. Earlier replies, complaints, and the
    /// messages of [`Verdict::Continue`] are appended to it. The settings may change, for example
    /// which tools may be called.
    fn request(&self, format: Format) -> ChatRequest;

    /// Fits a request into what is left of the limits, and returns the request to send.
    ///
    /// `request` is the [request](Self::request) for a reply in this format, with all replies and
    /// complaints so far.
    ///
    /// # Errors
    ///
    /// Returns why no further call is made.
    fn fit(
        &mut self,
        meter: &Meter,
        request: ChatRequest,
        format: Format,
    ) -> Result<ChatRequest, Self::Stop> {
        let _ = format;
        Ok(meter.fit(request, 1)?)
    }

    /// Called with each piece of a streamed reply.
    fn on_text(&mut self, text: &str) {
        let _ = text;
    }

    /// Called when the server refused `format`, and `next` is tried instead.
    fn on_refusal(&mut self, format: Format, next: Format, error: &LlmError) {
        let _ = (format, next, error);
    }

    /// Judges a reply.
    ///
    /// Implement it as an `async fn`.
    fn judge(
        &mut self,
        response: &ChatResponse,
        format: Format,
    ) -> impl Future<Output = Verdict<Self::Reply, Self::Problem, Self::Stop>> + Send;

    /// Returns the changes that made a usable reply readable, for readers of the events of a run.
    ///
    /// By default, there are none.
    fn repairs<'r>(&self, reply: &'r Self::Reply) -> &'r [Repair] {
        let _ = reply;
        &[]
    }

    /// Called before the model is asked again because of `problem`.
    fn on_ask_again(&mut self, problem: &Self::Problem) {
        let _ = problem;
    }
}

/// The verdict of a [`Policy`] on a reply.
#[derive(Debug)]
pub enum Verdict<R, P, S = Limit> {
    /// The reply can be used.
    Usable(R),
    /// The reply is a step towards a usable one, such as a request for tool calls, and the model is
    /// called again.
    ///
    /// This doesn't count as asking again, and [`Asking`] doesn't limit how often it happens, so
    /// the policy must do so.
    Continue {
        /// What the model is asked about, if the reply is questionable.
        problem: Option<P>,
        /// What is appended to the conversation: the reply as the model should see it, and what
        /// follows from it, such as the results of tool calls.
        messages: Vec<Message>,
    },
    /// The reply cannot be used.
    Unusable {
        /// What is wrong.
        problem: P,
        /// The complaint to the model.
        message: Message,
    },
    /// No further call is made.
    Stop(S),
}

/// The reason why no reply can be used.
#[derive(Debug)]
pub enum Unanswered<P, S> {
    /// A call failed.
    Client(LlmError),
    /// No reply could be used. Contains the problem of the last one.
    Unusable(P),
    /// No further call was allowed.
    Stopped(S),
}

/// Asks a model until its reply can be used.
///
/// In a [composite](cogwork_flow::Node::is_composite) node of a run with a journal, each response is
/// recorded before it is judged, and a resumed run uses the recorded responses. The policy must then
/// decide only by what it is given: by the responses, and by outcomes that it
/// [records](cogwork_flow::engine::recorded) itself.
///
/// The [log](Self::log) is kept even if the future of [`run`](Self::run) is dropped, for example
/// because of a timeout.
///
/// See the [crate documentation](crate) for an example.
pub struct Asking<'a> {
    client: &'a dyn LlmClient,
    refused: &'a RefusedFormats,
    formats: Vec<Format>,
    asks_again: u32,
    streaming: bool,
    /// The name of the question.
    name: String,
    meter: Meter,
    log: AskLog,
}

type Outcome<P> =
    Result<<P as Policy>::Reply, Unanswered<<P as Policy>::Problem, <P as Policy>::Stop>>;

impl<'a> Asking<'a> {
    /// Creates an asking.
    ///
    /// `formats` are the ones to try, tightest first. Those that are in `refused` when
    /// [`run`](Self::run) begins are skipped. If none is left, the reply is requested as [`Format::Text`].
    pub fn new(
        client: &'a dyn LlmClient,
        refused: &'a RefusedFormats,
        formats: Vec<Format>,
    ) -> Self {
        Self {
            client,
            refused,
            formats,
            asks_again: 2,
            streaming: true,
            name: String::new(),
            meter: Meter::default(),
            log: AskLog::default(),
        }
    }

    /// Sets the name of the question in the [events](crate::ask::ChatEvent) of its calls, to distinguish
    /// it from others that are asked at the same time. None by default.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the meter that counts the calls and holds them to its limits. Unlimited by default.
    #[must_use]
    pub fn with_meter(mut self, meter: &Meter) -> Self {
        self.meter = meter.share();
        self
    }

    /// Sets how often the model is asked again after an unusable reply. The default is 2.
    #[must_use]
    pub fn with_asks_again(mut self, times: u32) -> Self {
        self.asks_again = times;
        self
    }

    /// Sets whether replies are streamed if the client supports it. The default is `true`.
    #[must_use]
    pub fn with_streaming(mut self, streaming: bool) -> Self {
        self.streaming = streaming;
        self
    }

    /// Returns the replies so far.
    pub fn log(&self) -> &AskLog {
        &self.log
    }

    /// Returns the replies, and what their calls have cost.
    pub fn into_log(self) -> AskLog {
        self.log
    }

    /// Asks until a reply can be used.
    ///
    /// # Errors
    ///
    /// Returns [`Unanswered`] if a call fails, no reply can be used, or the policy allows no
    /// further call.
    pub async fn run<P: Policy>(&mut self, policy: &mut P) -> Outcome<P> {
        let question = conversation(&policy.request(Format::Text));
        // The question is the one without a format, which is the same in a resumed run.
        let mut formats = self.allowed_formats(&question).await.into_iter();
        self.log.format = formats.next().unwrap_or_default();

        // The earlier replies, each followed by the complaint or by what it led to.
        let mut follow_up = Vec::new();
        let mut asks_left = self.asks_again;
        let mut problem_before = None;

        loop {
            let request = self.next_request(policy, &follow_up)?;
            // Only now: without room for another request, nobody is asked again.
            if let Some(problem) = problem_before.take() {
                policy.on_ask_again(&problem);
            }

            let (result, number) = self.call(policy, request).await;
            let response = match result {
                Ok(response) => response,
                Err(error) => match formats.next() {
                    Some(next) if refuses_format(&error) => {
                        self.move_down(policy, next, &error);
                        continue;
                    }
                    _ => return Err(Unanswered::Client(error)),
                },
            };

            let verdict = self.judge(policy, &response, number).await;
            let (problem, message) = match verdict {
                Verdict::Usable(reply) => return Ok(reply),
                Verdict::Stop(stop) => return Err(Unanswered::Stopped(stop)),
                Verdict::Continue { problem, messages } => {
                    follow_up.extend(messages);
                    problem_before = problem;
                    continue;
                }
                Verdict::Unusable { problem, .. } if asks_left == 0 => {
                    return Err(Unanswered::Unusable(problem));
                }
                Verdict::Unusable { problem, message } => {
                    asks_left -= 1;
                    (problem, message)
                }
            };

            follow_up.extend([said(&response), message]);
            problem_before = Some(problem);
        }
    }

    /// Returns the formats that the server hasn't refused.
    async fn allowed_formats(&self, question: &ChatRequest) -> Vec<Format> {
        let formats = self.formats.iter().copied();
        let allowed = formats
            .filter(|format| self.refused.allows(*format))
            .collect();

        // With one format there is nothing that may differ in a resumed run.
        match self.formats.len() {
            1 => allowed,
            _ => record_formats(question, allowed).await,
        }
    }

    /// Returns the request to send.
    fn next_request<P: Policy>(
        &self,
        policy: &mut P,
        follow_up: &[Message],
    ) -> Result<ChatRequest, Unanswered<P::Problem, P::Stop>> {
        let format = self.log.format;
        let mut request = policy.request(format);
        for message in follow_up {
            request.push(message.clone());
        }

        let fitted = policy.fit(&self.meter, request, format);
        fitted.map_err(Unanswered::Stopped)
    }

    /// Makes the call, or uses its recorded outcome. Also returns the number of the call if it was
    /// reported.
    async fn call(
        &mut self,
        policy: &mut impl Policy,
        request: ChatRequest,
    ) -> (Result<ChatResponse, LlmError>, Option<u64>) {
        let metered = self.meter.begin(&request);
        let question = conversation(&request);
        let sent = request.clone();
        let started = Instant::now();
        let mut number = None;
        let reported_number = &mut number;
        let asking = &*self;
        let call = move || async move {
            let report = ReportedCall::begin(&asking.name, &request);
            *reported_number = report.number();

            // Pinned here, since the future of a call may be large.
            let reply = pin!(asking.receive(policy, request));
            let result = report.during(reply).await;
            report.end(result.as_ref());
            result
        };

        let label = model_label(&self.name, &question);
        let called = record(&label, Result::is_err, call, unrecorded).await;
        self.meter.add_time(called.replayed);
        called.count(metered);
        // The meter may count other calls at the same time.
        self.log.spent += Spent {
            time: called.replayed.max(started.elapsed()),
            ..Spent::of_call(&sent, called.result.as_ref().ok())
        };
        let result = called.result;

        // If a request fails for a different reason, its format was accepted.
        let is_accepted = !result.as_ref().is_err_and(refuses_format);
        if is_accepted && !self.log.refusals.is_empty() {
            self.refused.settle_on(self.log.format);
        }

        (result, number)
    }

    /// Calls the client, and streams the reply if the client supports it.
    ///
    /// Every piece of a streamed reply is passed to the policy, and sent as a
    /// [note](cogwork_flow::watch::note_growth) of the current step, so that observers of the run receive
    /// the reply as it grows. The rest of a reply that is too long isn't read. If a stream breaks off that
    /// nobody follows, the call is made once more without one.
    async fn receive(
        &self,
        policy: &mut impl Policy,
        request: ChatRequest,
    ) -> Result<ChatResponse, LlmError> {
        if !self.streaming || !self.client.capabilities().has(Capability::Streaming) {
            return self.receive_whole(request).await;
        }

        let result = self.receive_pieces(policy, request.clone()).await;
        let has_begun = |error: &LlmError| error.text_so_far().is_some_and(|text| !text.is_empty());
        let is_interrupted = |error: &LlmError| {
            error.kind() == LlmErrorKind::InterruptedStream
                || (error.is_retryable() && has_begun(error))
        };
        match result {
            // Nobody has seen the beginning of the reply, so another one may take its place.
            Err(error) if is_interrupted(&error) && !is_followed() => {
                note(|| format!("{error}, asking without a stream"));
                self.receive_whole(request).await
            }
            result => result,
        }
    }

    async fn receive_whole(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let response = self.client.complete(request).await?;
        // A client may be anybody's, and some have no limits.
        ResponseLimits::default().check_text(response.text().len())?;
        Ok(response)
    }

    async fn receive_pieces(
        &self,
        policy: &mut impl Policy,
        request: ChatRequest,
    ) -> Result<ChatResponse, LlmError> {
        let limits = ResponseLimits::default();
        let mut reply = self.client.stream(request).await?;
        let mut bytes = 0_usize;

        while let Some(delta) = reply.next().await {
            let delta = delta?;
            if let Delta::Text(text) | Delta::Reasoning(text) = &delta {
                bytes = bytes.saturating_add(text.len());
                limits.check_text(bytes)?;
            }

            match delta {
                Delta::Text(text) => {
                    policy.on_text(&text);
                    note_growth(|| text);
                }
                Delta::End(response) => return Ok(response),
                _ => {}
            }
        }

        // A stream ends with a response or an error, so this is a bug in the client.
        let message = "the stream ended without a response";
        Err(LlmError::new(LlmErrorKind::InterruptedStream, message))
    }

    /// Moves down to the next format, since the server refused the last one.
    fn move_down(&mut self, policy: &mut impl Policy, next: Format, error: &LlmError) {
        let refused = std::mem::replace(&mut self.log.format, next);
        let line = error.to_string();
        note(|| format!("the server refused {refused}, trying {next}: {line}"));

        policy.on_refusal(refused, next, error);
        self.log.refusals.push(FormatRefusal {
            format: refused,
            error: line,
        });
    }

    /// Judges a reply, and reports the verdict if its call was reported.
    async fn judge<P: Policy>(
        &mut self,
        policy: &mut P,
        response: &ChatResponse,
        call: Option<u64>,
    ) -> Verdict<P::Reply, P::Problem, P::Stop> {
        // On record before it is read, so that it isn't lost if reading it times out.
        self.log.add(response.text());

        let verdict = policy.judge(response, self.log.format).await;

        let mut repairs: &[Repair] = &[];
        let (kind, problem) = match &verdict {
            Verdict::Usable(reply) => {
                repairs = policy.repairs(reply);
                (ChatVerdict::Usable, None)
            }
            Verdict::Continue { problem, .. } => (ChatVerdict::Continue, problem.as_ref()),
            Verdict::Stop(_) => (ChatVerdict::Continue, None),
            Verdict::Unusable { problem, .. } => (ChatVerdict::Unusable, Some(problem)),
        };
        let problem = problem.map(ToString::to_string);
        self.log.judge(kind, problem.clone());

        if let Some(call) = call {
            report_from(SOURCE, || ChatEvent::Judged {
                call,
                verdict: kind,
                problem,
                repairs: repairs.to_vec(),
            });
        }

        verdict
    }
}

/// The maximum number of characters of an unusable reply that are included in the conversation.
const EXCERPT: usize = 4096;

/// Returns the beginning of a reply, at most 4,096 characters, for a conversation that continues
/// after it. It is never empty, because servers refuse empty messages.
///
/// ```
/// use cogwork_typed::ask::excerpt;
///
/// assert_eq!(excerpt(" "), "(empty)");
/// assert_eq!(excerpt(&"a".repeat(5_000)), format!("{} […]", "a".repeat(4_096)));
/// ```
pub fn excerpt(reply: &str) -> String {
    match reply.trim() {
        "" => "(empty)".to_owned(),
        _ => cut(reply, EXCERPT),
    }
}

/// Returns the beginning of a text, with a mark at its end if it isn't the whole text.
pub fn cut(text: &str, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => text.get(..end).unwrap_or_default().to_owned() + " […]",
        None => text.to_owned(),
    }
}

/// Returns a reply as a message that a complaint or a question follows: as the model wrote it if it
/// is short, otherwise an [`excerpt`]. Its calls aren't part of it, because they aren't answered.
pub fn said(response: &ChatResponse) -> Message {
    let text = excerpt(response.text());
    let is_whole = text == response.text() && response.tool_calls().is_empty();

    if is_whole {
        response.message()
    } else {
        Message::assistant(text)
    }
}
