use std::sync::Arc;
use std::time::Duration;

use cogwork_flow::{Action, BuildError, Flow};
use cogwork_llm::{ChatRequest, LlmClient, Message, Messages};
use cogwork_tools::Tools;
use cogwork_typed::ask::{Format, Limits, RefusedFormats};

use super::step::{MORE, SolveNode};
use super::{Method, SolveError, Solving};
use crate::Strategy;

/// Solves problems with a strategy and a model.
///
/// ```
/// use cogwork_llm::ScriptedClient;
/// use cogwork_strategies::{Solver, StrategyName};
/// use cogwork_typed::ask::Limits;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let client = ScriptedClient::new([
///     "steps:\n- Multiply the tens.\n- Multiply the ones.\n- Add.",
///     "results:\n- 30\n- 21\n- 51\nanswer: 51",
///     "thought: 51 / 3 = 17.\nholds: yes",
/// ]);
/// let solver = Solver::new(client, StrategyName::ChainOfThought).with_limits(Limits::default().with_calls(20));
/// let solved = solver.solve("What is 17 * 3?").await?;
/// assert_eq!(solved.answer(), Some("51"));
/// assert!(solved.is_answered());
/// assert_eq!(solved.spent().calls, 3);
/// # Ok(())
/// # }
/// ```
///
/// Cloning a solver is cheap, and many runs can share it. For a run with other settings, change a
/// clone.
///
/// A solver is a [flow](Self::into_flow), which can be observed, recorded, limited and embedded in a
/// larger flow like any other.
#[derive(Clone)]
pub struct Solver {
    pub(super) method: Arc<dyn Method>,
    pub(super) strategy: Strategy,
    pub(super) client: Arc<dyn LlmClient>,
    pub(super) request: ChatRequest,
    pub(super) format: Option<Format>,
    pub(super) refused: RefusedFormats,
    pub(super) asks_again: u32,
    pub(super) at_once: usize,
    pub(super) tools: Tools,
    pub(super) limits: Limits,
}

impl Solver {
    /// The action of a run that reached its final stage.
    pub const SOLVED: Action = Action::from_static("solved");
    /// The action of a run that was stopped before its final stage. [`Solving::end`] returns the
    /// reason, and [`Solving::answer`] the best answer so far.
    pub const STOPPED: Action = Action::from_static("stopped");

    /// Creates a solver that asks `client`.
    ///
    /// `method` is a [`StrategyName`](crate::StrategyName), a [`Strategy`](crate::Strategy) read
    /// from a file, a built-in method with settings, or a custom [`Method`].
    pub fn new(client: impl LlmClient + 'static, method: impl Into<Box<dyn Method>>) -> Self {
        let method = method.into();
        Self {
            strategy: method.strategy(),
            method: Arc::from(method),
            client: Arc::new(client),
            request: ChatRequest::default(),
            format: None,
            refused: RefusedFormats::default(),
            asks_again: 2,
            at_once: 8,
            tools: Tools::new(),
            limits: default_limits(),
        }
    }

    /// Sets the client.
    #[must_use]
    pub fn with_client(mut self, client: impl LlmClient + 'static) -> Self {
        // What another client has refused says nothing about this one.
        self.refused = RefusedFormats::default();
        self.client = Arc::new(client);
        self
    }

    /// Sets the tools that the model may use. By default, there are none.
    #[must_use]
    pub fn with_tools(mut self, tools: Tools) -> Self {
        self.tools = tools;
        self
    }

    /// Sets the limits of a run. See [`Limits`] for the defaults. The limit on thoughts
    /// also limits the batches of calls, so that no loop is endless.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits.or(default_limits());
        self
    }

    /// Sets the parameters of every request, such as the temperature and the maximum number of
    /// tokens of a reply. The messages of `request` are ignored. By default, the client chooses all
    /// parameters.
    #[must_use]
    pub fn with_request(mut self, request: ChatRequest) -> Self {
        self.request = request;
        self
    }

    /// Sets the form in which replies are requested first. The default is the tightest one that the
    /// client supports.
    ///
    /// If the server refuses a form, the next looser one is tried. This is remembered for all
    /// further questions of this solver and its clones. If the [request](Self::with_request) has a
    /// format, replies are requested as lines of text.
    ///
    /// With a JSON Schema, the length of each text is limited to at most 1,900 characters, so that
    /// the longest reply fits into the request's maximum number of tokens (8,192 if it has none).
    /// For longer answers, use [`Format::FlatSchema`] or a looser
    /// format.
    #[must_use]
    pub fn with_format(mut self, format: impl Into<Option<Format>>) -> Self {
        self.format = format.into();
        self
    }

    /// Sets how often the model is asked again when a reply can't be used. The default is 2.
    #[must_use]
    pub fn with_asks_again(mut self, times: u32) -> Self {
        self.asks_again = times;
        self
    }

    /// Sets the maximum number of concurrent calls, which is at least 1. The default is 8.
    #[must_use]
    pub fn with_calls_at_once(mut self, calls: usize) -> Self {
        self.at_once = calls.max(1);
        self
    }

    /// Returns the initial state of a run for a problem.
    pub fn begin(&self, problem: impl Into<String>) -> Solving {
        Solving::new(self.strategy.clone(), problem.into())
    }

    /// Solves a problem, or stops once a limit is reached, the session is full, or the thoughts
    /// repeat.
    ///
    /// # Errors
    ///
    /// Returns an error if the problem is empty, if a call to the model fails, or if no reply can
    /// be used. [`SolveError::so_far`] contains the thoughts up to that point.
    pub async fn solve(&self, problem: impl Into<String>) -> Result<Solving, SolveError> {
        let mut solving = self.begin(problem);
        let flow = self.clone().into_flow();
        let flow = flow.map_err(|error| SolveError::method(error.to_string()))?;
        let mut run = flow.begin().with_max_steps(self.limits.max_steps());

        match run.finish(&mut solving).await {
            Ok(_) => Ok(solving),
            Err(error) => Err(SolveError::of_run(error, solving)),
        }
    }

    /// Returns a flow that solves problems.
    ///
    /// The flow has one node, which makes the calls that the strategy waits for, one or several at
    /// the same time, and repeats until the end. A run that fails continues with the calls that
    /// failed. The flow ends with the action [`SOLVED`](Self::SOLVED) or [`STOPPED`](Self::STOPPED).
    /// [`begin`](Self::begin) returns its initial state.
    ///
    /// # Errors
    ///
    /// Returns an error if the name of the strategy can't be used for a flow.
    pub fn into_flow(self) -> Result<Flow<Solving>, BuildError> {
        const NODE: &str = "solve";

        Flow::builder(self.strategy.clone().name())
            .start(NODE)
            .node(NODE, SolveNode(self))
            .edge(NODE, MORE, NODE)
            .end(NODE, Self::SOLVED)
            .end(NODE, Self::STOPPED)
            .build()
    }

    /// Returns the beginning of the conversation: the instructions and the problem.
    pub(super) fn opening(&self, problem: &str) -> Messages {
        let native_tools = self.native_tools();
        let instructions = self.method.instructions(&self.tools, native_tools);
        let problem = format!("The problem:\n{}", problem.trim());
        Messages::from_iter([Message::system(instructions), Message::user(problem)])
    }
}

/// The limits that are not set.
fn default_limits() -> Limits {
    Limits::default()
        .with_calls(100)
        .with_tokens(500_000)
        .with_bytes(64 * 1024 * 1024)
        .with_thoughts(500)
        .with_time(Duration::from_secs(15 * 60))
}
