use std::fmt;
use std::sync::Arc;

use cogwork_ask::Ladder;
use cogwork_flow::{Action, Flow};
use cogwork_llm::{ChatRequest, LlmClient};

use crate::{EarlyEnd, Format, History, Limits, Prompts, Reading, Reasoning, Reporter, Silent};

/// The self-looping node: each turn it has the model judge the last thought, do the next step of
/// the plan, and give back the plan; it ends with a conclusion.
///
/// It answers [`CONTINUE`](Self::CONTINUE) while another thought is needed and
/// [`END`](Self::END) with the conclusion, after PocketFlow's chain-of-thought cookbook. Cloning
/// it is cheap; one node may serve many runs at once.
///
/// On a state that has its answer it does nothing and answers `END`, so a finished run that is
/// taken up again stays finished.
///
/// # Errors of a run
///
/// `prep` fails with a [`CotError`](crate::CotError) when the problem is empty, the prompts fail their check or a limit is reached, `exec` when a
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
    pub(crate) request: ChatRequest,
    pub(crate) limits: Limits,
    pub(crate) reading: Reading,
    pub(crate) history: History,
    pub(crate) early_end: EarlyEnd,
    pub(crate) streaming: bool,
    pub(crate) format: Format,
    /// What the server is known to refuse, shared by all clones of the node.
    pub(crate) ladder: Ladder,
}

impl ChainOfThought {
    /// Another thought is needed.
    pub const CONTINUE: Action = Action::from_static("continue");
    /// The state has its answer.
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
            format: Format::default(),
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

    /// How tightly the server is asked to hold a reply to its form: a [`Rung`](crate::Rung) to begin on, or
    /// [`Format::Auto`]. Default: `Auto`, by JSON Schema where the client
    /// [can](LlmClient::capabilities), else by JSON mode, else in YAML.
    ///
    /// Where a server refuses a request for its form (a bad request, or a failure whose message speaks of the
    /// form), the next rung is asked for at once; that counts as no
    /// [ask again](Limits::with_asks_again). The node and its clones remember where they stand, for as long as
    /// they live; the [reporter](Reporter::format_refused), those who watch the run and the thought's
    /// [`Trace`](crate::Trace) are told. If YAML is refused too, it was not for the form: the error is that of the last request,
    /// and nothing is remembered.
    ///
    /// A schema that cannot hold the last plan, which may come from elsewhere, is passed over in that turn.
    /// Prompts without words for JSON ([`Prompts::json`]), and a [request](Self::with_request) with a format
    /// of its own, keep to YAML.
    #[must_use]
    pub fn with_format(mut self, format: impl Into<Format>) -> Self {
        self.format = format.into();
        self.ladder = Ladder::default();
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
    /// was repaired is in the thought's [`Trace`](crate::Trace).
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
    #[expect(
        clippy::expect_used,
        reason = "the wiring is fixed, and every test of the loop builds it"
    )]
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
            .field("format", &self.format)
            .finish_non_exhaustive()
    }
}
