use std::fmt;
use std::sync::Arc;

use cogwork_llm::{ChatRequest, LlmClient};
use cogwork_typed::ask::{Limits, RefusedFormats};

use crate::{ChainOfThought, Reporter};

/// Settings for one run, which replace those of the [`ChainOfThought`].
///
/// A service builds one flow when it starts, and sets the limits of each request on its state:
///
/// ```
/// use cogwork_cot::{ChainOfThought, Limits, Reasoning, RunOptions, ScriptedClient};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let client = ScriptedClient::new(["\
/// # ```yaml
/// # current_thinking: 2 + 2 = 4.
/// # planning:
/// #   - {description: Conclusion, status: Done, result: 4}
/// # next_thought_needed: false
/// # ```"]);
/// let flow = ChainOfThought::new(client).into_flow();
///
/// let limits = Limits::default().with_tokens(20_000);
/// let options = RunOptions::default().with_limits(limits);
/// let mut reasoning = Reasoning::new("What is 2 + 2?").with_options(options);
/// flow.run(&mut reasoning).await?;
/// # assert_eq!(reasoning.answer(), Some("4"));
/// # Ok(())
/// # }
/// ```
///
/// The options aren't serialised. If a saved state is resumed, set them again.
#[derive(Clone, Default)]
pub struct RunOptions {
    limits: Limits,
    request: Option<ChatRequest>,
    reporter: Option<Arc<dyn Reporter>>,
    client: Option<Arc<dyn LlmClient>>,
    /// The forms that the server of `client` has refused, or `None` if they are those of the node.
    refused: Option<RefusedFormats>,
}

impl RunOptions {
    /// Sets limits. The others are those of the node.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the options of every request, as
    /// [`ChainOfThought::with_request`] does. The default is those of the node.
    #[must_use]
    pub fn with_request(mut self, request: ChatRequest) -> Self {
        self.request = Some(request);
        self
    }

    /// Sets the reporter. The default is that of the node.
    #[must_use]
    pub fn with_reporter(mut self, reporter: impl Reporter + 'static) -> Self {
        self.reporter = Some(Arc::new(reporter));
        self
    }

    /// Sets the client. The default is that of the node.
    ///
    /// The forms that the server has refused are remembered by these options and their clones, not
    /// by the node.
    #[must_use]
    pub fn with_client(mut self, client: impl LlmClient + 'static) -> Self {
        self.client = Some(Arc::new(client));
        self.refused = Some(RefusedFormats::default());
        self
    }

    /// Sets a client for the same server and model as the node's, for example with another key. The
    /// forms that the server has refused are remembered by the node.
    #[must_use]
    pub fn with_client_of_same_server(mut self, client: impl LlmClient + 'static) -> Self {
        self.client = Some(Arc::new(client));
        self.refused = None;
        self
    }

    /// Returns a node with these settings instead of its own. It shares everything else with
    /// `node`.
    pub(crate) fn node(&self, node: &ChainOfThought) -> ChainOfThought {
        let mut node = node.clone();

        node.limits = self.limits.or(node.limits);
        if let Some(request) = &self.request {
            node.request = request.clone();
        }
        if let Some(reporter) = &self.reporter {
            node.reporter = Some(Arc::clone(reporter));
        }
        if let Some(client) = &self.client {
            node.client = Arc::clone(client);
        }
        if let Some(refused) = &self.refused {
            node.refused = refused.clone();
        }

        node
    }
}

impl fmt::Debug for RunOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunOptions")
            .field("limits", &self.limits)
            .field("request", &self.request)
            .finish_non_exhaustive()
    }
}
