use cogwork_flow::journal::Json;

/// What a fork begins with, as [`Store::preview_fork`](crate::Store::preview_fork) returns it.
#[derive(Debug)]
#[non_exhaustive]
pub struct ForkPreview<S> {
    /// The step at which the runs part.
    pub step: u64,
    /// The outcomes of this step that are on record in the other run, in the order in which they were
    /// recorded. Those are what [`Fork::with_outcome`](crate::Fork::with_outcome) and
    /// [`Fork::with_outcome_of`](crate::Fork::with_outcome_of) replace.
    pub outcomes: Vec<ForkOutcome>,
    /// The state of the new run before the first step that is executed: before step
    /// [`step`](Self::step) or, if all of its outcomes are kept or edited, after it.
    pub state: S,
}

/// A recorded outcome.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ForkOutcome {
    /// The name of the step, of a part of it, or of a call in it.
    pub step: String,
    /// The outcome. For a wait, this is the answer.
    pub outcome: Json,
}
