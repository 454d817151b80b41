use std::time::Duration;

/// An attempt at `exec` that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedAttempt<E> {
    /// Its error.
    pub error: E,
    /// How long to wait before the next attempt; `None` where there is to be none.
    pub again_in: Option<Duration>,
}
