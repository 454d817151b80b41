use std::fmt;
use std::sync::Arc;

use cogwork_llm::{ChatRequest, LlmClient};
use cogwork_typed::ask::Limits;

/// Settings for one run, which replace those of the [`Solver`](super::Solver).
///
/// ```
/// use cogwork_llm::ScriptedClient;
/// use cogwork_strategies::{Limits, SolveOptions, Solver, StrategyName};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let client = ScriptedClient::new(["answer: 51"]);
/// let solver = Solver::new(client, StrategyName::StepBack);
///
/// let options = SolveOptions::default().with_limits(Limits::default().with_calls(1));
/// let solved = solver.solve_with("What is 17 * 3?", options).await?;
///
/// assert_eq!(solved.answer(), Some("51"));
/// assert!(!solved.is_answered());
/// assert_eq!(solved.end().to_string(), "the budget of 1 calls is spent");
/// # Ok(())
/// # }
/// ```
///
/// The options aren't serialised. If a saved state is resumed, set them again with
/// [`Solving::with_options`](super::Solving::with_options).
#[derive(Clone, Default)]
pub struct SolveOptions {
    pub(super) limits: Limits,
    pub(super) request: Option<ChatRequest>,
    pub(super) client: Option<Arc<dyn LlmClient>>,
}

impl SolveOptions {
    /// Sets limits. The others are those of the solver.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the parameters of every request, as
    /// [`Solver::with_request`](super::Solver::with_request) does. The default is those of the
    /// solver.
    #[must_use]
    pub fn with_request(mut self, request: ChatRequest) -> Self {
        self.request = Some(request);
        self
    }

    /// Sets the client. The default is that of the solver.
    #[must_use]
    pub fn with_client(mut self, client: impl LlmClient + 'static) -> Self {
        self.client = Some(Arc::new(client));
        self
    }

    /// Returns whether all settings are those of the solver.
    pub(super) fn is_empty(&self) -> bool {
        self.limits == Limits::default() && self.request.is_none() && self.client.is_none()
    }
}

impl fmt::Debug for SolveOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SolveOptions")
            .field("limits", &self.limits)
            .field("request", &self.request)
            .finish_non_exhaustive()
    }
}
