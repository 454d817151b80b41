use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use cogwork_flow::{Action, BuildError, Flow};
use cogwork_llm::{ChatRequest, LlmClient, Message};
use cogwork_tools::Tools;
use cogwork_typed::ask::{Format, Ladder, Limits};

use super::edges;
use super::questions::Questions;
use super::shared::Shared;
use super::stage_node::StageNode;
use super::{Driver, SolveError, SolveOptions, Solved, Solving};

/// Solves problems with a strategy and a model.
///
/// ```
/// use cogwork_llm::ScriptedClient;
/// use cogwork_strategies::{Limits, Solver, StrategyName};
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
/// assert_eq!(solved.end().to_string(), "answered");
/// assert_eq!(solved.spent().calls, 3);
/// # Ok(())
/// # }
/// ```
///
/// Cloning a solver is cheap, and many runs can share it. [`SolveOptions`] change the settings of one
/// run.
///
/// A solver is a [flow](Self::into_flow) with a node for each stage and the edges of the table. It
/// can be drawn, observed, recorded, limited and embedded in a larger flow like any other flow.
#[derive(Clone)]
pub struct Solver(Shared);

impl Solver {
    /// The action of a run that reached its final stage. [`Solving::best`] returns the answer.
    pub const SOLVED: Action = edges::SOLVED;
    /// The action of a run that was stopped before its final stage. [`Solving::end`] returns the
    /// reason, and [`Solving::best`] the best answer so far.
    pub const STOPPED: Action = edges::STOPPED;

    /// Creates a solver that asks `client`.
    ///
    /// `driver` is a [`StrategyName`](crate::StrategyName), a [`Strategy`](crate::Strategy) read
    /// from a file, or a custom [`Driver`].
    pub fn new(client: impl LlmClient + 'static, driver: impl Into<Box<dyn Driver>>) -> Self {
        let client = Arc::new(client);
        let driver = driver.into();
        let request = ChatRequest::default();
        Self(Shared {
            strategy: driver.strategy(),
            driver: Arc::from(driver),
            questions: Questions {
                client,
                request,
                format: Format::default(),
                ladder: Ladder::default(),
                asks_again: 2,
                at_once: 8,
            },
            tools: Tools::new(),
            limits: default_limits(),
        })
    }

    /// Sets the client.
    #[must_use]
    pub fn with_client(mut self, client: impl LlmClient + 'static) -> Self {
        self.0.questions.set_client(Arc::new(client));
        self
    }

    /// Sets the tools that the model may use. By default, there are none.
    #[must_use]
    pub fn with_tools(mut self, tools: Tools) -> Self {
        self.0.tools = tools;
        self
    }

