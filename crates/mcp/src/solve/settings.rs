//! What the tool `solve` uses.

use std::fmt;
use std::sync::Arc;

use cogwork_llm::LlmClient;

use crate::ServerBuilder;

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
