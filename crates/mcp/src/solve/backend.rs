//! The methods by which runs solve problems.

use std::fmt;
use std::sync::Arc;

use cogwork_cot::{ChainOfThought, Flow, Reasoning};
use cogwork_llm::{Budget, LlmClient};
use cogwork_strategies::{SolveBudget, Solver, StrategyName};

use super::ask::asking;
use super::settings::SolveSettings;
use crate::method::Method;

/// The name of the flow from a file.
const FLOW: &str = "flow";

/// What the server can solve problems with.
pub(super) struct Backend {
    client: Option<ClientBackend>,
    #[cfg(feature = "agents")]
    pub(super) flow: Option<Arc<cogwork_agents::FileFlow>>,
}

/// The methods that need a client. They are shared by all runs, because they remember which forms of
/// replies the server of the client has refused.
pub(super) struct ClientBackend {
    pub(super) client: Arc<dyn LlmClient>,
    solvers: Vec<(StrategyName, Solver)>,
    pub(super) reasoning: Flow<Reasoning>,
}

/// How a run solves a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SolveMethod {
    /// By the client.
    Client(Method),
    /// By the flow from a file.
    Flow,
}

impl SolveMethod {
    /// Returns the method of this name, which may be another name of a strategy.
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            FLOW => Some(Self::Flow),
            name => Method::named(name).map(Self::Client),
        }
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Client(method) => method.as_str(),
            Self::Flow => FLOW,
        }
    }
}

impl fmt::Display for SolveMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Backend {
    pub(super) fn new(settings: &SolveSettings) -> Self {
        let client = settings.client.as_ref();
        Self {
            client: client.map(ClientBackend::new),
            #[cfg(feature = "agents")]
            flow: settings.flow.clone(),
        }
    }

    pub(super) fn client(&self) -> Option<&ClientBackend> {
        self.client.as_ref()
    }

    /// Returns the methods that can be used. The first one is the default.
    pub(super) fn methods(&self) -> Vec<SolveMethod> {
        let mut methods = Vec::new();

        #[cfg(feature = "agents")]
        if self.flow.is_some() {
            methods.push(SolveMethod::Flow);
        }
        if self.client.is_some() {
            methods.extend(Method::all().map(SolveMethod::Client));
        }
        methods
    }
}

impl ClientBackend {
    fn new(client: &Arc<dyn LlmClient>) -> Self {
        let solver = |name| (name, Solver::new(Arc::clone(client), name));
        Self {
            client: Arc::clone(client),
            solvers: StrategyName::ALL.map(solver).into(),
            reasoning: ChainOfThought::new(Arc::clone(client)).into_flow(),
        }
    }

    /// Returns the solver for a run with this budget.
    pub(super) fn solver(&self, strategy: StrategyName, budget: &SolveBudget) -> Option<Solver> {
        let mut solvers = self.solvers.iter();
        let found = solvers.find(|(name, _)| *name == strategy);
        let solver = found.map(|(_, solver)| solver.clone())?;

        if !Method::Strategy(strategy).needs_tools() {
            return Some(solver);
        }

        // The solver doesn't count what a tool asks a model, so the client does.
        let client = Budget::new(Arc::clone(&self.client))
            .with_calls(budget.calls.into())
            .with_tokens(budget.tokens);
        let tools = asking(client.clone());
        Some(solver.with_client(client).with_tools(tools))
    }
}