    /// Sets the limits of a run. See [`Limits`] for the defaults.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.0.limits = limits.or(default_limits());
        self
    }

    /// Sets the parameters of every request, such as the temperature and the maximum number of
    /// tokens of a reply. The messages of `request` are ignored. By default, the client chooses all
    /// parameters.
    #[must_use]
    pub fn with_request(mut self, request: ChatRequest) -> Self {
        self.0.questions.request = request;
        self
    }

    /// Sets the form in which replies are requested first, as a [`Format`] or a
    /// [`Rung`](cogwork_typed::ask::Rung). The default is [`Format::Auto`].
    ///
    /// If the server refuses a form, the next looser one is tried. This is remembered for all
    /// further questions of this solver and its clones. If the [request](Self::with_request) has a
    /// format, replies are requested as lines of text.
    ///
    /// With a JSON Schema, the length of each text is limited to at most 1,900 characters, so that
    /// the longest reply fits into the request's maximum number of tokens (8,192 if it has none).
    /// For longer answers, use [`Rung::FlatSchema`](cogwork_typed::ask::Rung::FlatSchema) or a looser
    /// rung.
    #[must_use]
    pub fn with_format(mut self, format: impl Into<Format>) -> Self {
        self.0.questions.format = format.into();
        self
    }

    /// Sets how often the model is asked again when a reply can't be used. The default is 2.
    #[must_use]
    pub fn with_asks_again(mut self, times: u32) -> Self {
        self.0.questions.asks_again = times;
        self
    }

    /// Sets the maximum number of concurrent calls, which is at least 1. The default is 8.
    #[must_use]
    pub fn with_calls_at_once(mut self, calls: usize) -> Self {
        self.0.questions.at_once = calls.max(1);
        self
    }

    /// Returns the initial state of a run for a problem.
    pub fn begin(&self, problem: impl Into<String>) -> Solving {
        let problem = problem.into();
        let opening = [
            Message::system(
                self.0
                    .driver
                    .instructions(&self.0.tools, self.0.questions.native_tools()),
            ),
            Message::user(format!("The problem:\n{}", problem.trim())),
        ];

        Solving::new(self.0.strategy.clone(), problem, opening)
    }

    /// Solves a problem, or stops once a limit is reached, the session is full, or the thoughts
    /// repeat.
    ///
    /// # Errors
    ///
    /// Returns an error if the problem is empty, if a call to the model fails, or if no reply can
    /// be used. [`SolveError::so_far`] contains the thoughts up to that point.
    pub async fn solve(&self, problem: impl Into<String>) -> Result<Solved, SolveError> {
        self.solve_with(problem, SolveOptions::default()).await
    }

    /// Solves a problem with other settings, such as limits for this problem.
    ///
    /// # Errors
    ///
    /// Returns an error in the same cases as [`solve`](Self::solve).
    pub async fn solve_with(
        &self,
        problem: impl Into<String>,
        options: SolveOptions,
    ) -> Result<Solved, SolveError> {
        // The instructions depend on the client.
        let shared = Arc::new(self.0.clone()).with_options(&options);
        let steps = shared.limits.max_steps();
        let begun = Self(Shared::clone(&shared)).begin(problem);

        let mut solving = begun.with_options(options);
        let flow = self.clone().into_flow().map_err(SolveError::build)?;

        match flow
            .begin()
            .with_max_steps(steps)
            .finish(&mut solving)
            .await
        {
            Ok(_) => Ok(self.solved(solving)),
            Err(error) => Err(SolveError::of_run(error, solving)),
        }
    }

    /// Returns the result of a run of the flow.
    pub fn solved(&self, solving: Solving) -> Solved {
        let plan = self.0.driver.plan(&solving);
        Solved::new(solving, plan)
    }

    /// Returns the strategy as a flow.
    ///
    /// The flow has a node for each stage, with the name of the stage. The action of an edge is the
    /// name of the next stage; for a stage called `stopped`, it is `to stopped`. The flow ends with
    /// the action [`SOLVED`](Self::SOLVED) or [`STOPPED`](Self::STOPPED). [`begin`](Self::begin)
    /// returns its initial state.
    ///
    /// A run can stop in every stage. Drawings of the flow omit these edges, and the page of a run
    /// shows only the one that it took.
    ///
    /// # Errors
    ///
    /// Returns an error if the name of a stage can't be used for a node.
    pub fn into_flow(self) -> Result<Flow<Solving>, BuildError> {
        let shared = Arc::new(self.0);
        let strategy = shared.strategy.clone();
        let mut flow = Flow::builder(strategy.name()).start(strategy.start().name());

        for stage in strategy.stages() {
            flow = flow.node(
                stage.name(),
                StageNode {
                    shared: Arc::clone(&shared),
                    stage: stage.clone(),
                },
            );

            for next in stage.next_names() {
                flow = flow.edge(stage.name(), edges::to_stage(next), next.as_str());
            }

            // A run can stop in any stage.
            flow = flow.hidden_end(stage.name(), Self::STOPPED);
            if stage.is_final() {
                flow = flow.end(stage.name(), Self::SOLVED);
            }
        }

        flow.build()
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

impl fmt::Debug for Solver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Solver")
            .field("strategy", &self.0.strategy)
            .field("tools", &self.0.tools)
            .field("limits", &self.0.limits)
            .finish_non_exhaustive()
    }
}
