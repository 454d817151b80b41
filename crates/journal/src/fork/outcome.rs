use cogwork_flow::journal::Json;

/// A recorded outcome.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ForkOutcome {
    /// The name of the step, of a part of it, or of a call in it.
    pub step: String,
    /// The outcome. For a wait, this is the answer.
    pub outcome: Json,
}
