//! One turn of the loop: prep, exec, post.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use cogwork_flow::{Action, Flow, Node, note};
use cogwork_llm::{Capability, ChatRequest, ChatResponse, Delta, FinishReason, LlmClient, LlmError, Message};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::error::Kind;
use crate::open_steps::OpenSteps;
use crate::{
    CotError, EarlyEnd, History, Limit, Limits, Prompts, Read, Reading, Reasoning, Reply, ReplyProblem,
    ReplyProblemKind, Reporter, Silent, Spent, Thought, Trace, Try,
};

/// The self-looping node: each turn it has the model judge the last thought, do the next step of
/// the plan, and give back the plan; it ends with a conclusion.
///
/// It answers [`CONTINUE`](Self::CONTINUE) while another thought is needed and
/// [`END`](Self::END) with the conclusion, after PocketFlow's chain-of-thought cookbook. Cloning
/// it is cheap; one node may serve many runs at once.
///
/// On a state that has its solution it does nothing and answers `END`, so a finished run that is
/// taken up again stays finished.
///
/// # Errors of a run
///
/// `prep` fails with a [`CotError`] when the problem is empty, the prompts fail their check or a limit is reached, `exec` when a
/// call to the model fails, no reply can be used, or the time is over. The thoughts made so far stay
/// in the state.
///
/// # Example
///
/// Inside a flow over a state of one's own:
///
/// ```
/// use cogwork_cot::{Action, BuildError, ChainOfThought, Flow, LlmClient, Node, Reasoning, from_fn};
///
/// struct App { question: Reasoning, answer: String }
///
/// fn app(client: impl LlmClient + 'static) -> Result<Flow<App>, BuildError> {
///     Flow::builder("app")
///         .start("think")
///         .node("think", ChainOfThought::new(client).focus(|app: &mut App| &mut app.question))
///         .node("report", from_fn(|app: &mut App| app.answer = app.question.conclusion().unwrap_or("?").to_owned()))
///         .edge("think", ChainOfThought::CONTINUE, "think")
///         .edge("think", ChainOfThought::END, "report")
///         .end("report", Action::DEFAULT)
///         .build()
/// }
/// ```
#[derive(Clone)]
pub struct ChainOfThought {
    client: Arc<dyn LlmClient>,
    prompts: Arc<Prompts>,
    reporter: Arc<dyn Reporter>,
    request: ChatRequest,
    limits: Limits,
    reading: Reading,
    history: History,
    early_end: EarlyEnd,
    streaming: bool,
}

/// What `exec` needs for a turn.
#[derive(Debug)]
pub struct Brief {
    thought_number: u32,
    request: ChatRequest,
    tokens_left: u64,
    time_left: Duration,
}

/// What `exec` brings back from a turn.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Turn {
    reply: Reply,
    trace: Trace,
}

impl Node<Reasoning> for ChainOfThought {
    type Prep = Option<Brief>;
    type Exec = Option<Turn>;
    type Error = CotError;

    fn actions(&self) -> Vec<Action> {
        vec![Self::CONTINUE, Self::END]
    }

    fn prep(&self, state: &mut Reasoning) -> Result<Option<Brief>, CotError> {
        if state.solution().is_some() {
            return Ok(None);
        }
        let thought_number = state.begin_thought();
        if thought_number == 1 {
            self.reporter.started(state);
        }
        let fail = |kind| Err(CotError::new(thought_number, kind));
        let (Limits { thoughts, tokens, time, .. }, spent) = (self.limits, state.spent());
        if let Err(error) = self.prompts.check() {
            return fail(Kind::Prompts(error));
        } else if state.problem().trim().is_empty() {
            return fail(Kind::EmptyProblem);
        } else if thought_number > thoughts {
            return fail(Kind::Limit(Limit::Thoughts(thoughts)));
        } else if spent.tokens() >= tokens {
            return fail(Kind::Limit(Limit::Tokens(tokens)));
        } else if spent.time >= time {
            return fail(Kind::Limit(Limit::Time(time)));
        }
        let messages = state.conversation(&self.prompts, self.history);
        Ok(Some(Brief {
            thought_number,
            request: self.request.clone().with_messages(messages),
            tokens_left: tokens - spent.tokens(),
            time_left: time - spent.time,
        }))
    }

