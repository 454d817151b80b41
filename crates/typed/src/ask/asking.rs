use std::fmt;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};

use cogwork_flow::{note, report_from};
use cogwork_llm::{ChatRequest, ChatResponse, LlmClient, LlmError, Message};
use serde::{Deserialize, Serialize};

use crate::ask::call::complete;
use crate::ask::chat::event::{ChatEvent, ChatVerdict, PlacedRepair};
use crate::ask::chat::report::{ReportedCall, SOURCE};
use crate::ask::ladder::refuses_form;
use crate::ask::record_call::{RecordedCall, conversation, record_call, record_forms};
use crate::ask::{FormRefusal, Ladder, Limit, Meter, Repair, Rung, call};

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

    /// Returns the request for a reply in this form.
    ///
    /// The conversation should always be the same for a form. Earlier replies, complaints, and the
    /// messages of [`Verdict::Continue`] are appended to it. The settings may change, for example
    /// which tools may be called.
    fn request(&self, rung: Rung) -> ChatRequest;

    /// Fits a request into what is left of the limits, and returns the request to send.
    ///
    /// `request` is the [request](Self::request) for a reply in this form, with all replies and
    /// complaints so far.
    ///
    /// # Errors
    ///
    /// Returns why no further call is made.
    fn fit(
        &mut self,
        meter: &Meter,
        request: ChatRequest,
        rung: Rung,
    ) -> Result<ChatRequest, Self::Stop> {
        let _ = rung;
        Ok(meter.fit(request, 1)?)
    }

    /// Called with each piece of a streamed reply.
    fn on_text(&mut self, text: &str) {
        let _ = text;
    }

    /// Called when the server refused `rung`, and `next` is tried instead.
    fn on_refusal(&mut self, rung: Rung, next: Rung, error: &LlmError) {
        let _ = (rung, next, error);
    }

    /// Judges a reply.
    ///
    /// Implement it as an `async fn`.
    fn judge(
        &mut self,
        response: &ChatResponse,
        rung: Rung,
    ) -> impl Future<Output = Verdict<Self::Reply, Self::Problem>> + Send;

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
pub enum Verdict<R, P> {
    /// The reply can be used.
    Usable(R),
    /// The reply is a step towards a usable one, such as a request for tool calls, and the model is
    /// called again.
    ///
    /// This doesn't count as asking again, and [`Asking`] doesn't limit how often it happens, so
    /// the policy must do so.
    Continue {
        /// What is appended to the conversation: the reply as the model should see it, and what
        /// follows from it, such as the results of tool calls.
        messages: Vec<Message>,
    },
    /// The reply can be used, but the model is asked about it first. This happens at most once; any
    /// later reply with this verdict is [unusable](Verdict::Unusable). The question doesn't count
    /// as asking again.
    Questionable {
        /// What is questionable.
        problem: P,
        /// The question to the model.
        message: Message,
    },
    /// The reply cannot be used.
    Unusable {
        /// What is wrong.
        problem: P,
        /// The complaint to the model.
        message: Message,
    },
}

/// The reason why there is no usable reply.
#[derive(Debug)]
pub enum Unanswered<P, S> {
    /// A call failed.
    Client(LlmError),
    /// No reply could be used. Contains the problem of the last one.
    Unusable(P),
    /// No further call was allowed.
    Stopped(S),
}

/// A reply of a model, and the complaint about it, if any.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Try {
    /// The raw text of the reply.
    pub reply: String,
    /// The complaint; `None` if the reply was accepted, be it as the usable one or as a
    /// [step](Verdict::Continue) towards it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complaint: Option<String>,
}

/// The record of an [`Asking`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Record {
    /// Every reply, in order.
    pub tries: Vec<Try>,
    /// The form of the last request.
    pub rung: Rung,
    /// The forms that the server refused, in order.
    pub refusals: Vec<FormRefusal>,
}

