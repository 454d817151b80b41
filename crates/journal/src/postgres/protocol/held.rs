//! What is held, and what it is given back with.

/// A run on which this process has a lease, and the number of that lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) key: i64,
    /// The database gives every lease on a run a higher number than the one before. Only the holder
    /// of the highest one can write.
    pub(crate) fence: i64,
}

/// Whether a change was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    Yes,
    /// The rows aren't as this process left them, or the lease was taken by somebody else.
    Refused,
}

/// What a lease is given back with.
#[derive(Debug, Clone, Default)]
pub(crate) enum Verdict {
    /// The status on record counts.
    #[default]
    OnRecord,
    /// The run was interrupted, and is to continue elsewhere.
    Interrupted,
    /// The run failed without a record of it.
    Failed(String),
}

impl Verdict {
    pub(crate) fn is_interrupted(&self) -> bool {
        matches!(self, Self::Interrupted)
    }

    pub(crate) fn failure(&self) -> Option<&str> {
        match self {
            Self::OnRecord | Self::Interrupted => None,
            Self::Failed(error) => Some(error),
        }
    }
}