    async fn exec(&self, brief: &Option<Brief>) -> Result<Option<Turn>, CotError> {
        let Some(brief) = brief else { return Ok(None) };
        let working = self.reporter.working(brief.thought_number);
        let started = Instant::now();
        // Outside the future that may run out of time, so that the replies outlive it.
        let (mut trace, mut early) = (Trace::default(), None);
        let asked =
            tokio::time::timeout(brief.time_left, self.ask(brief, started, &mut trace, &mut early)).await;
        trace.spent.time = started.elapsed();
        drop(working);
        let asked = asked.unwrap_or(Err(Kind::Limit(Limit::Time(self.limits.time))));
        // A conclusion in hand is worth more than the reason why the question about it had no answer.
        match asked.or_else(|kind| early.ok_or(kind)) {
            Ok(Read { reply, repairs, truncated }) => {
                trace.ended_early = OpenSteps::left_by(&reply).is_some();
                (trace.repairs, trace.truncated) = (repairs, truncated);
                Ok(Some(Turn { reply, trace }))
            }
            Err(kind) => Err(CotError::new(brief.thought_number, kind).with_tries(trace.tries, trace.spent)),
        }
    }

    fn post(&self, state: &mut Reasoning, _: Option<Brief>, turn: Option<Turn>) -> Result<Action, CotError> {
        let Some(Turn { reply, trace }) = turn else { return Ok(Self::END) };
        state.push(Thought::new(state.current_thought_number(), reply, trace));
        self.reporter.thought(state);
        if state.solution().is_none() {
            return Ok(Self::CONTINUE);
        }
        self.reporter.solved(state);
        Ok(Self::END)
    }
}

impl ChainOfThought {
    /// Another thought is needed.
    pub const CONTINUE: Action = Action::from_static("continue");
    /// The state has its solution.
    pub const END: Action = Action::from_static("end");

    /// A node that asks this client, with the English prompts, the default limits, and no report.
    pub fn new(client: impl LlmClient + 'static) -> Self {
        Self {
            client: Arc::new(client),
            prompts: Arc::new(Prompts::default()),
            reporter: Arc::new(Silent),
            request: ChatRequest::default(),
            limits: Limits::default(),
            reading: Reading::default(),
            history: History::default(),
            early_end: EarlyEnd::default(),
            streaming: true,
        }
    }

    /// Tells the model other texts. Default: [`Prompts::english`]. Texts that fail
    /// [`Prompts::check`] are an error of the first turn, before the model is called.
    #[must_use]
    pub fn with_prompts(mut self, prompts: Prompts) -> Self {
        self.prompts = Arc::new(prompts);
        self
    }

    /// Says what happens to a reporter. Default: [`Silent`].
    #[must_use]
    pub fn with_reporter(mut self, reporter: impl Reporter + 'static) -> Self {
        self.reporter = Arc::new(reporter);
        self
    }

    /// The settings of every request: tokens of a reply, temperature and so on. Its messages are
    /// not used. Default: all left to the client.
    #[must_use]
    pub fn with_request(mut self, request: ChatRequest) -> Self {
        self.request = request;
        self
    }

    /// Where a run ends without a conclusion. Default: see [`Limits`].
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Whether replies are repaired before the model is asked again. Default: [`Reading::Repairing`]. What
    /// was repaired is in the thought's [`Trace`].
    #[must_use]
    pub fn with_reading(mut self, reading: Reading) -> Self {
        self.reading = reading;
        self
    }

    /// Which earlier thoughts a request carries. Default: [`History::All`].
    #[must_use]
    pub fn with_history(mut self, history: History) -> Self {
        self.history = history;
        self
    }

    /// What happens to an end while steps are not done. Default: [`EarlyEnd::Ask`].
    #[must_use]
    pub fn with_early_end(mut self, policy: EarlyEnd) -> Self {
        self.early_end = policy;
        self
    }

    /// Whether replies are asked for piece by piece from a client that says it can, so that the
    /// [reporter](Reporter::delta) and those who watch the run (as notes of the step) see a thought grow.
    /// What is read at the end is the same. Default: true.
    #[must_use]
    pub fn with_streaming(mut self, streaming: bool) -> Self {
        self.streaming = streaming;
        self
    }

    /// The node alone as a flow: one node named `think` that leads to itself.
    #[expect(clippy::expect_used, reason = "the wiring is fixed, and every test of the loop builds it")]
    pub fn into_flow(self) -> Flow<Reasoning> {
        Flow::builder("chain of thought")
            .start("think")
            .node("think", self)
            .edge("think", Self::CONTINUE, "think")
            .end("think", Self::END)
            .build()
            .expect("the wiring is whole")
    }

