use std::fmt;
use std::sync::Arc;

use cogwork_llm::LlmClient;
use cogwork_strategies::SolveBudget;
use cogwork_tools::Tools;

/// What the tool `solve` uses.
#[derive(Clone, Default)]
pub(crate) struct SolveSettings {
    pub(crate) client: Option<Arc<dyn LlmClient>>,
    #[cfg(feature = "agents")]
    pub(crate) flow: Option<Arc<cogwork_agents::FileFlow>>,
    pub(crate) tools: Tools,
    pub(crate) budget: SolveBudget,
}

impl fmt::Debug for SolveSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SolveSettings")
            .field("tools", &self.tools)
            .field("budget", &self.budget)
            .finish_non_exhaustive()
    }
}
