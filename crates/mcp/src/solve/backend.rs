//! What the tool `solve` solves problems with.

use std::fmt;
use std::sync::Arc;

use cogwork_llm::layers::Budget;
use cogwork_llm::{ChatRequest, LlmClient, Message};
use cogwork_strategies::{Solver, StrategyName};
use cogwork_tools::schemars::{self, JsonSchema};
use cogwork_tools::{ToolError, Tools, function};
use cogwork_typed::ask::Limits;
use serde::Deserialize;

use crate::failure::Failure;
use crate::method::Method;
use crate::{ServerBuilder, ServerError};

/// What the server can solve problems with.
pub(crate) struct Backend {
    pub(super) client: Option<Arc<dyn LlmClient>>,
    #[cfg(feature = "agents")]
    pub(super) flow: Option<Arc<cogwork_agents::FileFlow>>,
}

impl Backend {
    /// Returns what was set.
    ///
    /// # Errors
    ///
    /// Returns an error if there is nothing: a tool that cannot work would only distract the model.
    pub(crate) fn new(settings: &SolveSettings) -> Result<Self, ServerError> {
        let backend = Self {
            client: settings.client.clone(),
            #[cfg(feature = "agents")]
            flow: settings.flow.clone(),
        };
        match backend.methods().as_slice() {
            [] => Err(ServerError::of(
                "the tool `solve` has no model; set OPENAI_MODEL and OPENAI_BASE_URL or \
                 OPENAI_API_KEY in the environment, or leave it out",
            )),
            _ => Ok(backend),
        }
    }

    /// Returns the methods that can be used. The first one is the default.
    pub(super) fn methods(&self) -> Vec<Method> {
        let mut methods = Vec::new();

        #[cfg(feature = "agents")]
        if self.flow.is_some() {
            // The first one is the default, and whoever names a flow wants it.
            methods.push(Method::Flow);
        }
        if self.client.is_some() {
            methods.extend(Method::all());
        }
        methods
    }

    /// Returns the client for the methods that need one.
    pub(super) fn client(&self) -> Result<Arc<dyn LlmClient>, Failure> {
        let client = self.client.clone();
        client.ok_or_else(|| Failure::new("there is no client"))
    }

    /// Returns the solver for a run with these limits.
    pub(super) fn solver(&self, name: StrategyName, limits: Limits) -> Result<Solver, Failure> {
        let client = self.client()?;
        let solver = Solver::new(Arc::clone(&client), name).with_limits(limits);
        if !Method::Strategy(name).needs_tools() {
            return Ok(solver);
        }

        // The solver doesn't count what a tool asks a model, so the client does.
        let client = Budget::new(client)
            .with_calls(limits.calls.map_or(u64::MAX, u64::from))
            .with_tokens(limits.tokens.unwrap_or(u64::MAX));
        let tools = asking(client.clone());
        Ok(solver.with_client(client).with_tools(tools))
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
            // Models call tools with empty arguments.
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

impl SolveSettings {
    pub(crate) fn has_flow(&self) -> bool {
        #[cfg(feature = "agents")]
        let has_flow = self.flow.is_some();
        #[cfg(not(feature = "agents"))]
        let has_flow = false;
        has_flow
    }
}

impl fmt::Debug for SolveSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SolveSettings").finish_non_exhaustive()
    }
}

impl ServerBuilder {
    /// Sets the client with which the tool `solve` solves problems. By default, there is none.
    ///
    /// ```
    /// use cogwork_llm::ScriptedClient;
    /// use cogwork_llm::layers::{Backoff, Retry};
    /// use cogwork_mcp::Server;
    ///
    /// # fn main() -> Result<(), cogwork_mcp::ServerError> {
    /// let client = ScriptedClient::new(["answer: 51"]);
    /// let server = Server::builder()
    ///     .with_client(Retry::new(client, Backoff::default()))
    ///     .with_built_in_tools(["solve"])
    ///     .open()?;
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
    /// `OPENAI_MODEL` isn't set, the server has no client.
    ///
    /// # Errors
    ///
    /// Returns an error that names the variable that is missing or invalid.
    #[cfg(feature = "openai")]
    pub fn with_client_from_env(self) -> Result<Self, ServerError> {
        use cogwork_llm::OpenAiClient;
        use cogwork_llm::layers::{Backoff, Retry};

        let model = std::env::var_os("OPENAI_MODEL");
        if model.is_none_or(|model| model.is_empty()) {
            return Ok(self);
        }

        let client = OpenAiClient::from_env().map_err(ServerError::of)?;
        // A run of minutes shouldn't fail at one refused call.
        Ok(self.with_client(Retry::new(client, Backoff::default())))
    }

    /// Sets a flow from a file as another method of the tool `solve`, under the name `flow`. The
    /// problem is the input of the flow, and its answer is the answer. The flow has its own clients
    /// and limits. The tool is then one of those that the server has by default.
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