    /// Asks until a reply can be used. Replies that cannot are kept in the trace, and the
    /// complaint follows them in the conversation. A reply that ends early is kept in `early` while
    /// the model is asked about it.
    async fn ask(
        &self,
        brief: &Brief,
        started: Instant,
        trace: &mut Trace,
        early: &mut Option<Read>,
    ) -> Result<Read, Kind> {
        let mut request = brief.request.clone();
        let mut asks_left = self.limits.asks_again;
        loop {
            let response =
                self.response(brief.thought_number, request.clone()).await.map_err(Kind::Client)?;
            count(&mut trace.spent, &request, &response);
            let verdict = self.judge(&response, early.is_some());
            let text = response.into_text();
            let (problem, message, give_up) = match verdict {
                Verdict::Usable(read) => {
                    trace.tries.push(Try { reply: text, complaint: None });
                    return Ok(read);
                }
                Verdict::Questionable(read, problem, message) => {
                    *early = Some(read);
                    (problem, message, false)
                }
                Verdict::Unusable(problem, message) => {
                    let give_up = asks_left == 0;
                    asks_left = asks_left.saturating_sub(1);
                    (problem, message, give_up)
                }
            };
            request.push(Message::assistant(excerpt(&text)));
            request.push(message);
            trace.tries.push(Try { reply: text, complaint: Some(problem.to_string()) });
            if give_up {
                return Err(Kind::Reply(problem));
            } else if trace.spent.tokens() >= brief.tokens_left {
                return Err(Kind::Limit(Limit::Tokens(self.limits.tokens)));
            } else if started.elapsed() >= brief.time_left {
                // The timeout around this loop sees no time pass while every call is ready at once.
                return Err(Kind::Limit(Limit::Time(self.limits.time)));
            }
            self.reporter.asking_again(brief.thought_number, &problem);
        }
    }

    /// Calls the model, piece by piece where the client can, so that people see the thought grow.
    async fn response(&self, thought_number: u32, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        if !self.streaming || !self.client.capabilities().has(Capability::Streaming) {
            return self.client.complete(request).await;
        }
        let reporter = Arc::clone(&self.reporter);
        let look = move |piece: &Result<Delta, LlmError>| {
            if let Ok(Delta::Text(text)) = piece {
                reporter.delta(thought_number, text);
                note(|| text.clone());
            }
        };
        self.client.stream(request).await?.inspect(look).collect().await
    }

    fn judge(&self, response: &ChatResponse, asked_about_end: bool) -> Verdict {
        let text = response.text();
        let reason = response.finish_reason();
        let read = match self.limits.reader(self.reading).read_finished(text, reason) {
            Ok(read) => read,
            Err(problem) => {
                // Only of a reply that was too long is it known that a shorter one would help.
                let too_long = problem.kind() == ReplyProblemKind::CutOff && *reason == FinishReason::Length;
                let message = match too_long {
                    true => self.prompts.cut_off(),
                    false => self.prompts.unreadable(&format!("{problem:#}")),
                };
                return Verdict::Unusable(problem, message);
            }
        };
        let Some(open) = OpenSteps::left_by(&read.reply) else { return Verdict::Usable(read) };
        let message = self.prompts.ended_early(&open.lines());
        match self.early_end {
            EarlyEnd::Ask if !asked_about_end => Verdict::Questionable(read, open.problem(), message),
            EarlyEnd::Ask | EarlyEnd::Accept => Verdict::Usable(read),
            EarlyEnd::Refuse => Verdict::Unusable(open.problem(), message),
        }
    }
}

/// What a response is good for; where it is not simply used, what is wrong and the message that
/// tells the model so.
enum Verdict {
    Usable(Read),
    /// Usable, but worth a question.
    Questionable(Read, ReplyProblem, Message),
    Unusable(ReplyProblem, Message),
}

/// Adds what a call cost.
fn count(spent: &mut Spent, request: &ChatRequest, response: &ChatResponse) {
    // Some servers report zeros for what they do not count.
    if let Some(usage) = response.usage().filter(|usage| usage.total_tokens() > 0) {
        spent.usage += usage;
    } else {
        let read: usize = request.messages().iter().map(|message| message.text().len()).sum();
        let bytes = read.saturating_add(response.text().len());
        spent.estimated_tokens = spent.estimated_tokens.saturating_add(bytes as u64 / 4);
    }
}

/// Characters of an unusable reply that the model is shown again.
const EXCERPT: usize = 4096;

/// An unusable reply as it stands in the conversation: its beginning, and never nothing, which
/// servers refuse as a message.
fn excerpt(reply: &str) -> String {
    let mut characters = reply.chars();
    let beginning: String = characters.by_ref().take(EXCERPT).collect();
    match characters.next() {
        None if beginning.trim().is_empty() => "(empty)".to_owned(),
        None => beginning,
        Some(_) => beginning + " […]",
    }
}

impl fmt::Debug for ChainOfThought {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChainOfThought")
            .field("limits", &self.limits)
            .field("reading", &self.reading)
            .field("history", &self.history)
            .field("early_end", &self.early_end)
            .finish_non_exhaustive()
    }
}
