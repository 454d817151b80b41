use std::fmt;

use cogwork_text::ErrorText;

use crate::BoxError;

/// The error of a [`recorded`](crate::journal::recorded()) call.
///
/// It converts into a [`BoxError`], so `?` can be used in an `exec` that returns one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallError<E> {
    /// The call failed just now.
    Failed(E),
    /// The call is recorded as failed, with this text of the error.
    Recorded(String),
}

impl<E: fmt::Display> fmt::Display for CallError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(error) => ErrorText(error).fmt(f),
            Self::Recorded(error) => ErrorText(error).fmt(f),
        }
    }
}

impl<E: Into<BoxError>> From<CallError<E>> for BoxError {
    fn from(error: CallError<E>) -> Self {
        match error {
            CallError::Failed(error) => error.into(),
            CallError::Recorded(error) => error.into(),
        }
    }
}

/// The error of [`wait_for`](crate::journal::wait_for) where `exec` cannot wait for events.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CannotWait {
    /// There is no run, or it has no journal.
    #[error(
        "a wait inside `exec` needs a journal; give the run one with `Run::with_journal`, and \
         don't wait in spawned tasks"
    )]
    NoJournal,
    /// The calls of the node aren't recorded.
    #[error(
        "a wait inside `exec` needs a composite node, and cannot be inside a recorded call; return \
         `true` from `Node::is_composite`"
    )]
    NotComposite,
}

cogwork_text::debug_as_display!(CannotWait);
