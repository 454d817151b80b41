use std::time::Duration;

/// A failed attempt at `exec`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedAttempt<E> {
    /// The error.
    pub error: E,
    /// The delay before the next attempt; `None` if there should be none.
    pub again_in: Option<Duration>,
}
