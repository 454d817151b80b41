use std::fmt;
use std::sync::Arc;

use cogwork_flow::{Action, BuildError, Flow};
use cogwork_llm::{ChatRequest, LlmClient, Message};
use cogwork_tools::Tools;

use super::edges;
use super::questions::Questions;
use super::stage_node::{Shared, StageNode};
use super::{Driver, SolveBudget, SolveError, Solved, Solving};

/// Solves problems by a strategy, with a model.
///
/// ```
/// use cogwork_llm::ScriptedClient;
/// use cogwork_strategies::{SolveBudget, Solver, StrategyName};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let client = ScriptedClient::new([
///     "steps:\n- Multiply the tens.\n- Multiply the ones.\n- Add.",
///     "results:\n- 30\n- 21\n- 51\nanswer: 51",
///     "thought: 51 / 3 = 17.\nholds: yes",
/// ]);
/// let solver = Solver::new(client, StrategyName::ChainOfThought).with_budget(SolveBudget::default().with_calls(20));
/// let solved = solver.solve("What is 17 * 3?").await?;
/// assert_eq!(solved.answer(), Some("51"));
/// assert_eq!(solved.end().to_string(), "answered");
/// assert_eq!(solved.spent().calls, 3);
/// # Ok(())
/// # }
/// ```
///
/// It is a [flow](Self::into_flow) with a node for each stage and the edges of the table, so it can be
/// drawn, watched, recorded, limited and put into a larger flow like any other.
#[derive(Clone)]
pub struct Solver(Shared);

impl Solver {
    /// The run came to the final stage: its answer is [`Solving::best`].
    pub const SOLVED: Action = edges::SOLVED;
    /// The run was stopped before; [`Solving::end`] says why, and [`Solving::best`] is what there is.
    pub const STOPPED: Action = edges::STOPPED;

    /// A solver that asks this client. The strategy is a [`StrategyName`](crate::StrategyName), a
    /// [`Strategy`](crate::Strategy) read from a file, or any [`Driver`].
    pub fn new(client: impl LlmClient + 'static, driver: impl Driver + 'static) -> Self {
        let client = Arc::new(client);
        let request = ChatRequest::default();
        Self(Shared {
            strategy: driver.strategy(),
            driver: Arc::new(driver),
            questions: Questions {
                client,
                request,
                asks_again: 2,
                at_once: 8,
            },
            tools: Tools::new(),
            budget: SolveBudget::default(),
            patience: 3,
        })
    }

    /// Tools that the model may use. Default: none.
    #[must_use]
    pub fn with_tools(mut self, tools: Tools) -> Self {
        self.0.tools = tools;
        self
    }

    /// How much a problem may cost. Default: see [`SolveBudget`].
    #[must_use]
    pub fn with_budget(mut self, budget: SolveBudget) -> Self {
        self.0.budget = budget;
        self
    }

    /// The settings of every request: tokens of a reply, temperature and so on. Its messages are not used.
    /// Default: all left to the client.
    #[must_use]
    pub fn with_request(mut self, request: ChatRequest) -> Self {
        self.0.questions.request = request;
        self
    }

    /// How often a question is asked again when its reply cannot be used. Default: 2.
    #[must_use]
    pub fn with_asks_again(mut self, times: u32) -> Self {
        self.0.questions.asks_again = times;
        self
    }

    /// How many calls are made at once where several can be. Default: 8; at least 1.
    #[must_use]
    pub fn with_calls_at_once(mut self, calls: usize) -> Self {
        self.0.questions.at_once = calls.max(1);
        self
    }

    /// How often in a row the same may come before the run is stopped for want of progress. Default: 3; at
    /// least 2, at most 100.
    #[must_use]
    pub fn with_patience(mut self, times: u32) -> Self {
        self.0.patience = times.clamp(2, 100);
        self
    }

    /// The state of a run on this problem that has not begun.
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

    /// Solves a problem, or stops when the budget is spent or nothing moves any more.
    ///
    /// # Errors
    ///
    /// When the problem is empty, a call of the model fails, or no reply has what a stage needs. The thoughts
    /// so far are in [the error](SolveError::so_far).
    pub async fn solve(&self, problem: impl Into<String>) -> Result<Solved, SolveError> {
        let mut solving = self.begin(problem);
        let flow = self.clone().into_flow().map_err(SolveError::build)?;

        // The budget of thoughts is to end the run before the flow does; a few stages think nothing.
        let steps = u64::from(self.0.budget.thoughts)
            .saturating_mul(4)
            .max(10_000);
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

    /// The result of a run of the flow.
    pub fn solved(&self, solving: Solving) -> Solved {
        let plan = self.0.driver.plan(&solving);
        Solved::new(solving, plan)
    }

    /// The strategy as a flow: a node for each stage, named as the stage, and an edge for each of the
    /// table, by the name of the stage that it leads to (to a stage `stopped`, by `to stopped`). It ends on [`SOLVED`](Self::SOLVED) or
    /// [`STOPPED`](Self::STOPPED). [`begin`](Self::begin) makes its state.
    ///
    /// # Errors
    ///
    /// When a name in a table of one's own cannot be that of a node.
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

            flow = flow.end(stage.name(), Self::STOPPED);
            if stage.is_final() {
                flow = flow.end(stage.name(), Self::SOLVED);
            }
        }

        flow.build()
    }
}

impl fmt::Debug for Solver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Solver")
            .field("strategy", &self.0.strategy)
            .field("tools", &self.0.tools)
            .field("budget", &self.0.budget)
            .finish_non_exhaustive()
    }
}
