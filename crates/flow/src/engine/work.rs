//! The work of a recorded call, and its errors.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use cogwork_text::ErrorText;

use super::Json;
use crate::BoxError;

/// The work of a call, for [`Journal::call`](super::Journal::call): a future, to be awaited if no
/// outcome is recorded. It includes the retries around the node.
pub struct Work<'a>(
    pub(crate) Pin<&'a mut (dyn Future<Output = Result<Json, WorkError>> + Send + 'a)>,
);

impl Future for Work<'_> {
    type Output = Result<Json, WorkError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(context)
    }
}

/// The error of `exec`, or of another call: the error of the last attempt, and the number of attempts.
/// A [retry](crate::Node::retry) returns it. The run reports both, so only a
/// [fallback](crate::Node::fallback) around the retries sees it.
#[derive(thiserror::Error)]
#[error("{}", ErrorText(error))]
pub struct WorkError {
    /// The number of attempts, including the first.
    pub attempts: u32,
    /// The error of the last attempt.
    #[source]
    pub error: BoxError,
}

cogwork_text::debug_as_display!(WorkError);

impl WorkError {
    /// Nested retries each add a layer. The outermost count is kept: inner counts may differ between
    /// the outer attempts, and only the last would be known.
    pub(crate) fn new(error: impl Into<BoxError>) -> Self {
        match error.into().downcast::<Self>() {
            Ok(counted) => Self {
                attempts: counted.attempts,
                ..Self::new(counted.error)
            },
            Err(error) => Self { attempts: 1, error },
        }
    }
}

/// The error of a call without an outcome.
#[derive(thiserror::Error)]
pub enum StepError {
    /// The work failed, just now or on record. The run reports both in the same way.
    #[error("{}", ErrorText(_0))]
    Work(#[from] WorkError),
    /// The journal failed.
    #[error("{}", ErrorText(_0))]
    Journal(#[source] BoxError),
}

cogwork_text::debug_as_display!(StepError);

impl StepError {
    /// Creates an error of the journal.
    pub fn journal(error: impl Into<BoxError>) -> Self {
        Self::Journal(error.into())
    }
}

/// The error of a [`recorded`](crate::engine::recorded()) call.
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

/// The error of an answer that a journal or a step refuses, such as one that doesn't match the schema of
/// its wait, or that the step cannot read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RefusedAnswer(pub String);

/// The error of [`wait_for`](crate::engine::wait_for) where `exec` cannot wait for events.
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