/// Asks a model until its reply can be used.
///
/// In a [composite](cogwork_flow::Node::is_composite) node of a run with a journal, each response is
/// recorded before it is judged, and a resumed run uses the recorded responses. The policy must then
/// decide only by what it is given: by the responses, and by outcomes that it
/// [records](cogwork_flow::journal::recorded) itself. If the client records its calls, turn this
/// [off](Self::with_recording).
///
/// The record is kept even if the future of [`run`](Self::run) is dropped, for example because of a
/// timeout.
///
/// See the [crate documentation](crate) for an example.
pub struct Asking<'a> {
    client: &'a dyn LlmClient,
    ladder: &'a Ladder,
    rungs: std::vec::IntoIter<Rung>,
    asks_again: u32,
    streaming: bool,
    recording: bool,
    /// The earlier replies, each followed by the complaint or by what it led to.
    follow_up: Vec<Message>,
    has_questioned: bool,
    record: Record,
    /// The name of the question.
    name: String,
    meter: Meter,
    /// The number of the last call that was reported; 0 if there is none.
    reported: AtomicU64,
}

type Outcome<P> =
    Result<<P as Policy>::Reply, Unanswered<<P as Policy>::Problem, <P as Policy>::Stop>>;

impl<'a> Asking<'a> {
    /// Creates an asking.
    ///
    /// `rungs` are the forms to try, tightest first. Forms that `ladder` has recorded as refused
    /// when [`run`](Self::run) begins are skipped. If none is left, the reply is requested as [`Rung::Text`].
    pub fn new(client: &'a dyn LlmClient, ladder: &'a Ladder, rungs: Vec<Rung>) -> Self {
        Self {
            client,
            ladder,
            rungs: rungs.into_iter(),
            asks_again: 2,
            streaming: true,
            recording: true,
            follow_up: Vec::new(),
            has_questioned: false,
            record: Record::default(),
            name: String::new(),
            meter: Meter::default(),
            reported: AtomicU64::new(0),
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

    /// Sets whether responses are recorded in a [composite](cogwork_flow::Node::is_composite) node
    /// of a run with a journal. Set it to `false` if the client records its own calls: each request
    /// is then passed to the client, also in a resumed run. The default is `true`.
    #[must_use]
    pub fn with_recording(mut self, recording: bool) -> Self {
        self.recording = recording;
        self
    }

    /// Returns the record so far.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Returns the record.
    pub fn into_record(self) -> Record {
        self.record
    }

    /// Asks until a reply can be used.
    ///
    /// # Errors
    ///
    /// Returns [`Unanswered`] if a call fails, no reply can be used, or the policy allows no
    /// further call.
    pub async fn run<P: Policy>(&mut self, policy: &mut P) -> Outcome<P> {
        let question = conversation(&policy.request(Rung::Text));
        self.rungs = self.allowed_forms(&question).await.into_iter();
        self.next_rung();

        let mut asks_left = self.asks_again;
        let mut sent = self.next_request(policy)?;

        loop {
            let call = self.meter.begin(&sent);
            let response = match self.call(policy, sent).await {
                Ok(response) => response,
                Err(error) => {
                    self.after_refusal(policy, error)?;
                    sent = self.next_request(policy)?;
                    continue;
                }
            };

            call.end(&response);
            self.keep(&response);
            let verdict = policy.judge(&response, self.record.rung).await;
            self.report_verdict(policy, &verdict);

            let (problem, message) = match verdict {
                Verdict::Usable(reply) => {
                    self.accept();
                    return Ok(reply);
                }
                Verdict::Continue { messages } => {
                    self.accept_step(messages);
                    sent = self.next_request(policy)?;
                    continue;
                }
                Verdict::Questionable { problem, message } if !self.has_questioned => {
                    self.has_questioned = true;
                    asks_left = asks_left.saturating_add(1);
                    (problem, message)
                }
                Verdict::Questionable { problem, message }
                | Verdict::Unusable { problem, message } => (problem, message),
            };

            self.complain(&response, &problem, message);

            if asks_left == 0 {
                return Err(Unanswered::Unusable(problem));
            }

            asks_left -= 1;

            sent = self.next_request(policy)?;
            policy.on_ask_again(&problem);
        }
    }

    /// Returns the forms that the ladder allows.
    async fn allowed_forms(&mut self, question: &ChatRequest) -> Vec<Rung> {
        let ladder = self.ladder;
        let rungs = self.rungs.by_ref();
        let allowed = rungs.filter(|rung| ladder.allows(*rung)).collect();

        if self.recording {
            record_forms(question, allowed).await
        } else {
            allowed
        }
    }

    /// Returns the request to send.
    fn next_request<P: Policy>(
        &self,
        policy: &mut P,
    ) -> Result<ChatRequest, Unanswered<P::Problem, P::Stop>> {
        let rung = self.record.rung;
        let mut request = policy.request(rung);
        for message in &self.follow_up {
            request.push(message.clone());
        }

        let fitted = policy.fit(&self.meter, request, rung);
        fitted.map_err(Unanswered::Stopped)
    }

    async fn call(
        &self,
        policy: &mut impl Policy,
        request: ChatRequest,
    ) -> Result<ChatResponse, LlmError> {
        let result = if self.recording {
            self.recorded_call(policy, request).await
        } else {
            self.make_call(policy, request).await
        };

        // If a request fails for a different reason, its form was accepted.
        let is_accepted = !result.as_ref().is_err_and(refuses_form);
        if is_accepted && !self.record.refusals.is_empty() {
            self.ladder.settle_on(self.record.rung);
        }

        result
    }

    async fn recorded_call(
        &self,
        policy: &mut impl Policy,
        request: ChatRequest,
    ) -> Result<ChatResponse, LlmError> {
        let question = conversation(&request);
        let called = record_call(&question, || self.make_call(policy, request));
        let RecordedCall { result, replayed } = called.await;

        self.meter.add_time(replayed.unwrap_or_default());
        result
    }

    async fn make_call(
        &self,
        policy: &mut impl Policy,
        request: ChatRequest,
    ) -> Result<ChatResponse, LlmError> {
        let Some(reported) = ReportedCall::begin(&self.name, &request) else {
            return self.send(policy, request).await;
        };

        // Pinned here, since the future of a call may be large.
        let sent = pin!(self.send(policy, request));
        let result = reported.during(sent).await;
        self.reported.store(reported.number(), Ordering::Relaxed);
        reported.end(result.as_ref());
        result
    }

    async fn send(
        &self,
        policy: &mut impl Policy,
        request: ChatRequest,
    ) -> Result<ChatResponse, LlmError> {
        if self.streaming {
            call(self.client, request, |text| policy.on_text(text)).await
        } else {
            complete(self.client, request).await
        }
    }

    /// Reports the verdict on the last reply, if its call was reported.
    fn report_verdict<P: Policy>(&self, policy: &P, verdict: &Verdict<P::Reply, P::Problem>) {
        let call = self.reported.swap(0, Ordering::Relaxed);
        if call == 0 {
            return;
        }

        let mut repairs: &[Repair] = &[];
        let mut problem: Option<&dyn fmt::Display> = None;
        let verdict = match verdict {
            Verdict::Usable(reply) => {
                repairs = policy.repairs(reply);
                ChatVerdict::Usable
            }
            Verdict::Continue { .. } => ChatVerdict::Continue,
            Verdict::Questionable { problem: why, .. } => {
                problem = Some(why);
                self.verdict_on_questionable()
            }
            Verdict::Unusable { problem: why, .. } => {
                problem = Some(why);
                ChatVerdict::Unusable
            }
        };

        let last = self.record.tries.last();
        let reply = last.map_or("", |last| &last.reply);
        report_from(SOURCE, || ChatEvent::Judged {
            call,
            verdict,
            problem: problem.map(ToString::to_string),
            repairs: PlacedRepair::all(repairs, reply),
        });
    }

    fn verdict_on_questionable(&self) -> ChatVerdict {
        if self.has_questioned {
            ChatVerdict::Unusable
        } else {
            ChatVerdict::Questioned
        }
    }

    /// Moves on to the tightest remaining form and returns it.
    fn next_rung(&mut self) -> Option<Rung> {
        let rung = self.rungs.next()?;
        self.record.rung = rung;
        Some(rung)
    }

    /// Moves on to the next form if `error` shows that the server refused the last one.
    fn after_refusal<P: Policy>(
        &mut self,
        policy: &mut P,
        error: LlmError,
    ) -> Result<(), Unanswered<P::Problem, P::Stop>> {
        if !refuses_form(&error) {
            return Err(Unanswered::Client(error));
        }

        let refused = self.record.rung;
        let Some(next) = self.next_rung() else {
            return Err(Unanswered::Client(error));
        };

        let line = error.to_string();
        note(|| format!("the server refused {refused}, trying {next}: {line}"));
        policy.on_refusal(refused, next, &error);
        self.record.refusals.push(FormRefusal {
            rung: refused,
            error: line,
        });

        Ok(())
    }

    /// Records a reply before it is read, so that it isn't lost if reading it times out.
    fn keep(&mut self, response: &ChatResponse) {
        let reply = response.text().to_owned();
        self.record.tries.push(Try {
            reply,
            complaint: Some(UNREAD.to_owned()),
        });
    }

    fn accept(&mut self) {
        if let Some(accepted) = self.record.tries.last_mut() {
            accepted.complaint = None;
        }
    }

    /// Accepts the last reply as a step towards a usable one.
    fn accept_step(&mut self, messages: Vec<Message>) {
        self.accept();
        if let Some(step) = self.record.tries.last_mut() {
            cut(&mut step.reply);
        }

        self.follow_up.extend(messages);
    }

    /// Appends an unusable reply and the complaint to the conversation.
    fn complain(
        &mut self,
        response: &ChatResponse,
        problem: &impl fmt::Display,
        complaint: Message,
    ) {
        let Some(unusable) = self.record.tries.last_mut() else {
            return;
        };

        self.follow_up.extend([said(response), complaint]);

        cut(&mut unusable.reply);
        unusable.complaint = Some(problem.to_string());
    }
}

impl fmt::Debug for Asking<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Asking")
            .field("asks_again", &self.asks_again)
            .field("record", &self.record)
            .finish_non_exhaustive()
    }
}

