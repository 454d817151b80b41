//! The names of the stages, fields, parameters and notes.

use crate::drivers::stage_names::stage_names;

stage_names! {
    /// The stages of `tree_of_thoughts`.
    pub(super) enum TreeStage for TreeOfThoughts {
        ProblemReception = "problem_reception",
        ApproachExploration = "approach_exploration",
        BranchCreation = "branch_creation",
        BranchDevelopment = "branch_development",
        BranchEvaluation = "branch_evaluation",
        BranchSelection = "branch_selection",
        ContinuationDecision = "continuation_decision",
        SolutionFormulation = "solution_formulation",
        PathJustification = "path_justification",
        FinalResponse = "final_response",
    }
}

/// The parameter with the approaches.
pub(super) const APPROACHES: &str = "approaches";

/// The parameter with the name of a branch's approach.
pub(super) const APPROACH: &str = "approach_id";

/// The field and the parameter with the score of a branch.
pub(super) const SCORE: &str = "evaluation_score";
