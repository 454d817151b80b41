//! The options after an evaluation.

use super::names::LinearStage;

/// A way to continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Revise,
    ThinkMore,
    Branch,
    Conclude,
}

impl Way {
    /// Returns the next stage.
    pub(super) fn stage(self) -> LinearStage {
        match self {
            Self::Revise => LinearStage::ThoughtRevision,
            Self::ThinkMore => LinearStage::ThoughtAdjustment,
            Self::Branch => LinearStage::BranchCreation,
            Self::Conclude => LinearStage::HypothesisGeneration,
        }
    }

    /// Returns when the model should choose it. The text follows the name of the stage.
    pub(super) fn purpose(self) -> &'static str {
        match self {
            Self::Revise => "to put a wrong thought right",
            Self::ThinkMore => "to think more",
            Self::Branch => "to try another way",
            Self::Conclude => "when you see a solution",
        }
    }
}
