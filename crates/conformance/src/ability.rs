use std::fmt;

/// Something that not every store or engine can do. The cases that need it are skipped for
/// subjects that [lack](crate::TestedEngine::lacks) it, and are listed as skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Ability {
    /// A run may be dropped at any `await`, and continues in the same process.
    DropAnywhere,
    /// A run that has ended can be executed again, and makes no calls.
    ReplayAfterEnd,
    /// A run whose flow has changed is refused.
    ChangedFlows,
    /// Answers after the end of a run are refused.
    LateAnswers,
    /// Outcomes have a maximum size.
    SizeLimit,
    /// A run can be cancelled from outside.
    Cancellation,
    /// The server behind the subject can fail and come back, in tests.
    Outages,
    /// Only one process at a time executes a run.
    TwoTakers,
    /// A process that lost a run without noticing can no longer write to it.
    Fences,
    /// A crash may leave the last write incomplete, which a test can imitate.
    TornWrites,
    /// A snapshot can replace the beginning of a record.
    Snapshots,
    /// A run is refused if it is resumed with a state that isn't the recorded one.
    StateCheck,
    /// A run can begin with a part of the record of another one.
    Forks,
}

impl fmt::Display for Ability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DropAnywhere => "runs that can be dropped anywhere",
            Self::ReplayAfterEnd => "replays after the end",
            Self::ChangedFlows => "a check for changed flows",
            Self::LateAnswers => "a check for answers after the end",
            Self::SizeLimit => "a maximum size of outcomes",
            Self::Cancellation => "cancellation from outside",
            Self::Outages => "outages in tests",
            Self::TwoTakers => "a lock on runs in use",
            Self::Fences => "fences",
            Self::TornWrites => "torn writes in tests",
            Self::Snapshots => "snapshots",
            Self::StateCheck => "a check of the state",
            Self::Forks => "forks of runs",
        })
    }
}