/// The complaint about a reply that wasn't read completely.
const UNREAD: &str = "the asking ended before the reply was read";

/// The maximum number of bytes of a reply on record, unless it is the usable one.
const MAX_KEPT: usize = 256 * 1024;

/// The mark after a truncated text.
const CUT: &str = " […]";

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
    let mut characters = reply.chars();
    let beginning: String = characters.by_ref().take(EXCERPT).collect();
    let is_cut = characters.next().is_some();

    if is_cut {
        beginning + CUT
    } else if beginning.trim().is_empty() {
        "(empty)".to_owned()
    } else {
        beginning
    }
}

/// Returns an unusable reply as a message: as the model wrote it if it is short, otherwise an
/// [`excerpt`]. Its calls aren't part of it, because they aren't answered.
fn said(response: &ChatResponse) -> Message {
    let text = excerpt(response.text());
    let is_whole = text == response.text() && response.tool_calls().is_empty();

    if is_whole {
        response.message()
    } else {
        Message::assistant(text)
    }
}

fn cut(text: &mut String) {
    if text.len() <= MAX_KEPT {
        return;
    }

    let end = (0..=MAX_KEPT).rev().find(|at| text.is_char_boundary(*at));
    text.truncate(end.unwrap_or_default());
    text.push_str(CUT);
}
