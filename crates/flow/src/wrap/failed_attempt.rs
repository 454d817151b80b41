use std::time::Duration;

/// A failed attempt at `exec`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedAttempt<E> {
    /// The error.
    pub error: E,
    /// The delay before the next attempt; `None` if `exec` should not be retried.
    pub again_in: Option<Duration>,
}
