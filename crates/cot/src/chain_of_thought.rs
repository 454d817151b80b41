use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use cogwork_flow::{Action, Flow};
use cogwork_llm::backend::Capability;
use cogwork_llm::{ChatRequest, LlmClient};
use cogwork_tools::Tools;
use cogwork_typed::ask::{Limits, RefusedFormats};

use crate::{EarlyEnd, History, Prompts, Reasoning, Reporter};
use cogwork_typed::ask::Format;

/// A node that reasons step by step: in each turn, the model judges its last thought, does the next
/// step of the plan, and returns the updated plan, until it reaches a conclusion.
///
/// The node leaves by [`CONTINUE`](Self::CONTINUE) if more thoughts are needed, and by
/// [`END`](Self::END) once there is an answer, as in PocketFlow's chain-of-thought cookbook. If a
/// [limit](Limits) is reached, the answer is the best one so far, and
/// [`Reasoning::is_complete`] returns `false`.
///
/// Cloning the node is cheap, and many runs can share it. A clone with other
/// [limits](Self::with_limits) or another [request](Self::with_request) still shares what the node
/// has learnt about the server. [`Reasoning::with_limits`] sets the limits of one run.
///
/// If the state already has an answer, the node does nothing and leaves by `END`, so resuming a
/// finished run has no effect.
///
/// # Errors of a run
///
/// All errors are [`CotError`](crate::CotError)s. `prep` fails if the problem is empty, or if the
/// prompts fail their check. `exec` fails if a call to the model fails, or if none of the replies
/// can be used. Either fails if a limit is reached before the first thought, or if the model is
/// [not asked to conclude](Limits::conclude). The thoughts made so far are kept in the state.
///
/// # Example
///
/// Inside a flow over a custom state:
///
/// ```
/// use cogwork_cot::{ChainOfThought, Reasoning};
/// use cogwork_flow::{Action, BuildError, Flow, Node, from_fn};
/// use cogwork_llm::LlmClient;
///
/// struct App { question: Reasoning, answer: String }
///
/// fn app(client: impl LlmClient + 'static) -> Result<Flow<App>, BuildError> {
///     Flow::builder("app")
///         .start("think")
///         .node("think", ChainOfThought::new(client).focus(|app: &mut App| &mut app.question))
///         .node("report", from_fn(|app: &mut App| app.answer = app.question.answer().unwrap_or("?").to_owned()))
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
    pub(crate) reporter: Option<Arc<dyn Reporter>>,
    pub(crate) request: ChatRequest,
    pub(crate) limits: Limits,
    pub(crate) asks_again: u32,
    pub(crate) history: History,
    pub(crate) early_end: EarlyEnd,
    pub(crate) format: Option<Format>,
    pub(crate) tools: Arc<Tools>,
    /// The maximum number of replies of a turn whose calls are made.
    pub(crate) tool_rounds: u32,
    /// The forms that the server has refused, shared by all clones of the node.
    pub(crate) refused: RefusedFormats,
}

impl ChainOfThought {
    /// The action if another thought is needed.
    pub const CONTINUE: Action = Action::from_static("continue");
    /// The action if the state has an answer.
    pub const END: Action = Action::from_static("end");

    /// Creates a node that asks `client`, with the English prompts, the default limits and no
    /// reporter.
    pub fn new(client: impl LlmClient + 'static) -> Self {
        Self {
            client: Arc::new(client),
            prompts: Arc::new(Prompts::default()),
            reporter: None,
            request: ChatRequest::default(),
            limits: default_limits(),
            asks_again: 2,
            history: History::default(),
            early_end: EarlyEnd::default(),
            format: None,
            tools: Arc::default(),
            tool_rounds: 8,
            refused: RefusedFormats::default(),
        }
    }

    /// Sets the prompts. The default is [`Prompts::english`].
    ///
    /// If the prompts fail [`Prompts::check`], the first turn returns an error before the model is
    /// called.
    #[must_use]
    pub fn with_prompts(mut self, prompts: Prompts) -> Self {
        self.prompts = Arc::new(prompts);
        self
    }

    /// Sets the reporter that receives the events. By default, there is none.
    #[must_use]
    pub fn with_reporter(mut self, reporter: impl Reporter + 'static) -> Self {
        self.reporter = Some(Arc::new(reporter));
        self
    }

    /// Sets how strictly the server is asked to constrain the form of a reply at first. By default,
    /// this is JSON Schema if the client [supports it](LlmClient::capabilities), otherwise JSON mode,
    /// otherwise YAML.
    ///
    /// If the server refuses a request because of the form (a bad request, or a failure whose
    /// message mentions the form), the next format is tried immediately. This does not count as
    /// [asking again](Self::with_asks_again). The refusal is remembered by the node and its
    /// clones, [reported](crate::ReasoningEvent::FormatRefused), and listed in the
    /// [`Trace`](crate::Trace) of the thought. If the server refuses YAML as well,
    /// the error of the last request is returned and nothing is remembered.
    ///
    /// If the last plan doesn't fit into a schema, for example because it was not written by this
    /// node, that schema is skipped for the turn. Prompts without texts for JSON
    /// ([`Prompts::json`]), and a [request](Self::with_request) with its own format, always use
    /// YAML.
    #[must_use]
    pub fn with_format(mut self, format: impl Into<Option<Format>>) -> Self {
        self.format = format.into();
        // What was refused before was asked for in another way.
        self.refused = RefusedFormats::default();
        self
    }

