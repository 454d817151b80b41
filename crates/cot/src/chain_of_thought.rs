//! One turn of the loop: prep, exec, post.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use cogwork_flow::{Action, Flow, Node};
use cogwork_llm::{ChatRequest, LlmClient, Messages};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::error::Kind;
use crate::ladder::Ladder;
use crate::open_steps::OpenSteps;
use crate::{
    CotError, EarlyEnd, Format, History, Limit, Limits, Prompts, Read, Reading, Reasoning, Reply,
    ReplyBounds, Reporter, Rung, Silent, Thought, Trace,
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
    pub(crate) client: Arc<dyn LlmClient>,
    pub(crate) prompts: Arc<Prompts>,
    pub(crate) reporter: Arc<dyn Reporter>,
    request: ChatRequest,
    pub(crate) limits: Limits,
    pub(crate) reading: Reading,
    history: History,
    pub(crate) early_end: EarlyEnd,
    pub(crate) streaming: bool,
    pub(crate) ladder: Ladder,
}

/// What `exec` needs for a turn.
#[derive(Debug)]
pub struct Brief {
    pub(crate) thought_number: u32,
    /// The settings and the conversation that asks for YAML.
    request: ChatRequest,
    /// The same conversation asking for JSON, where that may be asked for.
    json: Option<Messages>,
    bounds: ReplyBounds,
    /// How the reply may be asked for, the tightest first; never none.
    pub(crate) rungs: Vec<Rung>,
    pub(crate) tokens_left: u64,
    pub(crate) time_left: Duration,
}

impl Brief {
    /// The request that asks for the reply in this way.
    pub(crate) fn request(&self, rung: Rung) -> ChatRequest {
        let request = self.request.clone();
        let request = match &self.json {
            Some(json) if rung.is_json() => request.with_messages(json.clone()),
            _ => request,
        };
        match rung.format(self.bounds) {
            Some(format) => request.with_format(format),
            None => request,
        }
    }
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
        let bounds = self.request.max_tokens().map_or_else(ReplyBounds::default, ReplyBounds::for_tokens);
        let rungs = match (self.request.format(), &self.prompts.json) {
            // Whoever asks for a form of their own, or has no words for JSON, is not asked for ours.
            (Some(_), _) | (_, None) => vec![Rung::Yaml],
            _ => self.ladder.rungs(self.client.capabilities(), state.plan(), bounds),
        };
        let json = rungs.iter().any(|rung| rung.is_json());
        let json = json.then(|| state.conversation(&self.prompts, self.history, true));
        let messages = state.conversation(&self.prompts, self.history, false);
        Ok(Some(Brief {
            thought_number,
            request: self.request.clone().with_messages(messages),
            json,
            bounds,
            rungs,
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
            Err(kind) => Err(CotError::new(brief.thought_number, kind).with_trace(trace)),
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
            ladder: Ladder::default(),
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

    /// How tightly the server is asked to hold a reply to its form: a [`Rung`] to begin on, or
    /// [`Format::Auto`]. Default: `Auto`, by JSON Schema where the client
    /// [can](LlmClient::capabilities), else by JSON mode, else in YAML.
    ///
    /// Where a server refuses a request for its form (a bad request, or a failure whose message speaks of the
    /// form), the next rung is asked for at once; that counts as no
    /// [ask again](Limits::asks_again). The node and its clones remember where they stand, for as long as
    /// they live; the [reporter](Reporter::format_refused), those who watch the run and the thought's
    /// [`Trace`] are told. If YAML is refused too, it was not for the form: the error is that of the last request,
    /// and nothing is remembered.
    ///
    /// A schema that cannot hold the last plan, which may come from elsewhere, is passed over in that turn.
    /// Prompts without words for JSON ([`Prompts::json`]), and a [request](Self::with_request) with a format
    /// of its own, keep to YAML.
    #[must_use]
    pub fn with_format(mut self, format: impl Into<Format>) -> Self {
        self.ladder = Ladder::new(format.into());
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
}

impl fmt::Debug for ChainOfThought {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChainOfThought")
            .field("limits", &self.limits)
            .field("reading", &self.reading)
            .field("history", &self.history)
            .field("early_end", &self.early_end)
            .field("format", &self.ladder.format())
            .finish_non_exhaustive()
    }
}
