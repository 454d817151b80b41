use cogwork_journal::{StoreError, StoreErrorKind};
use cogwork_text::OneLine;

/// Why a run isn't started, answered, resumed, cancelled or forked.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum FlowError {
    /// No flow has this name.
    #[error("no flow with this name is offered here; expected one of those that are listed")]
    Unknown,
    /// No run has this id.
    #[error("there is no run with this id")]
    MissingRun,
    /// There is a run with this id, of a different flow or with a different input.
    #[error(
        "there is a run with this id, of a different flow or with a different input; choose a different id"
    )]
    Exists,
    /// The run has ended, so it cannot be resumed or cancelled.
    #[error("the run has ended; expected one that runs, waits or was interrupted")]
    Ended,
    /// The run has failed with this error, so it waits for no answer.
    #[error("the run has failed, and must be resumed before it is answered: {}", OneLine::new(.0))]
    HasFailed(String),
    /// The input of a run cannot be used.
    #[error("{}", OneLine::new(.0))]
    Refused(String),
    /// The store refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The flow could not be opened, or a run of it not be recorded.
    #[error("{}", OneLine::new(.0))]
    Failed(String),
}

cogwork_text::debug_as_display!(FlowError);

impl FlowError {
    /// Returns whether a run isn't started because it exists.
    pub(crate) fn is_about_a_known_run(&self) -> bool {
        // It is in use while it is executed.
        self.is_in_use() || self.is_of_store(StoreErrorKind::AlreadyThere)
    }

    /// Returns whether somebody else has the run open.
    pub(crate) fn is_in_use(&self) -> bool {
        self.is_of_store(StoreErrorKind::InUse)
    }

    fn is_of_store(&self, kind: StoreErrorKind) -> bool {
        matches!(self, Self::Store(error) if error.kind() == kind)
    }
}
