//! The names of the stages, fields and notes.

use crate::drivers::stage_names::stage_names;

stage_names! {
    /// The stages of `linear`.
    pub(super) enum LinearStage for Linear {
        ProblemReception = "problem_reception",
        InitialThoughtPlanning = "initial_thought_planning",
        ThoughtGeneration = "thought_generation",
        ThoughtEvaluation = "thought_evaluation",
        ThoughtRevision = "thought_revision",
        ContinuationDecision = "continuation_decision",
        ThoughtAdjustment = "thought_adjustment",
        BranchCreation = "branch_creation",
        HypothesisGeneration = "hypothesis_generation",
        HypothesisVerification = "hypothesis_verification",
        SolutionFinalization = "solution_finalization",
        FinalResponse = "final_response",
    }
}

/// The field with the number of further thoughts that the model expects, and the note that keeps it
/// until it is used.
pub(super) const NEEDED: &str = "thoughts_needed";

/// The note with the stage that the model chose with its evaluation, until the decision.
pub(super) const DECISION: &str = "decision";

/// The field with the number of the revised thought.
pub(super) const REVISES: &str = "revises_thought";

/// The field with the number of the thought where a branch starts.
pub(super) const FROM: &str = "branch_from_thought";

/// The field with the name of a new branch.
pub(super) const BRANCH: &str = "branch_id";

/// The field with the hypothesis.
pub(super) const HYPOTHESIS: &str = "hypothesis";

/// The field with the test of the hypothesis.
pub(super) const VERIFICATION: &str = "verification";
