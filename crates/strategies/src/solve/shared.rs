//! The settings of a solver.

use std::sync::Arc;

use cogwork_llm::Message;
use cogwork_tools::Tools;
use cogwork_typed::ask::Limits;

use super::Method;
use super::questions::Questions;
use crate::Strategy;

/// What all runs of a solver share.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) method: Arc<dyn Method>,
    pub(super) strategy: Strategy,
    pub(super) questions: Questions,
    pub(super) tools: Tools,
    pub(super) limits: Limits,
}

impl Shared {
    /// Returns the beginning of the conversation: the instructions and the problem.
    pub(super) fn opening(&self, problem: &str) -> [Message; 2] {
        let native_tools = self.questions.native_tools();
        let instructions = self.method.instructions(&self.tools, native_tools);
        [
            Message::system(instructions),
            Message::user(format!("The problem:\n{}", problem.trim())),
        ]
    }

    /// Returns the settings of a run with these limits.
    pub(super) fn with_limits(self: &Arc<Self>, limits: Limits) -> Arc<Self> {
        if limits == Limits::default() {
            return Arc::clone(self);
        }

        Arc::new(Self {
            limits: limits.or(self.limits),
            ..Self::clone(self)
        })
    }
}
