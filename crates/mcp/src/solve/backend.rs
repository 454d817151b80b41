//! What the tool `solve` solves problems with.

use std::fmt;
use std::sync::Arc;

use cogwork_cot::{ChainOfThought, Flow, Reasoning};
use cogwork_llm::{Budget, ChatRequest, LlmClient, Message};
use cogwork_strategies::{Limits, Solver, StrategyName};
use cogwork_tools::schemars::{self, JsonSchema};
use cogwork_tools::{ToolError, Tools, function};
use serde::Deserialize;

use crate::ServerBuilder;
use crate::method::Method;

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
    pub(super) fn methods(&self) -> Vec<Method> {
        let mut methods = Vec::new();

        #[cfg(feature = "agents")]
        if self.flow.is_some() {
            methods.push(Method::Flow);
        }
        if self.client.is_some() {
            methods.extend(Method::all());
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

    /// Returns the solver for a run with these limits.
    pub(super) fn solver(&self, strategy: StrategyName, limits: &Limits) -> Option<Solver> {
        let mut solvers = self.solvers.iter();
        let found = solvers.find(|(name, _)| *name == strategy);
        let solver = found.map(|(_, solver)| solver.clone())?;

        if !Method::Strategy(strategy).needs_tools() {
            return Some(solver);
        }

        // The solver doesn't count what a tool asks a model, so the client does.
        let client = Budget::new(Arc::clone(&self.client))
            .with_calls(limits.calls.map_or(u64::MAX, u64::from))
            .with_tokens(limits.tokens.unwrap_or(u64::MAX));
        let tools = asking(client.clone());
        Some(solver.with_client(client).with_tools(tools))
    }
}

/// The input of the tool `ask`.
#[derive(Deserialize, JsonSchema)]
struct Question {
    question: String,
}

/// Returns tools that consist of a question to this model, without the rest of the conversation.
fn asking(client: impl LlmClient + 'static) -> Tools {
    let client = Arc::new(client);
    let description =
        "Answers a question on its own, from general knowledge. It sees nothing but the question.";
    let ask = function("ask", description, move |Question { question }| {
        let client = Arc::clone(&client);
        async move {
            if question.trim().is_empty() {
                return Err(ToolError::input("expected a text in `question`"));
            }
            let request = ChatRequest::new([Message::user(question)]);
            let response = client.complete(request).await.map_err(ToolError::failed)?;
            Ok(response.into_text())
        }
    });
    // A set of one tool has no duplicates.
    Tools::new().with(ask).unwrap_or_default()
}

/// What the tool `solve` uses.
#[derive(Clone, Default)]
pub(crate) struct SolveSettings {
    pub(crate) client: Option<Arc<dyn LlmClient>>,
    #[cfg(feature = "agents")]
    pub(crate) flow: Option<Arc<cogwork_agents::FileFlow>>,
}

impl fmt::Debug for SolveSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SolveSettings").finish_non_exhaustive()
    }
}

impl ServerBuilder {
    /// Sets the client with which the tool `solve` solves problems. By default, there is none, and
    /// `solve` isn't listed: a tool that cannot work would only distract the model.
    ///
    /// ```
    /// use cogwork_llm::{Backoff, Retry, ScriptedClient};
    /// use cogwork_mcp::Server;
    ///
    /// # fn main() -> Result<(), cogwork_mcp::ServerError> {
    /// let client = ScriptedClient::new(["answer: 51"]);
    /// let server = Server::builder().with_client(Retry::new(client, Backoff::default())).open()?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_client(mut self, client: impl LlmClient + 'static) -> Self {
        self.solve.client = Some(Arc::new(client));
        self
    }

    /// Sets the client of the tool `solve` to the OpenAI-compatible server in the environment:
    /// `OPENAI_MODEL`, `OPENAI_BASE_URL` and `OPENAI_API_KEY`. Temporary failures are retried. If
    /// `OPENAI_MODEL` isn't set, there is no client.
    ///
    /// # Errors
    ///
    /// Returns an error that names the variable that is missing or invalid.
    #[cfg(feature = "openai")]
    pub fn with_client_from_env(self) -> Result<Self, crate::ServerError> {
        use cogwork_llm::{Backoff, OpenAiClient, Retry};

        let model = std::env::var_os("OPENAI_MODEL");
        if model.is_none_or(|model| model.is_empty()) {
            return Ok(self);
        }

        let client = OpenAiClient::from_env().map_err(crate::ServerError::of)?;
        Ok(self.with_client(Retry::new(client, Backoff::default())))
    }

    /// Sets a flow from a file as another method of the tool `solve`, under the name `flow`. The
    /// problem is the input of the flow, and its answer is the answer. The flow has its own clients
    /// and limits.
    ///
    /// ```
    /// use cogwork_agents::Loader;
    /// use cogwork_mcp::Server;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let flow = Loader::new().load_text("echo.yaml", "
    /// name: echo
    /// nodes:
    ///   - {id: echo, type: agent, config: {provider: scripted, replies: [Hello.], role: You greet.}}
    /// edges:
    ///   - {from: echo, to: end}
    /// ")?;
    /// let server = Server::builder().with_flow(flow).open()?;
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "agents")]
    #[must_use]
    pub fn with_flow(mut self, flow: cogwork_agents::FileFlow) -> Self {
        self.solve.flow = Some(Arc::new(flow));
        self
    }
}
