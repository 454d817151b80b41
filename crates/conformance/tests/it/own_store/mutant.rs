/// A mistake in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mutant {
    /// Writes each line together with the next one, so that a crash loses the last line.
    LosesTheLastLine,
    /// Returns the lines in a different order.
    ReturnsLinesOutOfOrder,
    /// Has no lock.
    LetsTwoTakersIn,
    /// Doesn't compare the fence of the writer.
    IgnoresTheFence,
    /// Accepts an answer and doesn't write it.
    ForgetsAnswers,
    /// Accepts answers of runs that have ended.
    AcceptsLateAnswers,
    /// Accepts answers for which nothing waits.
    AcceptsUnknownEvents,
    /// Accepts any number of unused answers.
    KeepsAllAnswers,
    /// Starts a run again if it exists.
    OverwritesRuns,
    /// Starts a run if a missing one is resumed.
    StartsMissingRuns,
    /// Doesn't compare flows.
    IgnoresChangedFlows,
    /// Doesn't record the flow that replaces the old one.
    ForgetsTheChange,
    /// Gives the new names of nodes to the steps of the old flow.
    RenamesOldSteps,
    /// Doesn't compare the names of flows.
    IgnoresTheNamesOfFlows,
    /// Doesn't compare inputs.
    IgnoresTheInput,
    /// Refuses all inputs, once a run has entries.
    RefusesTheSameInput,
    /// Doesn't write the digest of the first state.
    ForgetsTheFirstState,
    /// Reads numbers of the input as floats.
    RoundsTheInput,
    /// Refuses a record whose last line isn't complete.
    RefusesTornLines,
    /// Drops a complete line before one that isn't.
    DropsTheLineBeforeATornOne,
    /// Treats some ids as the same.
    MixesIds,
    /// Reports a removal and keeps the run.
    KeepsRemovedRuns,
    /// Removes all runs whose ids begin in the same way.
    RemovesSimilarRuns,
    /// Removes runs that don't exist.
    RemovesMissingRuns,
    /// Keeps a snapshot without the answers that follow it.
    LosesAnswersInSnapshots,
    /// Reports a line as written before it is.
    ReportsTooEarly,
    /// Doesn't write what is too large, and reports it as written.
    DropsLargeLines,
    /// Leaves a run behind if its input is too large.
    KeepsRunsThatDidNotStart,
    /// Doesn't keep when a wait times out.
    ForgetsLimits,
    /// Keeps the step at which a run is forked.
    ForksTooLate,
    /// Leaves a run behind if it cannot be forked at a step.
    KeepsForksThatDidNotStart,
    /// Lists all runs as open.
    ListsAllAsOpen,
    /// Doesn't list runs that are in use.
    HidesRunsInUse,
}