    /// Sets the options of every request, such as the maximum number of tokens and the temperature.
    /// Its messages are ignored. The default leaves all options to the client.
    #[must_use]
    pub fn with_request(mut self, request: ChatRequest) -> Self {
        self.request = request;
        self
    }

    /// Sets the limits of each run. See [`Limits`] for the defaults.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        // A loop without any limit could go on for ever.
        self.limits = limits.or(default_limits());
        self
    }

    /// Sets how often a turn asks again when a reply can't be used. The default is 2.
    #[must_use]
    pub fn with_asks_again(mut self, times: u32) -> Self {
        self.asks_again = times;
        self
    }

    /// Sets which earlier thoughts a request contains. The default is [`History::All`].
    #[must_use]
    pub fn with_history(mut self, history: History) -> Self {
        self.history = history;
        self
    }

    /// Sets what happens when the model ends the reasoning while steps are not done. The default is
    /// [`EarlyEnd::Ask`].
    #[must_use]
    pub fn with_early_end(mut self, policy: EarlyEnd) -> Self {
        self.early_end = policy;
        self
    }

    /// Sets the tools that the model may call within a turn, before it gives its reply. By default,
    /// there are none.
    ///
    /// If the client supports [tools](cogwork_llm::backend::Capability::Tools), their definitions are part
    /// of the request, and calls and results are messages of the conversation. Otherwise, the
    /// prompts describe the tools, and the model writes the list `tool_calls` instead of a plan.
    ///
    /// The calls of a reply are made concurrently. Everything that can go wrong with a call is
    /// returned to the model as its result: an unknown tool, a wrong input, a failure, a timeout, a
    /// call in a truncated reply, and a call after the first 16 of a reply. [`Tools`] limits the time
    /// and the output of each call, [`with_tool_rounds`](Self::with_tool_rounds) the number of replies
    /// with calls, and [`Limits`] the tokens and the time of everything together.
    ///
    /// The [`Trace`](crate::Trace) of the thought lists the calls with their outputs. The requests
    /// of later turns contain them after the thought: the last 8,000 characters or less, at most
    /// 1,000 of each output and 200 of each input. They are left out together with their thought
    /// ([`History`]).
    ///
    /// Many servers can't combine native tools with a response format: some refuse such a request,
    /// and others never call a tool. A request in which the model may call native tools therefore
    /// has no response format, and the form of the reply is only described. The
    /// [format](Self::with_format) is part of the requests in which tools are not allowed: when the
    /// rounds are used up, and when the model is asked again because a reply could not be read. If
    /// the model calls tools in its replies, the schema allows either calls or a plan.
    ///
    /// In a run with a journal, every call to the model and to a tool is recorded, and a resumed run
    /// repeats none of the recorded ones. If a call failed, only that is made again; a turn whose
    /// replies couldn't be used is repeated with all of its calls. A tool can avoid repetitions with
    /// [`idempotency_key`](cogwork_flow::idempotency_key). Calls of tools that
    /// [need approval](Tools::with_approval) wait for a person.
    #[must_use]
    pub fn with_tools(mut self, tools: Tools) -> Self {
        self.tools = Arc::new(tools);
        self
    }

    /// Sets the maximum number of replies of a turn whose tool calls are made. The default is 8.
    ///
    /// After that, the model is called once more without tools, to give its reply. If it requests
    /// calls nevertheless, it is [asked again](Self::with_asks_again).
    #[must_use]
    pub fn with_tool_rounds(mut self, rounds: u32) -> Self {
        self.tool_rounds = rounds;
        self
    }

    /// Returns how the model calls the tools.
    pub(crate) fn calling(&self) -> Calling {
        if self.tools.is_empty() {
            Calling::Never
        // A server that knows tools constrains the form of the calls, which a reply doesn't.
        } else if self.client.capabilities().has(Capability::Tools) {
            Calling::Natively
        } else {
            Calling::InReplies
        }
    }

    /// Returns a flow that consists of this node, named `think`, with a loop on
    /// [`CONTINUE`](Self::CONTINUE).
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

/// How a model calls tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Calling {
    /// There are no tools.
    Never,
    /// The server supports tools.
    Natively,
    /// The prompts describe the tools, and the model writes calls into its reply.
    InReplies,
}

/// The limits that are not set.
fn default_limits() -> Limits {
    Limits::default()
        .with_thoughts(50)
        .with_tokens(1_000_000)
        .with_bytes(64 * 1024 * 1024)
        .with_time(Duration::from_secs(3600))
}

impl fmt::Debug for ChainOfThought {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChainOfThought")
            .field("limits", &self.limits)
            .field("history", &self.history)
            .field("early_end", &self.early_end)
            .field("format", &self.format)
            .field("tools", &self.tools)
            .finish_non_exhaustive()
    }
}
