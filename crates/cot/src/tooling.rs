//! Which tools the model may call in a turn, and how it calls them.

use std::collections::BTreeSet;
use std::sync::Arc;

use cogwork_llm::{Capability, LlmClient};
use cogwork_tools::{ToolError, Tools};

/// The tools of a node.
#[derive(Debug, Clone)]
pub(crate) struct Tooling {
    pub(crate) tools: Arc<Tools>,
    /// The maximum number of replies of a turn whose calls are made.
    pub(crate) rounds: u32,
    /// The names of the tools whose calls wait for a person.
    pub(crate) approval: Arc<BTreeSet<String>>,
}

impl Default for Tooling {
    fn default() -> Self {
        Self {
            tools: Arc::default(),
            rounds: 8,
            approval: Arc::default(),
        }
    }
}

impl Tooling {
    pub(crate) fn has_tools(&self) -> bool {
        !self.tools.is_empty()
    }

    /// Returns how a model behind `client` calls the tools.
    pub(crate) fn calling(&self, client: &dyn LlmClient) -> Calling {
        if self.tools.is_empty() {
            Calling::Never
        } else if client.capabilities().has(Capability::Tools) {
            Calling::Natively
        } else {
            Calling::InReplies
        }
    }
}

impl Tooling {
    /// Returns an error if the calls of an unknown tool would wait for a person. With a misspelt
    /// name, the calls of the tool that was meant would not wait.
    pub(crate) fn check(&self) -> Result<(), ToolError> {
        let names = self.approval.iter();
        self.tools.only(names).map(|_| ())
    }
}

/// How a model calls tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Calling {
    /// There are no tools.
    Never,
    /// The server supports tools.
    Natively,
    /// The prompts describe the tools, and the model writes calls into its reply.
    InReplies,
}
